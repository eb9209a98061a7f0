import { getMetadataArgsStorage } from 'typeorm';
import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Unsupported } from '../../../model/entity-description.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** Whether the table holds rows of several entities (single-table inheritance). */
export function sharesTable(metadata: EntityMetadata): boolean {
  return metadata.discriminatorColumn !== undefined;
}

/**
 * TypeORM gives every entity of a shared table the columns of all of them. An entity's own are those of its class and of
 * the classes that it extends.
 */
export function isOwnColumn(column: ColumnMetadata, metadata: EntityMetadata): boolean {
  if (!sharesTable(metadata) || column.isDiscriminator) return true;
  if (column.relationMetadata && column.isVirtual) return isOwnRelation(column.relationMetadata, metadata);
  const top = column.embeddedMetadata?.embeddedMetadataTree[0]?.propertyName;
  const { columns, embeddeds } = getMetadataArgsStorage();
  return top === undefined
    ? declares(metadata, columns, column.propertyName)
    : declares(metadata, embeddeds, top);
}

export function isOwnRelation(relation: RelationMetadata, metadata: EntityMetadata): boolean {
  if (!sharesTable(metadata)) return true;
  const top = relation.embeddedMetadata?.embeddedMetadataTree[0]?.propertyName;
  const { relations, embeddeds } = getMetadataArgsStorage();
  return top === undefined
    ? declares(metadata, relations, relation.propertyName)
    : declares(metadata, embeddeds, top);
}

interface DeclaredProperty {
  readonly target: unknown;
  readonly propertyName: string;
}

/** An entity without a class extends none: all that it has is its own. */
function declares(
  { target }: EntityMetadata,
  properties: readonly DeclaredProperty[],
  name: string,
): boolean {
  return (
    typeof target !== 'function' ||
    properties.some((each) => each.propertyName === name && lineOf(target).includes(each.target))
  );
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
export function acceptsNull(column: ColumnMetadata, metadata: EntityMetadata): boolean {
  if (!sharesTable(metadata) || !column.isNullable) return column.isNullable;
  const line = lineOf(column.embeddedMetadata ? column.target : metadata.target);
  const declared = getMetadataArgsStorage().columns.find(
    (each) => each.propertyName === column.propertyName && line.includes(each.target),
  );
  return declared ? declared.options.nullable === true : column.isNullable;
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
      repair: 'Give @ChildEntity or @DiscriminatorValue another one.',
    }));
}
