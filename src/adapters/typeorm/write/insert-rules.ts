import { randomUUID } from 'node:crypto';
import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';

/** What TypeORM would write into an omitted column. */
export interface ColumnDefault {
  readonly columnId: string;
  /** The quoted name of the column. */
  readonly name: string;
  readonly sql: string;
}

/** How new rows of an entity are written without TypeORM. */
export interface InsertRules {
  readonly defaults: readonly ColumnDefault[];
  /** Whether TypeORM would write these values, which are not part of the body, unchanged. */
  acceptsValues(values: readonly ColumnValue[]): boolean;
  /** The values that are generated in the process, for the columns without a value. */
  generate(given: readonly ColumnValue[]): readonly ColumnValue[];
}

export interface RulesContext {
  readonly dataSource: DataSource;
  readonly dialect: Dialect;
  /** The ids of the columns that TypeORM and `encode` write identically. */
  readonly alike: ReadonlySet<string>;
}

/** Undefined if TypeORM has to write new rows. */
export function insertRules(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  context: RulesContext,
): InsertRules | undefined {
  if (metadata.beforeInsertListeners.length + metadata.afterInsertListeners.length > 0) return undefined;
  if (metadata.columns.some(isReadBack)) return undefined;
  const omitted = omittedColumns(resource, metadata, context);
  if (!omitted) return undefined;
  const { defaults, generated } = omitted;
  return {
    defaults,
    acceptsValues: (values) =>
      values.every(
        ({ column }) =>
          context.alike.has(column.id) && metadata.findColumnWithDatabaseName(column.id)?.isInsert === true,
      ),
    generate: (given) =>
      generated
        .filter((column) => !given.some((each) => each.column.id === column.id))
        .map((column) => ({ column, value: randomUUID() })),
  };
}

/** Whether the database generates the value of a column that is not the key. */
function isReadBack({ isGenerated, isPrimary, generationStrategy }: ColumnMetadata): boolean {
  return isGenerated && !isPrimary && generationStrategy !== 'uuid';
}

interface OmittedColumns {
  readonly defaults: readonly ColumnDefault[];
  readonly generated: readonly ColumnValue['column'][];
}

/**
 * The defaults and generated columns of an INSERT without a value for them. PostgreSQL fills them itself, except for
 * the version; on SQLite TypeORM writes the entity's defaults, and NULL. Undefined if a default has no SQL.
 */
function omittedColumns(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  { dataSource, dialect }: RulesContext,
): OmittedColumns | undefined {
  const inserted = metadata.columns.filter((column) => column.isInsert);
  const columns = dialect.oneConnection ? inserted : inserted.filter((column) => column.isVersion);
  const made = columns.filter((column) => column.isGenerated && column.generationStrategy === 'uuid');
  const generated = made.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []);
  const defaults = columns
    .filter((column) => !made.includes(column))
    .map((column) => ({
      columnId: column.databaseName,
      name: dataSource.driver.escape(column.databaseName),
      sql: defaultSql(column, dataSource),
    }));
  const known = defaults.filter((each): each is ColumnDefault => each.sql !== undefined);
  return known.length === defaults.length && generated.length === made.length
    ? { defaults: known, generated }
    : undefined;
}

function defaultSql(column: ColumnMetadata, { driver }: DataSource): string | undefined {
  if (column.isVersion) return '1';
  return column.default === undefined || column.default === null ? 'NULL' : driver.normalizeDefault(column);
}
