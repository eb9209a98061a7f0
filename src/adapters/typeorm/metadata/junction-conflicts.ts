import type { DataSource, EntityMetadata } from 'typeorm';
import type { JunctionConflict } from '../../../core/schema/entity-metadata.js';
import { knownDialectFamily } from '../dialect-family.js';

/**
 * What `synchronize` does to a junction's table on which the application maps an entity with columns of its own: TypeORM
 * changes the table to the one and then to the other, whenever it connects.
 */
export function junctionConflict(
  junction: EntityMetadata,
  mapped: readonly EntityMetadata[],
  dataSource: DataSource,
): JunctionConflict | undefined {
  if (dataSource.options.synchronize !== true || !junction.synchronize) return undefined;
  const kept = new Set(junction.columns.map(({ databaseName }) => databaseName));
  for (const { columns, targetName, name, synchronize, primaryColumns } of mapped) {
    const lost = columns.filter((column) => !kept.has(column.databaseName) && !column.isVirtualProperty);
    if (lost.length === 0) continue;
    const keys = new Set(primaryColumns.map(({ databaseName }) => databaseName));
    const otherKey =
      knownDialectFamily(dataSource) === 'postgres' && [...kept].some((column) => !keys.has(column));
    const counted = primaryColumns.some(
      ({ isGenerated, generationStrategy }) => isGenerated && generationStrategy !== 'uuid',
    );
    return {
      entity: targetName || name,
      lost: lost.map(({ databaseName }) => databaseName),
      fails: synchronize && (otherKey || counted),
    };
  }
  return undefined;
}
