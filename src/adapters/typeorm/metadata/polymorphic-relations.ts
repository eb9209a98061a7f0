import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';

/**
 * Whether a relation has the same column as others, all without a foreign key constraint, and a property has the column alone: the
 * column is then a key of several tables, which another column may choose from.
 */
export function isPolymorphic(relation: RelationMetadata): boolean {
  const { createForeignKeyConstraints, joinColumns, entityMetadata } = relation;
  const [join] = joinColumns;
  if (createForeignKeyConstraints || !join) return false;
  const { databaseName: id } = join;
  const { columns, relations } = entityMetadata;
  const sharing = relations.filter(
    (each) => each.isWithJoinColumn && each.joinColumns.some(({ databaseName }) => databaseName === id),
  );
  const isAlike = sharing.every((each) => !each.createForeignKeyConstraints && each.joinColumns.length === 1);
  const isRelation = (path: string): boolean => relations.some(({ propertyPath }) => propertyPath === path);
  return (
    sharing.length > 1 &&
    isAlike &&
    columns.some((each) => each.databaseName === id && !each.isVirtual && !isRelation(each.propertyPath))
  );
}
