import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { Relation, ToOneRelation } from '../core/schema/relation.js';
import type { PolymorphicColumn } from './polymorphic-columns.js';
import type { ResourceBuilder } from './resource-builder.js';

/**
 * The relation of each foreign key column; a list of those to served models for a column that is written in their place; `several`
 * for another column of several relations, or of a composite key.
 */
export type ForeignKeys = ReadonlyMap<string, KeyReference>;

export type KeyReference = ToOneRelation | PolymorphicRelations | 'several';

interface PolymorphicRelations {
  readonly kind: 'polymorphic';
  readonly relations: readonly ToOneRelation[];
}

interface KeySources {
  /** The junction of an entity on its table, which need not declare relations for its sides. */
  readonly junction: readonly ToOneRelation[];
  readonly polymorphic: readonly PolymorphicColumn[];
}

/**
 * The columns that refer to rows of served models, whether or not the relation is exposed.
 */
export function foreignKeysOf(
  { relations }: Pick<EntityDescription, 'relations'>,
  resource: ResourceBuilder,
  { junction, polymorphic }: KeySources,
): ForeignKeys {
  const declared = relations.flatMap(({ path }) => toOne(resource.relations.get(path)));
  const known = new Set(declared.flatMap(({ on }) => on.map(({ near }) => near.id)));
  const keys = new Map<string, KeyReference>();
  for (const relation of [
    ...declared,
    ...junction.filter(({ on }) => on.every(({ near }) => !known.has(near.id))),
  ]) {
    for (const { near } of relation.on)
      keys.set(near.id, keys.has(near.id) || relation.on.length > 1 ? 'several' : relation);
  }
  for (const { column, relations: alike } of polymorphic)
    keys.set(column.id, {
      kind: 'polymorphic',
      relations: alike
        .flatMap(({ path }) => toOne(resource.relations.get(path)))
        .filter(({ target }) => target.registered),
    });
  // A column that refers only to models that are not served is an ordinary column.
  const served = new Set(
    [...declared, ...junction]
      .filter(({ target }) => target.registered)
      .flatMap(({ on }) => on.map(({ near }) => near.id)),
  );
  return new Map([...keys].filter(([id]) => served.has(id)));
}

/** Relations to served models that share a column with another relation, which changes them when it is written. */
export function overlappingRelations(
  relations: ReadonlyMap<string, Relation>,
  polymorphic: readonly PolymorphicColumn[],
): readonly ToOneRelation[] {
  const readOnly = new Set(polymorphic.flatMap((each) => each.relations.map(({ path }) => path)));
  const found = [...relations].flatMap(([path, relation]) => (readOnly.has(path) ? [] : toOne(relation)));
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
