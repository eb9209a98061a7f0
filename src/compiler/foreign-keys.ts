import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { Relation, ToOneRelation } from '../core/schema/relation.js';
import type { ResourceBuilder } from './resource-builder.js';

/** What an entity's columns refer to, by column: several relations, or one of several columns, is `several`. */
export type ForeignKeys = ReadonlyMap<string, ToOneRelation | 'several'>;

/**
 * Of the columns that refer to rows of served models, whether the relation is shown or not. `junction`: of an entity on a
 * junction's table, which need not declare relations for its sides.
 */
export function foreignKeysOf(
  { relations }: Pick<EntityDescription, 'relations'>,
  resource: ResourceBuilder,
  junction: readonly ToOneRelation[],
): ForeignKeys {
  const declared = relations.flatMap(({ path }) => toOne(resource.relations.get(path)));
  const known = new Set(declared.flatMap(({ on }) => on.map(({ near }) => near.id)));
  const keys = new Map<string, ToOneRelation | 'several'>();
  for (const relation of [
    ...declared,
    ...junction.filter(({ on }) => on.every(({ near }) => !known.has(near.id))),
  ]) {
    for (const { near } of relation.on)
      keys.set(near.id, keys.has(near.id) || relation.on.length > 1 ? 'several' : relation);
  }
  // What refers to models that are not served alone is a column like any other.
  const served = new Set(
    [...declared, ...junction]
      .filter(({ target }) => target.registered)
      .flatMap(({ on }) => on.map(({ near }) => near.id)),
  );
  return new Map([...keys].filter(([id]) => served.has(id)));
}

/** Relations to served models of which a column belongs to another relation too, which moves them when it is written. */
export function overlappingRelations(relations: Iterable<Relation>): readonly ToOneRelation[] {
  const found = [...relations].flatMap(toOne);
  return found.filter(
    (relation) =>
      relation.target.registered &&
      found.some(
        (other) =>
          other !== relation &&
          other.on.some(({ near }) => relation.on.some((pair) => pair.near.id === near.id)),
      ),
  );
}

function toOne(relation: Relation | undefined): readonly ToOneRelation[] {
  return relation?.kind === 'to-one' ? [relation] : [];
}
