import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import { setRelation } from './entity-values.js';

/** Whether a column belongs to several relations of an entity. */
export function sharesColumns({ relations }: EntityMetadata): boolean {
  const ids = relations
    .filter((relation) => relation.isWithJoinColumn)
    .flatMap(({ joinColumns }) => joinColumns.map(({ databaseName }) => databaseName));
  return new Set(ids).size < ids.length;
}

/**
 * Saves without the relations whose columns another relation writes too. TypeORM writes a column once for each changed
 * relation that it belongs to, which PostgreSQL rejects.
 */
export async function withoutSharedColumns(
  entity: ObjectLiteral,
  { metadata, written }: { readonly metadata: EntityMetadata; readonly written: ReadonlySet<string> },
  save: () => Promise<unknown>,
): Promise<void> {
  const hidden = coveredRelations(metadata, written).map(
    (relation) => [relation, relation.getEntityValue(entity) as ObjectLiteral | null | undefined] as const,
  );
  for (const [relation] of hidden) setRelation(entity, relation, undefined);
  await save();
  for (const [relation, value] of hidden) setRelation(entity, relation, value);
}

function coveredRelations(
  { relations }: EntityMetadata,
  written: ReadonlySet<string>,
): readonly RelationMetadata[] {
  const covered = new Set<string>();
  return relations
    .filter(
      ({ isWithJoinColumn, joinColumns }) =>
        isWithJoinColumn && joinColumns.every(({ databaseName }) => written.has(databaseName)),
    )
    .sort((a, b) => b.joinColumns.length - a.joinColumns.length)
    .filter(({ joinColumns }) => {
      const ids = joinColumns.map(({ databaseName }) => databaseName);
      if (ids.every((id) => covered.has(id))) return true;
      for (const id of ids) covered.add(id);
      return false;
    });
}
