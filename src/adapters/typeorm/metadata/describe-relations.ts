import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { DataSource, EntityMetadata } from 'typeorm';
import type {
  EntityDescription,
  JunctionDescription,
  PairDescription,
  RelationDescription,
} from '../../../core/schema/entity-metadata.js';
import type { DeclaredProperties } from './declared-properties.js';
import { entityIdOf } from './entity-id.js';
import { acceptsNull, declaringEntity, isOwnRelation, sharesTable } from './inheritance.js';
import { junctionConflict } from './junction-conflicts.js';
import type { MappedTables } from './mapped-tables.js';
import { isPolymorphic } from './polymorphic-relations.js';
import type { TextColumns } from './text-columns.js';

export interface RelationSource {
  /** The described entity. If it shares a table, a base entity may have declared the relation. */
  readonly metadata: EntityMetadata;
  readonly dataSource: DataSource;
  readonly tables: MappedTables;
  readonly declared: DeclaredProperties;
  readonly texts: TextColumns;
}

export function describeRelations(source: RelationSource): readonly RelationDescription[] {
  return source.metadata.relations
    .filter((relation) => isOwnRelation(relation, source))
    .flatMap((relation) => describeRelation(relation, source) ?? []);
}

/** Describes the many-to-many relations without a join table. */
export function describeUnjoined(source: RelationSource): EntityDescription['unjoined'] {
  return unjoinedRelations(source.metadata)
    .filter((relation) => isOwnRelation(relation, source))
    .map(({ propertyPath, inverseEntityMetadata }) => ({
      path: propertyPath,
      target: entityIdOf(inverseEntityMetadata, source.dataSource),
    }));
}

/**
 * The paths of relations of embedded objects without join columns. In a shared table, TypeORM creates these join columns for
 * the base entity only.
 */
export function unmappedRelations(source: RelationSource): readonly string[] {
  if (!sharesTable(source.metadata)) return [];
  return source.metadata.relations
    .filter((relation) => relation.embeddedMetadata && !relation.isManyToMany)
    .filter((relation) => isOwnRelation(relation, source) && !describeRelation(relation, source))
    .map(({ propertyPath }) => propertyPath);
}

/** Many-to-many relations without a join table on either side. TypeORM connects nevertheless, and throws when it reads them. */
export function unjoinedRelations({ manyToManyRelations }: EntityMetadata): readonly RelationMetadata[] {
  return manyToManyRelations.filter(({ junctionEntityMetadata }) => junctionEntityMetadata === undefined);
}

function describeRelation(
  relation: RelationMetadata,
  source: RelationSource,
): RelationDescription | undefined {
  const { dataSource } = source;
  const base = {
    path: relation.propertyPath,
    target: entityIdOf(relation.inverseEntityMetadata, dataSource),
  };
  if (relation.isManyToMany) {
    return relation.junctionEntityMetadata
      ? {
          ...base,
          kind: 'many-to-many',
          junction: describeJunction(relation, relation.junctionEntityMetadata, source),
        }
      : undefined;
  }
  if (relation.isWithJoinColumn) {
    return {
      ...base,
      kind: 'to-one',
      nullable: isNullableRelation(relation, source),
      hasDefault: relation.joinColumns.every((column) => column.default !== undefined),
      on: pairs(relation.joinColumns),
      insertable: relation.joinColumns.every((column) => column.isInsert),
      updatable: relation.joinColumns.every((column) => column.isUpdate),
      ...(isPolymorphic(relation) ? { polymorphic: true } : {}),
    };
  }
  const owner = relation.inverseRelation;
  if (!owner) return undefined;
  return {
    ...base,
    kind: relation.isOneToMany ? 'one-to-many' : 'reverse-one',
    on: pairs(owner.joinColumns).map(inverted),
  };
}

/**
 * Relations are nullable by default, so a join column that the entity declares itself takes precedence. A column of the key is never
 * null, and leaves it to the others.
 */
function isNullableRelation(
  { isNullable: isOptional, joinColumns }: RelationMetadata,
  source: RelationSource,
): boolean {
  return isOptional && joinColumns.some((column) => !column.isPrimary && acceptsNull(column, source));
}

/** `near` is the referencing column, `far` the referenced one. */
function pairs(columns: readonly ColumnMetadata[]): readonly PairDescription[] {
  return columns.flatMap((column) =>
    column.referencedColumn ? [{ near: column.databaseName, far: column.referencedColumn.databaseName }] : [],
  );
}

function inverted({ near, far }: PairDescription): PairDescription {
  return { near: far, far: near };
}

function describeJunction(
  relation: RelationMetadata,
  junction: EntityMetadata,
  { metadata, dataSource, tables }: RelationSource,
): JunctionDescription {
  // If both sides declare a join table, TypeORM uses the one that it has built last.
  const fromOwner = junction.ownerColumns.some(({ relationMetadata }) => relationMetadata === relation);
  const owner = fromOwner ? relation : (relation.inverseRelation ?? relation);
  const [parentColumns, otherColumns] = fromOwner
    ? [junction.ownerColumns, junction.inverseColumns]
    : [junction.inverseColumns, junction.ownerColumns];
  const ownerEntity = fromOwner ? metadata : declaringEntity(owner);
  const mapped = tables.entitiesOn(junction);
  const conflict = junctionConflict(junction, mapped, dataSource);
  return {
    entity: entityIdOf(junction, dataSource),
    mappedBy: mapped.map((each) => entityIdOf(each, dataSource)),
    ...(conflict ? { conflict } : {}),
    declaredAt: `${declaringEntity(owner).targetName || declaringEntity(owner).name}.${owner.propertyPath}`,
    ownerEntity: entityIdOf(ownerEntity, dataSource),
    ownerProperty: owner.propertyPath,
    fromOwner,
    ...(relation.inverseRelation ? { inverse: relation.inverseRelation.propertyPath } : {}),
    parent: pairs(parentColumns).map(inverted),
    other: pairs(otherColumns),
  };
}
