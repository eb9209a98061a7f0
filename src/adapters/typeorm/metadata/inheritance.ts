import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Unsupported } from '../../../core/schema/entity-metadata.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { parseValue } from '../../../core/values/parse-value.js';
import type { DeclaredProperties } from './declared-properties.js';
import { dataTypeOf } from './value-type-of.js';

/** Whether the table holds rows of several entities (single-table inheritance). */
export function sharesTable(metadata: EntityMetadata): boolean {
  return metadata.discriminatorColumn !== undefined;
}

/** An entity, and what the classes and schemas of its data source declare. */
interface DeclaredIn {
  readonly metadata: EntityMetadata;
  readonly declared: DeclaredProperties;
}

/**
 * TypeORM gives every entity of a shared table the columns of all of them. An entity's own are those of its class and of
 * the classes that it extends.
 */
export function isOwnColumn(column: ColumnMetadata, within: DeclaredIn): boolean {
  if (!sharesTable(within.metadata) || column.isDiscriminator) return true;
  if (column.relationMetadata && column.isVirtual) return isOwnRelation(column.relationMetadata, within);
  return declares(column, within, within.declared.columns);
}

export function isOwnRelation(relation: RelationMetadata, within: DeclaredIn): boolean {
  return !sharesTable(within.metadata) || declares(relation, within, within.declared.relations);
}

/** An entity without a class extends none: all that it has is its own. */
function declares(
  { embeddedMetadata, propertyName, target: declaredBy }: ColumnMetadata | RelationMetadata,
  { metadata: { target }, declared }: DeclaredIn,
  properties: DeclaredProperties['relations'],
): boolean {
  if (typeof target !== 'function') return true;
  const line = lineOf(target);
  const top = embeddedMetadata?.embeddedMetadataTree[0]?.propertyName;
  if (top === undefined && line.includes(declaredBy)) return true;
  const [name, all] = top === undefined ? [propertyName, properties] : [top, declared.embeddeds];
  return all.some((each) => each.propertyName === name && line.includes(each.target));
}

/** The class and those that it extends. */
export function lineOf(target: unknown): readonly unknown[] {
  const line: unknown[] = [];
  for (
    let each = target;
    typeof each === 'function' && each !== Function.prototype;
    each = Object.getPrototypeOf(each) as unknown
  )
    line.push(each);
  return line;
}

/** TypeORM makes the columns of children nullable, so that other entities can have rows; what was declared still holds for bodies. */
export function acceptsNull(
  column: ColumnMetadata,
  { metadata, declared: { columns } }: DeclaredIn,
): boolean {
  // What a query of the application makes may be nothing.
  if (column.isVirtualProperty) return true;
  if (!sharesTable(metadata) || !column.isNullable || column.isDeleteDate) return column.isNullable;
  const target = column.embeddedMetadata ? column.target : metadata.target;
  // The schema of an embedded object need not have a class.
  const line = typeof target === 'function' ? lineOf(target) : [target];
  const declared = columns.find(
    (each) => each.propertyName === column.propertyName && line.includes(each.target),
  );
  if (!declared) return column.isNullable;
  // As TypeORM has it: a default of null makes a column nullable.
  return declared.options.nullable ?? declared.options.default === null;
}

/** The entity whose class declares a relation: TypeORM keeps it with the base. */
export function declaringEntity(relation: RelationMetadata): EntityMetadata {
  const { entityMetadata } = relation;
  return sharesTable(entityMetadata)
    ? ([...entityMetadata.childEntityMetadatas].find((child) => child.target === relation.target) ??
        entityMetadata)
    : entityMetadata;
}

/** A row of a shared table is loaded as the entity that it is, and is written as that one, with its listeners. */
export function classOf(entity: ObjectLiteral, metadata: EntityMetadata): EntityMetadata['target'] {
  const child = metadata.childEntityMetadatas.find(({ target }) => target === entity.constructor);
  return (child ?? metadata).target;
}

/** What stands in the discriminator column of an entity's rows: its own value, and those of the entities that extend it. */
function kindsOf(metadata: EntityMetadata): readonly unknown[] {
  return [metadata, ...metadata.childEntityMetadatas].map((each): unknown => each.discriminatorValue);
}

/** Whether the discriminator column holds the entity's own value: a root without one has its class's name, which is no number. */
export function hasFittingKind(metadata: EntityMetadata, dataSource: DataSource): boolean {
  const { discriminatorColumn, discriminatorValue } = metadata;
  if (!discriminatorColumn) return true;
  const described = dataTypeOf(discriminatorColumn, dataSource);
  return (
    !('type' in described) ||
    described.type.kind === 'string' ||
    parseValue(discriminatorValue, described.type).errors === undefined
  );
}

/** As SQL. Only values that need no escaping get here: see `unsupportedKinds`. */
export function kindLiterals(metadata: EntityMetadata): readonly string[] {
  return kindsOf(metadata).map((kind) =>
    typeof kind === 'number' ? String(kind) : `'${String(kind).replaceAll("'", "''")}'`,
  );
}

/** Discriminator values that could not stand in SQL as they are. */
export function unsupportedKinds(metadata: EntityMetadata): readonly Unsupported[] {
  if (!sharesTable(metadata)) return [];
  const kinds = kindsOf(metadata)
    .filter((kind) => !Number.isSafeInteger(kind))
    .map(String);
  return kinds
    .filter((kind) => !/^[\p{L}\p{N}_$ .:/-]+$/u.test(kind))
    .map((kind) => ({
      what: `its discriminator value ${JSON.stringify(kind)} has signs other than letters, digits, blanks and "_$.:/-"`,
      repair:
        'Give @ChildEntity or @DiscriminatorValue another one, or leave the entity out: do not register it.',
      readable: false,
    }));
}
