import { isDeepStrictEqual } from 'node:util';
import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue, FieldValues } from '../../../core/query/plan.js';
import { outwardType } from '../../../core/schema/column.js';
import type { Column } from '../../../core/schema/column.js';
import type { ColumnField, EmbeddedField, Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { isPolymorphic } from '../metadata/describe-relations.js';
import type { ReferencedValues } from '../../../execution/read/key-lookups.js';
import { fromProperty, toKeyProperty, toProperty } from './property-values.js';

/** Assigns a body's values to an entity. A to-one field becomes an object with the related row's referenced columns. */
export function applyValues(
  entity: ObjectLiteral,
  { resource, metadata }: { readonly resource: ResourceSchema; readonly metadata: EntityMetadata },
  { values, referenced }: { readonly values: FieldValues; readonly referenced: ReferencedValues },
): void {
  for (const [name, value] of values) {
    const field = resource.fieldsByName.get(name);
    if (field) applyField(entity, field, { metadata, value, path: name, referenced });
  }
}

interface FieldInput {
  readonly metadata: EntityMetadata;
  readonly value: unknown;
  /** The path of the field in the body. */
  readonly path: string;
  readonly referenced: ReferencedValues;
}

function applyField(entity: ObjectLiteral, field: Field, input: FieldInput): void {
  const { metadata } = input;
  switch (field.kind) {
    case 'column':
      setColumns(entity, metadata, [{ column: field.column, value: columnValue(field, input) }]);
      return;
    case 'embedded':
      applyEmbedded(entity, field, input);
      return;
    case 'to-one':
      setColumns(
        entity,
        metadata,
        field.relation.on.map((pair, index) => ({
          column: pair.localColumn,
          value: input.value === null ? null : (input.referenced.get(input.path)?.[index] ?? null),
        })),
      );
      return;
    default:
      return;
  }
}

/** Of a foreign key, the text of the related row, which the database takes for equal to that of the body. */
function columnValue({ refers }: ColumnField, { value, path, referenced }: FieldInput): Json {
  const text = refers && typeof value === 'string' ? referenced.get(path)?.[0] : undefined;
  return typeof text === 'string' ? text : (value as Json);
}

function applyEmbedded(
  entity: ObjectLiteral,
  field: EmbeddedField,
  { metadata, value, path, referenced }: FieldInput,
): void {
  const values = value as Readonly<Record<string, unknown>>;
  for (const inner of field.fields) {
    if (Object.hasOwn(values, inner.name))
      applyField(entity, inner, {
        metadata,
        value: values[inner.name],
        path: `${path}.${inner.name}`,
        referenced,
      });
  }
}

/** Assigns column values. Those of one relation become one object of the related row's referenced columns. */
export function setColumns(
  entity: ObjectLiteral,
  metadata: EntityMetadata,
  values: readonly ColumnValue[],
): void {
  for (const { column, value } of values) {
    const found = metadata.columns.find((each) => each.databaseName === column.id);
    if (found && !found.isVirtual)
      found.setEntityValue(entity, toProperty(value, outwardType(column), found));
  }
  for (const relation of relationsOf(metadata, values))
    // TypeORM would take the column from the object, and insert a missing row where it cascades.
    setRelation(entity, relation, isPolymorphic(relation) ? undefined : relatedObject(relation, values));
}

function relationsOf(metadata: EntityMetadata, values: readonly ColumnValue[]): readonly RelationMetadata[] {
  const ids = new Set(values.map(({ column }) => column.id));
  return metadata.relations.filter(
    (relation) =>
      relation.isWithJoinColumn &&
      relation.joinColumns.length > 0 &&
      (relation.joinColumns.every((column) => ids.has(column.databaseName)) ||
        (isPolymorphic(relation) && relation.joinColumns.some((column) => ids.has(column.databaseName)))),
  );
}

function relatedObject(relation: RelationMetadata, values: readonly ColumnValue[]): ObjectLiteral | null {
  const related: ObjectLiteral = {};
  for (const join of relation.joinColumns) {
    const given = values.find(({ column }) => column.id === join.databaseName);
    if (!given || given.value === null || !join.referencedColumn) return null;
    join.referencedColumn.setEntityValue(
      related,
      toKeyProperty(given.value, given.column.type, join.referencedColumn),
    );
  }
  return related;
}

/**
 * Creates an entity as the application does. Where the data source skips constructors, one that cannot run without
 * arguments is skipped.
 */
export function createEntity(metadata: EntityMetadata): ObjectLiteral {
  try {
    return metadata.create() as ObjectLiteral;
  } catch (error) {
    if (metadata.isAlwaysUsingConstructor) throw error;
    return metadata.create(undefined, { fromDeserializer: true }) as ObjectLiteral;
  }
}

/**
 * Assigns a relation. TypeORM's own setter merges into the current object, which would rename a loaded row, and ignores
 * null.
 */
export function setRelation(entity: ObjectLiteral, relation: RelationMetadata, value: unknown): void {
  const holder = relation.embeddedMetadata
    ? relation.embeddedMetadata.embeddedMetadataTree.reduce<ObjectLiteral>(
        (at, embedded) => (at[embedded.propertyName] ??= embedded.create()) as ObjectLiteral,
        entity,
      )
    : entity;
  holder[relation.isLazy ? `__${relation.propertyName}__` : relation.propertyName] = value;
}

/** The `where` option by which TypeORM finds the row. */
export function whereIdentity(
  identity: readonly Json[],
  resource: ResourceSchema,
  metadata: EntityMetadata,
): ObjectLiteral {
  const where: ObjectLiteral = {};
  const values = resource.identity.map((column, index) => ({ column, value: identity[index] ?? null }));
  // A property that is both a column and a relation is found by the column's value.
  const own = values.filter(({ column }) =>
    metadata.columns.some((each) => each.databaseName === column.id && !each.isVirtual),
  );
  for (const { column, value } of own) {
    const found = metadata.columns.find((each) => each.databaseName === column.id);
    found?.setEntityValue(where, propertyOfKey(value, column, found));
  }
  setColumns(
    where,
    metadata,
    values.filter((each) => !own.includes(each)),
  );
  return where;
}

/**
 * The values of these columns, and all that differ from the stored ones, as `set` of TypeORM takes them: without those that
 * the class assigns to a new entity, or that the driver has rounded when it loaded them.
 */
export function changedValues(
  entity: ObjectLiteral,
  { stored, written }: { readonly stored: ObjectLiteral | null; readonly written: ReadonlySet<string> },
  { columns, relations }: EntityMetadata,
): ObjectLiteral {
  const changed: ObjectLiteral = {};
  const copy = (part: ColumnMetadata | RelationMetadata, ids: readonly string[]): void => {
    const value: unknown = part.getEntityValue(entity);
    const isChanged = stored !== null && !isDeepStrictEqual(value, part.getEntityValue(stored));
    if (value === undefined || !(isChanged || ids.every((id) => written.has(id)))) return;
    const path = part.propertyPath.split('.');
    const last = path.pop() ?? '';
    const holder = path.reduce<ObjectLiteral>((at, name) => (at[name] ??= {}) as ObjectLiteral, changed);
    holder[last] = value;
  };
  for (const column of columns) if (!column.isVirtual) copy(column, [column.databaseName]);
  for (const relation of relations)
    if (relation.isWithJoinColumn)
      copy(
        relation,
        relation.joinColumns.map(({ databaseName }) => databaseName),
      );
  return changed;
}

/** The canonical values of an entity's primary key, as they are stored. */
export function identityOf(
  entity: ObjectLiteral,
  { identity }: ResourceSchema,
  metadata: EntityMetadata,
): readonly Json[] {
  return identity.map((column) => keyValue(entity, column, { metadata, of: storedKey }));
}

/**
 * The canonical values of the properties of an entity's primary key. They are those that are stored, too, where a database
 * finds a key by one that it takes for equal, such as that of a transformer to lower case.
 */
export function keyProperties(
  entity: ObjectLiteral,
  { identity }: ResourceSchema,
  metadata: EntityMetadata,
): readonly Json[] {
  const of = (from: ObjectLiteral, column: ColumnMetadata): unknown => column.getEntityValue(from);
  return identity.map((column) => keyValue(entity, column, { metadata, of }));
}

function keyValue(
  entity: ObjectLiteral,
  { id, type }: Column,
  {
    metadata,
    of,
  }: { metadata: EntityMetadata; of: (entity: ObjectLiteral, column: ColumnMetadata) => unknown },
): Json {
  const found = metadata.columns.find((each) => each.databaseName === id);
  return fromProperty(found && of(entity, found), type) as Json;
}

/** Whether an entity is that of the row with this key. With a transformer, TypeORM may have found another one. */
export function hasIdentity(
  entity: ObjectLiteral,
  identity: readonly Json[],
  { resource, metadata }: { readonly resource: ResourceSchema; readonly metadata: EntityMetadata },
): boolean {
  const [stored, properties] = [identityOf, keyProperties].map((read) => read(entity, resource, metadata));
  return identity.every((value, index) => value === stored?.[index] || value === properties?.[index]);
}

/** The columns of the field itself, without those of a relation. */
export function columnIds(field: Field): readonly string[] {
  if (field.kind === 'embedded') return field.fields.flatMap(columnIds);
  return field.kind === 'column' ? [field.column.id] : [];
}

/** The columns that a value of a body writes, including those of a relation; in an embedded object those of its values. */
export function writtenIds(field: Field, value: unknown): readonly string[] {
  switch (field.kind) {
    case 'column':
      return [field.column.id];
    case 'to-one':
      return field.relation.on.map(({ localColumn }) => localColumn.id);
    case 'embedded': {
      const values = (value ?? {}) as Readonly<Record<string, unknown>>;
      return field.fields
        .filter(({ name }) => Object.hasOwn(values, name))
        .flatMap((inner) => writtenIds(inner, values[inner.name]));
    }
    default:
      return [];
  }
}

/** What is stored for a property of the key. One without a value is generated. */
function storedKey(entity: ObjectLiteral, column: ColumnMetadata): unknown {
  const value: unknown = column.getEntityValue(entity);
  return value === null || value === undefined ? value : converted(value, column, 'to');
}

/** The property of a stored key, of which TypeORM's conditions make that key again: usually the key itself. */
function propertyOfKey(value: Json, { type }: Column, column: ColumnMetadata): unknown {
  const stored = toKeyProperty(value, type, column);
  if (column.transformer === undefined) return stored;
  const makesKey = (property: unknown): boolean =>
    fromProperty(converted(property, column, 'to'), type) === value;
  for (const property of [() => stored, () => converted(stored, column, 'from')])
    try {
      if (makesKey(property())) return property();
    } catch {
      // It converts no such value.
    }
  return stored;
}

function converted(value: unknown, { transformer = [] }: ColumnMetadata, by: 'to' | 'from'): unknown {
  const all = [transformer].flat();
  return (by === 'to' ? all : all.reverse()).reduce<unknown>((each, one) => one[by](each), value);
}

/**
 * Called inside the transaction of a new row.
 * @throws Error for a generated key that the driver has rounded: it would be that of another row, or of none.
 */
export function assertExactKey(key: readonly (Json | undefined)[], { id }: ResourceSchema): void {
  for (const value of key)
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new Error(
        `The database has generated a key beyond ${Number.MAX_SAFE_INTEGER} for ${id}, which JSON does not hold exactly. The row is not stored. Lower the sequence of the table, or its largest key.`,
      );
}

/** The key of the body, unrounded, or the key that the database has generated. */
export function exactIdentity(
  made: readonly Json[],
  values: FieldValues,
  { identity, fields }: ResourceSchema,
): readonly Json[] {
  return identity.map((column, index) => {
    const field = fields.find((each) => each.kind === 'column' && each.column.id === column.id);
    const given = field && values.get(field.name);
    const isRounded = column.type.kind === 'bigint' && !column.transform;
    return given === undefined || !isRounded ? (made[index] ?? null) : (given as Json);
  });
}
