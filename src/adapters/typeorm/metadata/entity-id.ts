import type { DataSource, EntityMetadata } from 'typeorm';

/** The adapter's name of an entity: readable, and unique in its data source. */
export function entityIdOf(metadata: EntityMetadata, dataSource: DataSource): string {
  return `${metadata.targetName || metadata.name}@${dataSource.entityMetadatas.indexOf(metadata)}`;
}
