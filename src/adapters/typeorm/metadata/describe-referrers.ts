import type { DataSource, EntityMetadata } from 'typeorm';
import type { ReferrerDescription } from '../../../core/schema/entity-metadata.js';
import { entityIdOf } from './entity-id.js';

/**
 * The entities whose foreign keys refer to the table, and what a deletion of a row does to theirs. None for a soft deletion,
 * which changes no other row. Junctions of plain many-to-many relations are left out: their rows are not objects.
 */
export function describeReferrers(
  target: EntityMetadata,
  dataSource: DataSource,
): readonly ReferrerDescription[] {
  if (target.deleteDateColumn) return [];
  return dataSource.entityMetadatas
    .filter(({ isJunction, isClosureJunction }) => !isJunction && !isClosureJunction)
    .flatMap((metadata) =>
      metadata.foreignKeys
        .filter(({ referencedEntityMetadata }) => referencedEntityMetadata.tablePath === target.tablePath)
        .map(({ onDelete }) => ({ entity: entityIdOf(metadata, dataSource), onDelete: effectOf(onDelete) })),
    );
}

function effectOf(
  action: EntityMetadata['foreignKeys'][number]['onDelete'],
): ReferrerDescription['onDelete'] {
  switch (action) {
    case 'CASCADE':
      return 'cascade';
    case 'SET NULL':
      return 'change';
    default:
      return 'restrict';
  }
}
