import type { DataSource } from 'typeorm';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { isReading, METHOD_OF } from '../../../core/schema/operation.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { Tables } from '../table-metadata.js';

interface EngineRow {
  readonly c0: string;
  readonly c1: string;
}

const WITHOUT_TRANSACTIONS =
  "SELECT LOWER(t.table_name) AS c0, t.engine AS c1 FROM information_schema.tables t JOIN information_schema.engines e ON e.engine = t.engine WHERE t.table_schema = DATABASE() AND e.transactions = 'NO'";

/** Warnings about tables that are written and whose engine of MariaDB or MySQL cannot undo it. None if the catalogue cannot be read. */
export async function engineWarnings(
  resources: readonly ResourceSchema[],
  { tables, dataSource }: { readonly tables: Tables; readonly dataSource: DataSource },
): Promise<readonly string[]> {
  if (dialectFamily(dataSource) !== 'mysql') return [];
  const rows = await dataSource.query<readonly EngineRow[]>(WITHOUT_TRANSACTIONS).catch(() => []);
  const engines = new Map(rows.map(({ c0, c1 }) => [c0, c1]));
  return resources.flatMap((resource) => {
    const { metadata } = tables.of(resource);
    const { database = dataSource.driver.database, tableName } = dataSource.driver.parseTableName(metadata);
    const engine = engines.get(tableName.toLowerCase());
    if (engine === undefined || database !== dataSource.driver.database) return [];
    if ([...resource.operations].every((operation) => isReading(METHOD_OF[operation]))) return [];
    return [
      `${metadata.targetName || metadata.name}: the table "${tableName}" has the engine ${engine}, which has no transactions: what a failed request has written there stays. ALTER TABLE ${tableName} ENGINE = InnoDB.`,
    ];
  });
}
