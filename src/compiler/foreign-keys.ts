import type {
  EntityDescription,
  ColumnDescription,
  ToOneDescription,
} from '../core/schema/entity-metadata.js';
import type { ColumnField, InnerField, ToOneField } from '../core/schema/field.js';
import type { Relation, ToOneRelation } from '../core/schema/relation.js';
import type { RestifyOptions } from '../decorators/model-options.js';
import { exposedMember } from './exposed-properties.js';
import type { ResourceBuilder } from './resource-builder.js';

/** A column that bodies write in the place of several relations. */
interface PolymorphicColumn {
  readonly column: ColumnDescription;
  readonly relations: readonly ToOneDescription[];
}

/** The columns of an entity that are keys of several tables (contract 5.13), unless bodies write no column of the key. */
export function polymorphicColumns(
  entity: EntityDescription,
  options: RestifyOptions,
): readonly PolymorphicColumn[] {
  const found = entity.relations.flatMap((each) => (each.kind === 'to-one' && each.polymorphic ? each : []));
  if (found.length === 0 || !entity.writable) return [];
  const exposedIn = { entity, options, isServed: () => true };
  const isWritten = (column: ColumnDescription): boolean =>
    (column.insertable || column.updatable) &&
    // A transformed value is not a key.
    !column.transformer &&
    !column.generated &&
    exposedMember(column, exposedIn).writable;
  const written = new Set(entity.columns.filter(isWritten).map(({ id }) => id));
  return entity.columns.flatMap((column) => {
    const relations = found.filter(
      ({ on }) =>
        on.some(({ localColumn }) => localColumn === column.id) &&
        on.some(({ localColumn }) => written.has(localColumn)),
    );
    return relations.length > 0 ? [{ column, relations }] : [];
  });
}

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
  const known = new Set(declared.flatMap(({ on }) => on.map(({ localColumn }) => localColumn.id)));
  const keys = new Map<string, KeyReference>();
  for (const relation of [
    ...declared,
    ...junction.filter(({ on }) => on.every(({ localColumn }) => !known.has(localColumn.id))),
  ]) {
    for (const { localColumn } of relation.on)
      keys.set(localColumn.id, keys.has(localColumn.id) || relation.on.length > 1 ? 'several' : relation);
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
      .flatMap(({ on }) => on.map(({ localColumn }) => localColumn.id)),
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
  const users = new Map<string, number>();
  for (const { on } of found)
    for (const id of new Set(on.map(({ localColumn }) => localColumn.id)))
      users.set(id, (users.get(id) ?? 0) + 1);
  return found.filter(
    ({ target, on }) =>
      target.registered && on.some(({ localColumn }) => (users.get(localColumn.id) ?? 0) > 1),
  );
}

function toOne(relation: Relation | undefined): readonly ToOneRelation[] {
  return relation?.kind === 'to-one' ? [relation] : [];
}

interface AliasSource {
  readonly entity: EntityDescription;
  readonly foreignKeys: ForeignKeys;
  /** Whether bodies may contain a column. */
  readonly isOpen: (column: ColumnDescription) => boolean;
}

interface Pair {
  readonly field: ColumnField;
  readonly column: ColumnDescription;
  readonly relation: ToOneField;
}

/**
 * Lets bodies write relations by the plain columns of their foreign keys (contract 5.13). `fields` are those of one object,
 * because a column in another object has another path in a body. Excludes columns of a composite key and of several
 * relations, which do not identify a row alone.
 */
export function withForeignKeyAliases(
  fields: readonly InnerField[],
  source: AliasSource,
): readonly InnerField[] {
  const found = fields.flatMap((field) => pairOf(field, fields, source));
  if (found.length === 0) return fields;
  return fields.map((field) => {
    const pair = found.find((each) => each.field === field || each.relation === field);
    if (!pair) return field;
    return field.kind === 'to-one' ? { ...field, foreignKeyAlias: pair.field.name } : aliasField(pair);
  });
}

function pairOf(
  field: InnerField,
  fields: readonly InnerField[],
  { entity, foreignKeys, isOpen }: AliasSource,
): readonly Pair[] {
  if (field.kind !== 'column') return [];
  const refers = foreignKeys.get(field.column.id);
  if (refers === undefined) return [];
  const relation = fields.find(
    // A property may be both the column and the relation.
    (each): each is ToOneField =>
      each.kind === 'to-one' && each.relation === refers && each.name !== field.name,
  );
  const column = entity.columns.find(({ id }) => id === field.column.id);
  // A transformed value is not a key.
  const isWritable = column && !column.generated && !column.transformer && isOpen(column);
  return isWritable && relation ? [{ field, column, relation }] : [];
}

function aliasField({ field, column, relation }: Pair): ColumnField {
  return {
    ...field,
    nullable: relation.nullable,
    refers: relation.relation,
    aliasOf: {
      relation: relation.name,
      insertable: relation.insertable && column.insertable,
      updatable: relation.updatable && column.updatable,
    },
  };
}
