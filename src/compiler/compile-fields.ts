import type { RestifyOptions } from '../decorators/model-options.js';
import { outwardType } from '../core/schema/column.js';
import type { Column } from '../core/schema/column.js';
import type {
  ColumnDescription,
  EntityDescription,
  RelationDescription,
} from '../core/schema/entity-metadata.js';
import type {
  ColumnField,
  ComputedField,
  EmbeddedField,
  Field,
  InnerField,
  ToOneField,
} from '../core/schema/field.js';
import type { ToOneRelation } from '../core/schema/relation.js';
import type { DataType } from '../core/schema/data-type.js';
import { exposedMember } from './exposed-properties.js';
import type { Exposed, ExposedIn } from './exposed-properties.js';
import type { ForeignKeys, KeyReference } from './foreign-keys.js';
import { labelOf, declaredColumns, topName } from './property-names.js';
import type { ResourceBuilder } from './resource-builder.js';
import { withForeignKeyAliases } from './foreign-keys.js';

interface EntitySource {
  readonly entity: EntityDescription;
  readonly options: RestifyOptions;
  readonly resource: ResourceBuilder;
  readonly foreignKeys: ForeignKeys;
}

interface FieldSource extends EntitySource {
  /** The exposure of a member, which is found once for each. */
  readonly exposureOf: (member: ColumnDescription | RelationDescription) => Exposed;
}

/** The fields of an entity in the order of bodies: key, columns, relations, computed (contract 2.2). */
export function compileFields(given: EntitySource): readonly Field[] {
  const source = { ...given, exposureOf: exposures(given) };
  const columns = declaredColumns(source.entity).filter(
    (column) => source.exposureOf(column).hasField && column.unsupported === undefined,
  );
  const keys = columns.filter((column) => column.primary);
  const others = columns.filter((column) => !column.primary);
  const relations = source.entity.relations.filter((relation) => isShownRelation(relation, source));
  return [
    ...compileMembers({ columns: [...keys, ...others], relations }, source, ''),
    ...compileComputed(source),
  ];
}

function exposures({ entity, options, resource }: EntitySource): FieldSource['exposureOf'] {
  const found = new Map<ColumnDescription | RelationDescription, Exposed>();
  const within: ExposedIn = {
    entity,
    options,
    isServed: (relation) => isServedRelation(relation, resource),
  };
  return (member) => {
    const exposed = found.get(member) ?? exposedMember(member, within);
    found.set(member, exposed);
    return exposed;
  };
}

interface Members {
  readonly columns: readonly ColumnDescription[];
  readonly relations: readonly RelationDescription[];
}

/** Columns and embedded objects, then relations, below one path. */
function compileMembers(members: Members, source: FieldSource, within: string): readonly InnerField[] {
  const fields: InnerField[] = [];
  const embedded = new Set<string>();
  for (const member of [...members.columns, ...members.relations]) {
    const rest = member.path.slice(within.length);
    const [name = rest, ...deeper] = rest.split('.');
    if (deeper.length === 0 && 'kind' in member) fields.push(...compileRelationField(name, member, source));
    else if (deeper.length === 0) fields.push(compileColumn(name, member as ColumnDescription, source));
    else if (!embedded.has(name))
      fields.push(
        compileEmbedded(name, membersBelow(members, `${within}${name}.`), {
          source,
          within: `${within}${name}.`,
        }),
      );
    if (deeper.length > 0) embedded.add(name);
  }
  return withForeignKeyAliases(fields, { ...source, isOpen: (column) => source.exposureOf(column).writable });
}

function membersBelow({ columns, relations }: Members, within: string): Members {
  return {
    columns: columns.filter(({ path }) => path.startsWith(within)),
    relations: relations.filter(({ path }) => path.startsWith(within)),
  };
}

function compileEmbedded(
  name: string,
  members: Members,
  { source, within }: { source: FieldSource; within: string },
): EmbeddedField {
  const fields = compileMembers(members, source, within);
  return {
    kind: 'embedded',
    name,
    label: labelOf(name),
    fields,
    readable: fields.some((field) => field.readable),
    insertable: fields.some((field) => field.insertable),
    updatable: fields.some((field) => field.updatable),
    required: fields.some((field) => field.required),
    nullable: false,
  };
}

function compileColumn(name: string, description: ColumnDescription, source: FieldSource): ColumnField {
  const { entity, options, resource } = source;
  const column = resource.columns.get(description.id) ?? description;
  const rules = entity.rules.get(description.path);
  return {
    kind: 'column',
    name,
    label: labelOf(name),
    column,
    type: typeOf(column, options),
    readable: source.exposureOf(description).readable,
    ...writabilityOf(description, source),
    nullable: description.acceptsNull,
    blank: description.acceptsNull || description.hasDefault,
    ...(rules ? { rules } : {}),
    ...(description.defaultText === undefined ? {} : { defaultText: description.defaultText }),
  };
}

function writabilityOf(
  column: ColumnDescription,
  source: FieldSource,
): Pick<ColumnField, 'insertable' | 'updatable' | 'required' | 'refers' | 'polymorphic'> {
  const { entity, foreignKeys } = source;
  const refers = foreignKeys.get(column.id);
  const key = refers === 'several' ? undefined : refers;
  // A single value does not identify the related row.
  const shared = key?.kind !== 'polymorphic' && isWrittenByRelations(column, source);
  const open = entity.writable && !column.generated && source.exposureOf(column).writable && !shared;
  const insertable = open && column.insertable;
  return {
    insertable,
    // The URL names the object: a key in a body is ignored (contract 3.4).
    updatable: open && column.updatable && !column.primary,
    required: insertable && !mayBeOmitted(column, source),
    ...(open && key?.kind === 'to-one' ? { refers: key } : {}),
    ...(open && key?.kind === 'polymorphic' ? { polymorphic: key.relations } : {}),
  };
}

function mayBeOmitted(
  column: ColumnDescription,
  { entity, options: { optional = [] } }: FieldSource,
): boolean {
  if (optional.includes(topName(column))) return true;
  return (column.acceptsNull || column.hasDefault) && entity.rules.get(column.path)?.isDefined !== true;
}

function typeOf(column: Column, options: RestifyOptions): DataType {
  const keepsBlanks =
    (options.trim as Readonly<Record<string, boolean>> | undefined)?.[topName(column)] === false;
  const type = outwardType(column);
  return keepsBlanks ? untrimmed(type) : type;
}

function untrimmed(type: DataType): DataType {
  if (type.kind === 'list') return { ...type, of: untrimmed(type.of) };
  return type.kind === 'string' ? { ...type, trim: false } : type;
}

/** A plain column with a relation over the same database column: bodies write the relation, by either name with `withForeignKeyAliases`. */
function isTwinOfShownRelation(column: ColumnDescription, source: FieldSource): boolean {
  return source.entity.relations.some(
    (relation) =>
      relation.kind === 'to-one' &&
      relation.on.some((pair) => pair.localColumn === column.id) &&
      isShownRelation(relation, source),
  );
}

function isWrittenByRelations(column: ColumnDescription, source: FieldSource): boolean {
  const isShared = source.foreignKeys.get(column.id) === 'several' || isTwinOfShownRelation(column, source);
  return isShared && !isOwnKey(column, source);
}

/** Whether an object may be named by a column of its key alone, because each relation that has the column may be null. */
function isOwnKey(column: ColumnDescription, source: FieldSource): boolean {
  const relations = source.entity.relations.flatMap((relation) =>
    relation.kind === 'to-one' && relation.on.some(({ localColumn }) => localColumn === column.id)
      ? relation
      : [],
  );
  return column.primary && relations.length > 0 && relations.every(({ nullable }) => nullable);
}

function isShownRelation(relation: RelationDescription, source: FieldSource): boolean {
  return source.exposureOf(relation).hasField && isServedRelation(relation, source.resource);
}

function isServedRelation({ path }: RelationDescription, resource: ResourceBuilder): boolean {
  return resource.relations.get(path)?.target.registered === true;
}

/** Omits a relation to an entity that is not registered (contract 2.3). */
function compileRelationField(
  name: string,
  description: RelationDescription,
  source: FieldSource,
): readonly InnerField[] {
  const relation = source.resource.relations.get(description.path);
  if (!relation) return [];
  const { readable } = source.exposureOf(description);
  const named = { name, label: labelOf(name), readable };
  const closed = { insertable: false, updatable: false, required: false };
  switch (relation.kind) {
    case 'to-one':
      return [toOneField(named, description, { relation, source })];
    case 'reverse-one':
      return [{ kind: 'reverse-one', relation, nullable: true, ...closed, ...named }];
    case 'one-to-many':
    case 'many-to-many':
      return [{ kind: 'link', relation, nullable: false, ...closed, ...named }];
    default:
      return relation satisfies never;
  }
}

function toOneField(
  named: Pick<ToOneField, 'name' | 'label' | 'readable'>,
  description: RelationDescription,
  { relation, source }: { readonly relation: ToOneRelation; readonly source: FieldSource },
): ToOneField {
  const { entity, options, resource, foreignKeys } = source;
  const { nullable, hasDefault, insertable, updatable } =
    description.kind === 'to-one' ? description : PLAIN_REFERENCE;
  const isWritten = relation.on.some(({ localColumn }) => isPolymorphic(foreignKeys.get(localColumn.id)));
  const open = entity.writable && source.exposureOf(description).writable && !isWritten;
  // One that has other columns, too, can be changed by these.
  const isInKey = relation.on.every(({ localColumn }) =>
    resource.identity.some(({ id }) => id === localColumn.id),
  );
  return {
    kind: 'to-one',
    relation,
    insertable: open && insertable,
    updatable: open && updatable && !isInKey,
    required: open && insertable && !(nullable || hasDefault || isOptional(description, relation, options)),
    nullable,
    ...named,
  };
}

function isPolymorphic(key: KeyReference | undefined): boolean {
  return key !== undefined && key !== 'several' && key.kind === 'polymorphic';
}

const PLAIN_REFERENCE = { nullable: true, hasDefault: false, insertable: true, updatable: true };

/** By its own name, or by that of the plain column of its foreign key. */
function isOptional(
  description: RelationDescription,
  { on }: ToOneRelation,
  { optional = [] }: RestifyOptions,
): boolean {
  const [pair, ...more] = on;
  return [description, ...(pair && more.length === 0 ? [pair.localColumn] : [])].some((each) =>
    optional.includes(topName(each)),
  );
}

function compileComputed({ options }: FieldSource): readonly ComputedField[] {
  return Object.entries(options.computed ?? {}).map(([name, source]) => ({
    kind: 'computed',
    name,
    label: labelOf(name),
    readable: true,
    insertable: false,
    updatable: false,
    required: false,
    nullable: true,
    compute: computation(source as string | ((entity: object) => unknown)),
  }));
}

function computation(source: string | ((entity: object) => unknown)): (entity: object) => unknown {
  if (typeof source === 'function') return source;
  return (entity) => (entity as Record<string, () => unknown>)[source]?.();
}
