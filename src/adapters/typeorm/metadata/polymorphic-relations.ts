import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';

/**
 * Whether a relation has the same columns as others, all without a foreign key constraint, and each column is a property of its own: the
 * columns are then a key of several tables, which one of them, or another column, may choose from.
 */
export function isPolymorphic(relation: RelationMetadata): boolean {
  const { createForeignKeyConstraints, joinColumns, entityMetadata } = relation;
  if (createForeignKeyConstraints || joinColumns.length === 0) return false;
  const ids = joinColumns.map(({ databaseName }) => databaseName);
  const { columns, relations } = entityMetadata;
  const sharing = relations.filter(
    (each) =>
      each.isWithJoinColumn && each.joinColumns.some(({ databaseName }) => ids.includes(databaseName)),
  );
  const isAlike = sharing.every(
    (each) =>
      !each.createForeignKeyConstraints &&
      each.joinColumns.length === ids.length &&
      each.joinColumns.every(({ databaseName }) => ids.includes(databaseName)),
  );
  const isRelation = (path: string): boolean => relations.some(({ propertyPath }) => propertyPath === path);
  const isProperty = (id: string): boolean =>
    columns.some((each) => each.databaseName === id && !each.isVirtual && !isRelation(each.propertyPath));
  return sharing.length > 1 && isAlike && ids.every(isProperty);
}
