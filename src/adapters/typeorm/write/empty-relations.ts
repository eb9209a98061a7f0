import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import { setRelation } from './entity-values.js';

/**
 * Sets relations without a row to null. TypeORM loads their keys as an object without values, and would insert it as a
 * new row.
 */
export function emptyRelationsAreNull(
  entity: ObjectLiteral,
  metadata: EntityMetadata,
  paths: readonly string[],
): void {
  for (const relation of metadata.relations.filter((each) => paths.includes(each.propertyPath))) {
    const related = relation.getEntityValue(entity) as ObjectLiteral | null | undefined;
    const empty =
      typeof related === 'object' &&
      related !== null &&
      relation.joinColumns.every(
        (column) => (column.referencedColumn?.getEntityValue(related) ?? null) === null,
      );
    if (empty) setRelation(entity, relation, null);
  }
}

/** The relations of a loaded entity that are null. */
export function emptyRelations(entity: ObjectLiteral, metadata: EntityMetadata): readonly RelationMetadata[] {
  return metadata.relations.filter(
    (relation) => relation.isWithJoinColumn && relation.getEntityValue(entity) === null,
  );
}

/**
 * Saves without the relations that stay null. TypeORM takes such a null for a change, and would call listeners and
 * write.
 */
export async function withoutEmptyRelations(
  entity: ObjectLiteral,
  empty: readonly RelationMetadata[],
  save: () => Promise<unknown>,
): Promise<void> {
  const hidden = empty.filter((relation) => relation.getEntityValue(entity) === null);
  for (const relation of hidden) setRelation(entity, relation, undefined);
  await save();
  for (const relation of hidden)
    if (relation.getEntityValue(entity) === undefined) setRelation(entity, relation, null);
}
