import type { EntityMetadata } from 'typeorm';
import { entityIdOf } from '../metadata/entity-id.js';
import type { DeletePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import { Scope } from '../../../sql/query-scope.js';
import type { WriterTools } from './row-writer.js';

type ForeignKey = EntityMetadata['foreignKeys'][number];

/**
 * The model that still refers to a row whose deletion the database has rejected, as `<app>.<model>`, or the table's
 * entity if it is not served. Queried after the rejection, for every restricting foreign key to this table. A model
 * that the caller may not view is never named.
 */
export async function findReferrer(
  plan: DeletePlan,
  refusal: Extract<DatabaseError, { kind: 'foreign-key' }>,
  tools: WriterTools,
): Promise<string | undefined> {
  const { metadata: target, dataSource } = tools.tables.of(plan.resource);
  const restricting = await restrictingTables(target, refusal, tools);
  for (const metadata of dataSource.entityMetadatas) {
    for (const key of metadata.foreignKeys) {
      // Compared by table: TypeORM keeps the foreign keys to and of a child entity with its base entity.
      if (key.referencedEntityMetadata.tablePath !== target.tablePath) continue;
      if (!restrictsDelete(key) && !restricting.has(metadata.tableName)) continue;
      if (!(await hasReferrer(plan, { metadata, key }, tools))) continue;
      const served = servedAs(metadata, tools);
      if (!served) return metadata.targetName === '' ? undefined : metadata.targetName;
      if (await plan.mayView(served)) return served.id;
    }
  }
  return undefined;
}

/** Whether another row refers to the row. */
async function hasReferrer(
  { resource, where }: DeletePlan,
  { metadata, key }: { metadata: EntityMetadata; key: ForeignKey },
  tools: WriterTools,
): Promise<boolean> {
  const scope = Scope.begin(tools.dialect, tools.tables, resource);
  const { dataSource } = tools.tables.of(resource);
  const quote = (name: string): string => dataSource.driver.escape(name);
  const referring = tools.tables.named(entityIdOf(metadata, dataSource));
  const conditions = key.columns.map(
    (column, index) =>
      `r.${quote(column.databaseName)} = ${scope.alias}.${quote(key.referencedColumns[index]?.databaseName ?? '')}`,
  );
  if (referring.path === scope.table.path) {
    const own = resource.identity.map((each) => scope.table.name(each));
    conditions.push(`(${own.map((name) => `r.${name} <> ${scope.alias}.${name}`).join(' OR ')})`);
  }
  const condition = compileWhere(where, scope);
  const sql = `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition} AND EXISTS (SELECT 1 FROM ${referring.path} r WHERE ${conditions.join(' AND ')})`;
  const found = await tools.connections.read({ sql, parameters: scope.parameters }, 'primary');
  return found.length > 0;
}

/** The tables whose foreign keys restrict the deletion, as far as the database says so: TypeORM may not have made them. */
async function restrictingTables(
  { tableName }: EntityMetadata,
  { table }: Extract<DatabaseError, { kind: 'foreign-key' }>,
  { dialect, connections }: WriterTools,
): Promise<ReadonlySet<unknown>> {
  if (table !== undefined || !dialect.restrictingTables) return new Set([table]);
  const records = await connections.read(dialect.restrictingTables(tableName), 'primary');
  return new Set(records.map(([name]) => name));
}

function restrictsDelete({ onDelete }: ForeignKey): boolean {
  return onDelete === undefined || onDelete === 'RESTRICT' || onDelete === 'NO ACTION';
}

/** The entity's own resource, or that of another entity in the same table; of a join table without an entity, its pairs. */
function servedAs(metadata: EntityMetadata, { resources, tables }: WriterTools): ResourceSchema | undefined {
  const onTable = [...resources].filter((each) => tables.of(each).metadata.tablePath === metadata.tablePath);
  const served = onTable.filter(({ registered }) => registered);
  return (
    served.find((each) => tables.of(each).metadata === metadata) ??
    served[0] ??
    onTable.find((each) => tables.of(each).metadata.isJunction)
  );
}
