import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { Relation, ToOneRelation } from '../core/schema/relation.js';
import type { ResourceBuilder } from './resource-builder.js';

/** The relation of each foreign key column; `several` for a column of several relations, or of a composite key. */
export type ForeignKeys = ReadonlyMap<string, ToOneRelation | 'several'>;

/**
 * The columns that refer to rows of served models, whether or not the relation is exposed. `junction`: the junction of an
 * entity on its table, which need not declare relations for its sides.
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
  // A column that refers only to models that are not served is an ordinary column.
  const served = new Set(
    [...declared, ...junction]
      .filter(({ target }) => target.registered)
      .flatMap(({ on }) => on.map(({ near }) => near.id)),
  );
  return new Map([...keys].filter(([id]) => served.has(id)));
}

/** Relations to served models that share a column with another relation, which changes them when it is written. */
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
