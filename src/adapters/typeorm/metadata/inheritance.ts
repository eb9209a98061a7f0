import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Unsupported } from '../../../core/schema/entity-metadata.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { parseValue } from '../../../core/values/parse-value.js';
import type { DeclaredProperties } from './declared-properties.js';
import { dataTypeOf } from './column-data-type.js';

/** Whether the table holds rows of several entities (single-table inheritance). */
export function sharesTable(metadata: EntityMetadata): boolean {
  return metadata.discriminatorColumn !== undefined;
}

/** An entity, and the properties that the classes and schemas of its data source declare. */
interface InheritanceContext {
  readonly metadata: EntityMetadata;
  readonly declared: DeclaredProperties;
}

/**
 * Whether an entity declares a column itself, in its class or a base class. In a shared table, TypeORM assigns the columns
 * of all entities to each of them.
 */
export function isOwnColumn(column: ColumnMetadata, within: InheritanceContext): boolean {
  if (!sharesTable(within.metadata) || column.isDiscriminator) return true;
  if (column.relationMetadata && column.isVirtual) return isOwnRelation(column.relationMetadata, within);
  return declares(column, within, within.declared.columns);
}

/** The same for a relation. */
export function isOwnRelation(relation: RelationMetadata, within: InheritanceContext): boolean {
  return !sharesTable(within.metadata) || declares(relation, within, within.declared.relations);
}

/** The entities that declare a column and extend this one, which does not; empty if it does. */
export function holdersOf(column: ColumnMetadata, within: InheritanceContext): readonly EntityMetadata[] {
  if (isOwnColumn(column, within)) return [];
  const { metadata, declared } = within;
  return metadata.childEntityMetadatas.filter((child) => isOwnColumn(column, { metadata: child, declared }));
}

/** An entity without a class has no base class, so all of its properties are its own. */
function declares(
  { embeddedMetadata, propertyName, target: declaredBy }: ColumnMetadata | RelationMetadata,
  { metadata: { target }, declared }: InheritanceContext,
  properties: DeclaredProperties['relations'],
): boolean {
  if (typeof target !== 'function') return true;
  const chain = classChain(target);
  const top = embeddedMetadata?.embeddedMetadataTree[0]?.propertyName;
  if (top === undefined && chain.includes(declaredBy)) return true;
  const [name, all] = top === undefined ? [propertyName, properties] : [top, declared.embeddeds];
  return all.some((each) => each.propertyName === name && chain.includes(each.target));
}

/** The class and its base classes. */
export function classChain(target: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (
    let each = target;
    typeof each === 'function' && each !== Function.prototype;
    each = Object.getPrototypeOf(each) as unknown
  )
    chain.push(each);
  return chain;
}

/**
 * Whether a column was declared as nullable. TypeORM makes the columns of child entities nullable in the table, which has
 * rows of other entities too.
 */
export function acceptsNull(
  column: ColumnMetadata,
  { metadata, declared: { columns } }: InheritanceContext,
): boolean {
  // A query of the application may return NULL.
  if (column.isVirtualProperty) return true;
  if (!sharesTable(metadata) || !column.isNullable || column.isDeleteDate) return column.isNullable;
  const target = column.embeddedMetadata ? column.target : metadata.target;
  // The schema of an embedded object may have no class.
  const chain = typeof target === 'function' ? classChain(target) : [target];
  const declared = columns.find(
    (each) => each.propertyName === column.propertyName && chain.includes(each.target),
  );
  if (!declared) return column.isNullable;
  // As in TypeORM, a default of null makes a column nullable.
  return declared.options.nullable ?? declared.options.default === null;
}

/** The entity whose class declares a relation. TypeORM assigns the relations of child entities to the base entity. */
export function declaringEntity(relation: RelationMetadata): EntityMetadata {
  const { entityMetadata } = relation;
  return sharesTable(entityMetadata)
    ? ([...entityMetadata.childEntityMetadatas].find((child) => child.target === relation.target) ??
        entityMetadata)
    : entityMetadata;
}

/** The class as which an entity of a shared table is written, so that its own listeners are called. */
export function classOf(entity: ObjectLiteral, metadata: EntityMetadata): EntityMetadata['target'] {
  const child = metadata.childEntityMetadatas.find(({ target }) => target === entity.constructor);
  return (child ?? metadata).target;
}

/** The discriminator values of an entity's rows: its own, and those of the entities that extend it. */
function discriminatorValuesOf(metadata: EntityMetadata): readonly unknown[] {
  return [metadata, ...metadata.childEntityMetadatas].map((each): unknown => each.discriminatorValue);
}

/**
 * Whether the discriminator column can store the value of the entity. A base entity without a declared value has the name
 * of its class, which is invalid in a numeric column.
 */
export function hasStorableDiscriminator(metadata: EntityMetadata, dataSource: DataSource): boolean {
  const { discriminatorColumn, discriminatorValue } = metadata;
  if (!discriminatorColumn) return true;
  const described = dataTypeOf(discriminatorColumn, dataSource);
  return (
    !('type' in described) ||
    described.type.kind === 'string' ||
    parseValue(discriminatorValue, described.type).errors === undefined
  );
}

/** The discriminator values as SQL literals. `unsupportedDiscriminators` excludes values that would need more escaping. */
export function discriminatorLiterals(metadata: EntityMetadata): readonly string[] {
  return discriminatorValuesOf(metadata).map((value) =>
    typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`,
  );
}

/** Discriminator values that are not safe as SQL literals. */
export function unsupportedDiscriminators(metadata: EntityMetadata): readonly Unsupported[] {
  if (!sharesTable(metadata)) return [];
  const values = discriminatorValuesOf(metadata)
    .filter((value) => !Number.isSafeInteger(value))
    .map(String);
  return values
    .filter((value) => !/^[\p{L}\p{N}_$ .:/-]+$/u.test(value))
    .map((value) => ({
      what: `its discriminator value ${JSON.stringify(value)} has signs other than letters, digits, blanks and "_$.:/-"`,
      repair:
        'Give @ChildEntity or @DiscriminatorValue another one, or leave the entity out: do not register it.',
      readable: false,
    }));
}
