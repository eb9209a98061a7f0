import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { DataSource, EntityMetadata } from 'typeorm';
import type {
  JunctionDescription,
  PairDescription,
  RelationDescription,
} from '../../../model/entity-description.js';
import { entityIdOf } from './entity-id.js';
import { declaringEntity, isOwnRelation } from './inheritance.js';

export function describeRelations(
  metadata: EntityMetadata,
  dataSource: DataSource,
): readonly RelationDescription[] {
  return metadata.relations
    .filter((relation) => isOwnRelation(relation, metadata))
    .flatMap((relation) => describeRelation(relation, { metadata, dataSource }) ?? []);
}

interface Source {
  /** The entity that is described: one that extends the relation's own, where they share a table. */
  readonly metadata: EntityMetadata;
  readonly dataSource: DataSource;
}

function describeRelation(relation: RelationMetadata, source: Source): RelationDescription | undefined {
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
      nullable: relation.isNullable && !relation.joinColumns.some((column) => column.isPrimary),
      hasDefault: relation.joinColumns.every((column) => column.default !== undefined),
      on: pairs(relation.joinColumns),
      updatable: relation.joinColumns.every((column) => column.isUpdate),
    };
  }
  const owner = relation.inverseRelation;
  if (!owner) return undefined;
  return {
    ...base,
    kind: relation.isOneToMany ? 'one-to-many' : 'reverse-one',
    on: pairs(owner.joinColumns).map(turned),
  };
}

/** near: the column that refers; far: the one that it refers to. */
function pairs(columns: readonly ColumnMetadata[]): readonly PairDescription[] {
  return columns.flatMap((column) =>
    column.referencedColumn ? [{ near: column.databaseName, far: column.referencedColumn.databaseName }] : [],
  );
}

function turned({ near, far }: PairDescription): PairDescription {
  return { near: far, far: near };
}

function describeJunction(
  relation: RelationMetadata,
  junction: EntityMetadata,
  { metadata, dataSource }: Source,
): JunctionDescription {
  const owner = relation.isManyToManyOwner ? relation : (relation.inverseRelation ?? relation);
  const [parentColumns, otherColumns] = relation.isManyToManyOwner
    ? [junction.ownerColumns, junction.inverseColumns]
    : [junction.inverseColumns, junction.ownerColumns];
  const ownerEntity = relation.isManyToManyOwner ? metadata : declaringEntity(owner);
  const mapped = dataSource.entityMetadatas.find(
    (each) => each !== junction && !each.isJunction && each.tablePath === junction.tablePath,
  );
  return {
    entity: entityIdOf(junction, dataSource),
    ...(mapped ? { mappedBy: entityIdOf(mapped, dataSource) } : {}),
    leftAlone: !junction.synchronize,
    declaredAt: `${declaringEntity(owner).targetName || declaringEntity(owner).name}.${owner.propertyPath}`,
    ownerEntity: entityIdOf(ownerEntity, dataSource),
    ownerProperty: owner.propertyPath,
    fromOwner: relation.isManyToManyOwner,
    ...(relation.inverseRelation ? { inverse: relation.inverseRelation.propertyPath } : {}),
    parent: pairs(parentColumns).map(turned),
    other: pairs(otherColumns),
  };
}
