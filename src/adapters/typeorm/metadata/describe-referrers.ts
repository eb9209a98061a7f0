import type { DataSource, EntityMetadata } from 'typeorm';
import type { ReferrerDescription } from '../../../core/schema/entity-metadata.js';
import { entityIdOf } from './entity-id.js';

type ForeignKey = EntityMetadata['foreignKeys'][number];

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

/** The columns to which foreign keys refer that restrict their changes. */
export function referredColumns(
  { tablePath }: EntityMetadata,
  { entityMetadatas }: DataSource,
): readonly string[] {
  return entityMetadatas
    .flatMap(({ foreignKeys }) => foreignKeys)
    .filter((key) => key.referencedEntityMetadata.tablePath === tablePath && restricts(key, 'update'))
    .flatMap((key) => key.referencedColumns.map(({ databaseName }) => databaseName));
}

/** Whether a foreign key restricts a deletion, or a change of the columns to which it refers. */
export function restricts({ onDelete, onUpdate }: ForeignKey, change: 'delete' | 'update'): boolean {
  const action = change === 'delete' ? onDelete : onUpdate;
  return action === undefined || action === 'RESTRICT' || action === 'NO ACTION';
}

function effectOf(action: ForeignKey['onDelete']): ReferrerDescription['onDelete'] {
  switch (action) {
    case 'CASCADE':
      return 'cascade';
    case 'SET NULL':
      return 'change';
    default:
      return 'restrict';
  }
}
