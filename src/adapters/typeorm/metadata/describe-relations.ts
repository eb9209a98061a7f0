import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type {
  EntityDescription,
  JunctionDescription,
  PairDescription,
  RelationDescription,
  JunctionConflict,
  ReferrerDescription,
} from '../../../core/schema/entity-metadata.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { DeclaredProperties } from './declared-properties.js';
import { entityIdOf } from '../table-metadata.js';
import { acceptsNull, declaringEntity, isOwnRelation, sharesTable } from './inheritance.js';
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

/**
 * Describes the many-to-many relations without a join table on either side. TypeORM connects nevertheless, and throws when it
 * reads them.
 */
export function describeUnjoined(source: RelationSource): EntityDescription['unjoined'] {
  return source.metadata.manyToManyRelations
    .filter(({ junctionEntityMetadata }) => junctionEntityMetadata === undefined)
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

function describeRelation(
  relation: RelationMetadata,
  source: RelationSource,
): RelationDescription | undefined {
  const { dataSource } = source;
  const path = relation.propertyPath;
  const target = entityIdOf(relation.inverseEntityMetadata, dataSource);
  if (relation.isManyToMany) {
    return relation.junctionEntityMetadata
      ? {
          path,
          target,
          kind: 'many-to-many',
          junction: describeJunction(relation, relation.junctionEntityMetadata, source),
        }
      : undefined;
  }
  if (relation.isWithJoinColumn) {
    return {
      path,
      target,
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
    path,
    target,
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

/** `localColumn` is the referencing column, `referencedColumn` the referenced one. */
function pairs(columns: readonly ColumnMetadata[]): readonly PairDescription[] {
  return columns.flatMap((column) =>
    column.referencedColumn
      ? [{ localColumn: column.databaseName, referencedColumn: column.referencedColumn.databaseName }]
      : [],
  );
}

function inverted({ localColumn, referencedColumn }: PairDescription): PairDescription {
  return { localColumn: referencedColumn, referencedColumn: localColumn };
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

/**
 * The effect of `synchronize` on a junction table to which the application maps an entity with more columns: TypeORM alters
 * the table to match the one and then the other, each time it connects.
 */
function junctionConflict(
  junction: EntityMetadata,
  mapped: readonly EntityMetadata[],
  dataSource: DataSource,
): JunctionConflict | undefined {
  if (dataSource.options.synchronize !== true || !junction.synchronize) return undefined;
  const kept = new Set(junction.columns.map(({ databaseName }) => databaseName));
  for (const { columns, targetName, name, synchronize, primaryColumns } of mapped) {
    const lost = columns.filter((column) => !kept.has(column.databaseName) && !column.isVirtualProperty);
    if (lost.length === 0) continue;
    const keys = new Set(primaryColumns.map(({ databaseName }) => databaseName));
    const otherKey =
      dialectFamily(dataSource) === 'postgres' && [...kept].some((column) => !keys.has(column));
    const hasSequence = primaryColumns.some(
      ({ isGenerated, generationStrategy }) => isGenerated && generationStrategy !== 'uuid',
    );
    return {
      entity: targetName || name,
      lost: lost.map(({ databaseName }) => databaseName),
      fails: synchronize && (otherKey || hasSequence),
    };
  }
  return undefined;
}

/**
 * Whether a relation has the same columns as others, all without a foreign key constraint, and each column is a property of its own: the
 * columns are then a key of several tables, which one of them, or another column, may choose from.
 */
export function isPolymorphic(relation: RelationMetadata): boolean {
  const { createForeignKeyConstraints, joinColumns, entityMetadata } = relation;
  if (createForeignKeyConstraints || joinColumns.length === 0) return false;
  const ids = joinColumns.map(({ databaseName }) => databaseName);
  const { columns, relations } = entityMetadata;
  const sharing = relations.filter(
    (each) =>
      each.isWithJoinColumn && each.joinColumns.some(({ databaseName }) => ids.includes(databaseName)),
  );
  const isAlike = sharing.every(
    (each) =>
      !each.createForeignKeyConstraints &&
      each.joinColumns.length === ids.length &&
      each.joinColumns.every(({ databaseName }) => ids.includes(databaseName)),
  );
  const isRelation = (path: string): boolean => relations.some(({ propertyPath }) => propertyPath === path);
  const isProperty = (id: string): boolean =>
    columns.some((each) => each.databaseName === id && !each.isVirtual && !isRelation(each.propertyPath));
  return sharing.length > 1 && isAlike && ids.every(isProperty);
}

/** The application's entities by table. Names with and without schema and database are equal if they denote the same table. */
export class MappedTables {
  private readonly byTable = new Map<string, EntityMetadata[]>();

  constructor(private readonly dataSource: DataSource) {
    for (const metadata of dataSource.entityMetadatas) {
      if (metadata.isJunction || metadata.isClosureJunction || metadata.tableType === 'view') continue;
      const table = this.tableOf(metadata);
      const others = this.byTable.get(table);
      if (others) others.push(metadata);
      else this.byTable.set(table, [metadata]);
    }
  }

  entitiesOn(junction: EntityMetadata): readonly EntityMetadata[] {
    return this.byTable.get(this.tableOf(junction)) ?? [];
  }

  /** The full name of a table; the schema and database default to those of the connection. */
  private tableOf(metadata: EntityMetadata): string {
    const { database, schema, tableName } = this.dataSource.driver.parseTableName(metadata);
    return JSON.stringify([database, schema, tableName]);
  }
}

type ForeignKey = EntityMetadata['foreignKeys'][number];

/** The foreign keys of a data source by the path of the table to which they refer, so that no entity is compared with all others. */
export class ForeignKeysByTable {
  private readonly keys = new Map<string, ForeignKey[]>();

  constructor(private readonly dataSource: DataSource) {
    for (const { foreignKeys } of dataSource.entityMetadatas) {
      for (const key of foreignKeys) {
        const { tablePath } = key.referencedEntityMetadata;
        const others = this.keys.get(tablePath);
        if (others) others.push(key);
        else this.keys.set(tablePath, [key]);
      }
    }
  }

  /**
   * The entities whose foreign keys refer to the table, and what the deletion of a row from it does to theirs. Junctions of plain
   * many-to-many relations are left out: their rows are not objects.
   */
  referrersOf(target: EntityMetadata): readonly ReferrerDescription[] {
    return this.referringTo(target)
      .filter(({ entityMetadata }) => !entityMetadata.isJunction && !entityMetadata.isClosureJunction)
      .map(({ entityMetadata, onDelete }) => ({
        entity: entityIdOf(entityMetadata, this.dataSource),
        onDelete: effectOf(onDelete),
      }));
  }

  /** The columns to which foreign keys refer that restrict their changes. */
  referredColumnsOf(target: EntityMetadata): readonly string[] {
    return this.referringTo(target)
      .filter((key) => restricts(key, 'update'))
      .flatMap((key) => key.referencedColumns.map(({ databaseName }) => databaseName));
  }

  private referringTo({ tablePath }: EntityMetadata): readonly ForeignKey[] {
    return this.keys.get(tablePath) ?? [];
  }
}

/** Whether a foreign key restricts a deletion, or a change of the columns to which it refers. */
export function restricts({ onDelete, onUpdate }: ForeignKey, change: 'delete' | 'update'): boolean {
  const action = change === 'delete' ? onDelete : onUpdate;
  return action === undefined || action === 'RESTRICT' || action === 'NO ACTION';
}

function effectOf(action: ForeignKey['onDelete']): ReferrerDescription['onDelete'] {
  switch (action) {
    case 'CASCADE':
      return 'cascade';
    case 'SET NULL':
      return 'change';
    default:
      return 'restrict';
  }
}
