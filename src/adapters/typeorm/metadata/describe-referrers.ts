import type { DataSource, EntityMetadata } from 'typeorm';
import type { ReferrerDescription } from '../../../core/schema/entity-metadata.js';
import { entityIdOf } from './entity-id.js';

type ForeignKey = EntityMetadata['foreignKeys'][number];

/** The foreign keys of a data source by the path of the table to which they refer, so that no entity is compared with all others. */
export class ForeignKeysByTable {
  private readonly keys = new Map<string, ForeignKey[]>();

  constructor(private readonly dataSource: DataSource) {
    for (const { foreignKeys } of dataSource.entityMetadatas) {
      for (const key of foreignKeys) {
        const { tablePath } = key.referencedEntityMetadata;
        const others = this.keys.get(tablePath);
        if (others) others.push(key);
        else this.keys.set(tablePath, [key]);
      }
    }
  }

  /**
   * The entities whose foreign keys refer to the table, and what a deletion of a row does to theirs. None for a soft deletion,
   * which changes no other row. Junctions of plain many-to-many relations are left out: their rows are not objects.
   */
  referrersOf(target: EntityMetadata): readonly ReferrerDescription[] {
    if (target.deleteDateColumn) return [];
    return this.referringTo(target)
      .filter(({ entityMetadata }) => !entityMetadata.isJunction && !entityMetadata.isClosureJunction)
      .map(({ entityMetadata, onDelete }) => ({
        entity: entityIdOf(entityMetadata, this.dataSource),
        onDelete: effectOf(onDelete),
      }));
  }

  /** The columns to which foreign keys refer that restrict their changes. */
  referredColumnsOf(target: EntityMetadata): readonly string[] {
    return this.referringTo(target)
      .filter((key) => restricts(key, 'update'))
      .flatMap((key) => key.referencedColumns.map(({ databaseName }) => databaseName));
  }

  private referringTo({ tablePath }: EntityMetadata): readonly ForeignKey[] {
    return this.keys.get(tablePath) ?? [];
  }
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
