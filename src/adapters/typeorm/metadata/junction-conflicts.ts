import type { DataSource, EntityMetadata } from 'typeorm';
import type { JunctionConflict } from '../../../core/schema/entity-metadata.js';
import { dialectFamily } from '../data-source-dialect.js';

/**
 * The effect of `synchronize` on a junction table to which the application maps an entity with more columns: TypeORM alters
 * the table to match the one and then the other, each time it connects.
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
      dialectFamily(dataSource) === 'postgres' && [...kept].some((column) => !keys.has(column));
    const hasSequence = primaryColumns.some(
      ({ isGenerated, generationStrategy }) => isGenerated && generationStrategy !== 'uuid',
    );
    return {
      entity: targetName || name,
      lost: lost.map(({ databaseName }) => databaseName),
      fails: synchronize && (otherKey || hasSequence),
    };
  }
  return undefined;
}
