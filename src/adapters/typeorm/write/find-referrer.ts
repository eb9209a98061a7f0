import type { EntityMetadata } from 'typeorm';
import { entityIdOf } from '../metadata/entity-id.js';
import type { DeletePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { Scope } from '../../../sql/query-scope.js';
import type { WriterTools } from './row-writer.js';

/**
 * The model that still refers to a row whose deletion the database has rejected, as `<app>.<model>`, or the table's
 * entity if it is not served. Queried after the rejection, for every restricting foreign key to this table. A model
 * that the caller may not view is never named.
 */
export async function findReferrer(
  { resource, where, mayView }: DeletePlan,
  tools: WriterTools,
): Promise<string | undefined> {
  const { metadata: target, dataSource } = tools.tables.of(resource);
  for (const metadata of dataSource.entityMetadatas) {
    for (const key of metadata.foreignKeys) {
      // Compared by table: TypeORM keeps the foreign keys to and of a child entity with its base entity.
      if (key.referencedEntityMetadata.tablePath !== target.tablePath || !restrictsDelete(key)) continue;
      const scope = Scope.begin(tools.dialect, tools.tables, resource);
      const quote = (name: string): string => dataSource.driver.escape(name);
      const referring = tools.tables.named(entityIdOf(metadata, dataSource));
      const pairs = key.columns.map(
        (column, index) =>
          `r.${quote(column.databaseName)} = ${scope.alias}.${quote(key.referencedColumns[index]?.databaseName ?? '')}`,
      );
      const condition = compileWhere(where, scope);
      const sql = `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition} AND EXISTS (SELECT 1 FROM ${referring.path} r WHERE ${pairs.join(' AND ')})`;
      const found = await tools.connections.read({ sql, parameters: scope.parameters }, 'primary');
      const served = found.length > 0 ? servedAs(metadata, tools) : undefined;
      if (found.length > 0 && (!served || (await mayView(served)))) return served?.id ?? metadata.targetName;
    }
  }
  return undefined;
}

function restrictsDelete({ onDelete }: EntityMetadata['foreignKeys'][number]): boolean {
  return onDelete === undefined || onDelete === 'RESTRICT' || onDelete === 'NO ACTION';
}

/** The entity's own resource, or that of another entity in the same table. */
function servedAs(metadata: EntityMetadata, { resources, tables }: WriterTools): ResourceSchema | undefined {
  const served = [...resources].filter(({ registered }) => registered);
  return (
    served.find((each) => tables.of(each).metadata === metadata) ??
    served.find((each) => tables.of(each).metadata.tablePath === metadata.tablePath)
  );
}
