import type { EntitySpec, ManySpec, OptionsSpec, ToOneSpec } from '../schema.js';
import { toOnesOf } from '../schema.js';
import { isOwningSide, keyJson } from './state.js';
import type { Row, State } from './state.js';

/** The resource of a URL: fields, options and rows. */
export interface Resource {
  readonly entity: EntitySpec;
  readonly options: OptionsSpec;
  /** Present for nested URLs of a many-to-many relation. */
  readonly through?: ThroughSide;
  /** The deleted rows that it shows, beside the others or alone (contract 23.3). */
  readonly deleted?: DeletedRows;
  rows(): Row[];
  /** The same with deleted rows; only of a model with a trash. */
  readonly inTrash?: (deleted: DeletedRows) => Resource;
}

export type DeletedRows = 'only' | 'with';

/** A many-to-many relation from the side of the parent in the URL. */
export interface ThroughSide {
  readonly relation: ManySpec;
  readonly parentKey: string;
  readonly ownsIt: boolean;
  /** The fields of the parent and of the other side. */
  readonly parentField: string;
  readonly otherField: string;
  /** Whether the junction is an entity. */
  readonly isMapped: boolean;
}

export function collectionOf(state: State, entity: EntitySpec, deleted?: DeletedRows): Resource {
  return {
    entity,
    options: entity.options,
    ...(deleted === undefined ? {} : { deleted }),
    rows: () => selectRows(state, entity, deleted),
    ...(entity.options.trash ? { inTrash: (rows) => collectionOf(state, entity, rows) } : {}),
  };
}

function selectRows(state: State, { name }: EntitySpec, deleted: DeletedRows | undefined): Row[] {
  if (deleted === undefined) return state.rows(name);
  return state.allRows(name).filter((row) => deleted === 'with' || state.isDeleted(name, row));
}

/** The children of a one-to-many relation. */
export function childrenOf(
  state: State,
  child: EntitySpec,
  parent: { readonly forward: string; readonly key: string },
): Resource {
  const below = (resource: Resource): Resource => {
    const { inTrash } = resource;
    return {
      ...resource,
      rows: () => resource.rows().filter((row) => row.values[parent.forward] === parent.key),
      ...(inTrash ? { inTrash: (rows) => below(inTrash(rows)) } : {}),
    };
  };
  return below(collectionOf(state, child));
}

/** The options of a junction: its own if it is registered, else those of both sides combined. */
function optionsOfThrough(state: State, relation: ManySpec, entity: EntitySpec | undefined): OptionsSpec {
  if (entity?.registered) return entity.options;
  const owner = state.entity(relation.owner);
  const owning = owner.relations.find((each) => each.name === relation.ownerRelation);
  const inverse = owning?.kind === 'many-to-many' ? owning.inverse : undefined;
  const other = owning ? state.entity(owning.target) : undefined;
  return {
    ...owner.through[relation.ownerRelation],
    ...(inverse === undefined || !other ? {} : other.through[inverse]),
  };
}

export function throughOf(
  state: State,
  relation: ManySpec,
  { entity: parent, key: parentKey }: { readonly entity: EntitySpec; readonly key: string },
): Resource {
  const ownsIt = isOwningSide(relation, parent.name);
  if (relation.through) {
    const entity = state.entity(relation.through.entity);
    const [parentField, otherField] = ownsIt
      ? [relation.through.near, relation.through.far]
      : [relation.through.far, relation.through.near];
    return {
      entity,
      options: optionsOfThrough(state, relation, entity),
      through: { relation, parentKey, ownsIt, parentField, otherField, isMapped: true },
      rows: () => state.rows(entity.name).filter((row) => row.values[parentField] === parentKey),
    };
  }
  const { entity, parentField, otherField } = pairEntity(state, parent, relation);
  const other = state.entity(relation.target);
  const isThere = (name: string, key: string): boolean => state.row(name, key) !== undefined;
  return {
    entity,
    options: optionsOfThrough(state, relation, undefined),
    through: { relation, parentKey, ownsIt, parentField, otherField, isMapped: false },
    rows: () =>
      state
        .pairs(relation)
        .filter((pair) => (ownsIt ? pair.owner : pair.other) === parentKey)
        .map((pair) => (ownsIt ? pair.other : pair.owner))
        // A deleted object is in no pair (contract 23.1), also as the parent of an expansion (contract 23.3).
        .filter((key) => isThere(parent.name, parentKey) && isThere(relation.target, key))
        .map((key) => ({
          key,
          values: { id: keyJson(other, key), [parentField]: parentKey, [otherField]: key },
        })),
  };
}

/** The pair of a plain junction as an entity: its `id` is the key of the other side (contract 2). */
function pairEntity(
  state: State,
  parent: EntitySpec,
  relation: ManySpec,
): { entity: EntitySpec; parentField: string; otherField: string } {
  const other = state.entity(relation.target);
  const [parentField, otherField] = pairFields(parent, other);
  const side = (name: string, target: string): ToOneSpec => ({
    kind: 'to-one',
    name,
    target,
    nullable: false,
    unique: false,
    onDelete: 'CASCADE',
  });
  const sides = [side(parentField, parent.name), side(otherField, other.name)];
  const isSelf = parent.name === other.name;
  const [keyColumn] = other.key.columns;
  const single = other.key.columns.length === 1;
  const owner = state.entity(relation.owner);
  return {
    entity: {
      name: `${relation.owner}.${relation.ownerRelation}`,
      app: owner.app,
      model: `${owner.model}_${relation.ownerRelation}`.toLowerCase(),
      registered: false,
      key: {
        generated: true,
        columns: [
          {
            ...(keyColumn ?? { kind: 'int' }),
            name: 'id',
            kind: single && keyColumn ? keyColumn.kind : 'varchar',
          },
        ],
      },
      columns: [],
      relations: isSelf || isOwningSide(relation, parent.name) ? sides : sides.toReversed(),
      uniques: [],
      options: {},
      through: {},
    },
    parentField,
    otherField,
  };
}

function pairFields(parent: EntitySpec, other: EntitySpec): [string, string] {
  if (parent.name === other.name) return [`from_${parent.model}`, `to_${parent.model}`];
  if (parent.model === other.model) return [`${parent.app}_${parent.model}`, `${other.app}_${other.model}`];
  return [parent.model, other.model];
}

export function toOneNamed(entity: EntitySpec, name: string): ToOneSpec | undefined {
  return toOnesOf(entity).find((relation) => relation.name === name);
}
