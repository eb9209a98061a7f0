import type { EntityMetadata } from 'typeorm';
import { entityIdOf } from '../metadata/entity-id.js';
import type { DeletePlan } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { Scope } from '../../../sql/query-scope.js';
import type { WriterTools } from './row-writer.js';

/**
 * The model that still refers to a row whose deletion the database refused, as `<app>.<model>`, or its table's entity
 * where it is not served. Asked after the refusal, of every foreign key that leads here and restricts. None that the
 * caller may not view is named.
 */
export async function findReferrer(
  { resource, where, mayView }: DeletePlan,
  tools: WriterTools,
): Promise<string | undefined> {
  const { metadata: target, dataSource } = tools.tables.of(resource);
  for (const metadata of dataSource.entityMetadatas) {
    for (const key of metadata.foreignKeys) {
      const restricts =
        key.onDelete === undefined || key.onDelete === 'RESTRICT' || key.onDelete === 'NO ACTION';
      // By table: TypeORM keeps the keys that lead to a child entity, and those of its own, with the base.
      if (key.referencedEntityMetadata.tablePath !== target.tablePath || !restricts) continue;
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

/** The entity's own resource, else one of another entity in its table. */
function servedAs(metadata: EntityMetadata, { resources, tables }: WriterTools): Resource | undefined {
  const served = [...resources].filter(({ registered }) => registered);
  return (
    served.find((each) => tables.of(each).metadata === metadata) ??
    served.find((each) => tables.of(each).metadata.tablePath === metadata.tablePath)
  );
}
