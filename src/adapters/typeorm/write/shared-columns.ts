import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { ColumnValue } from '../../../core/query/plan.js';
import { setRelation } from './entity-values.js';
import { toKeyProperty } from './property-values.js';

/** The part of TypeORM's UPDATE builder that reads the values. */
interface UpdateBuilder {
  readonly expressionMap: {
    readonly mainAlias?: { readonly hasMetadata: boolean; readonly metadata: EntityMetadata };
    readonly whereEntities: readonly unknown[];
  };
  createUpdateExpression(): unknown;
  createPropertyPath(metadata: EntityMetadata, values: ObjectLiteral, prefix?: string): readonly string[];
}

/** An update of relations that share columns. */
export interface SharedUpdate {
  readonly metadata: EntityMetadata;
  readonly entity: ObjectLiteral;
  /** The columns of the relations that share some. */
  readonly decided: readonly ColumnValue[];
}

/** Whether a column belongs to several relations of an entity. */
export function sharesColumns({ relations }: EntityMetadata): boolean {
  const ids = relations
    .filter((relation) => relation.isWithJoinColumn)
    .flatMap(({ joinColumns }) => joinColumns.map(({ databaseName }) => databaseName));
  return new Set(ids).size < ids.length;
}

/**
 * Inserts an entity. TypeORM takes the value of a shared column without property from one of its relations, which may be the
 * empty one: meanwhile that has an object with the column alone.
 */
export async function withCarriers(
  entity: ObjectLiteral,
  { columns, relations }: EntityMetadata,
  insert: () => Promise<unknown>,
): Promise<void> {
  const replaced = new Map<RelationMetadata, unknown>();
  for (const { relationMetadata: carrier, referencedColumn, isVirtual, databaseName } of columns) {
    if (!carrier || !referencedColumn || !isVirtual) continue;
    const current = carrier.getEntityValue(entity) as unknown;
    if (current !== null && current !== undefined && !replaced.has(carrier)) continue;
    const value = valueInRelations(entity, databaseName, relations);
    if (value === undefined) continue;
    if (!replaced.has(carrier)) setRelation(entity, carrier, {});
    if (!replaced.has(carrier)) replaced.set(carrier, current);
    referencedColumn.setEntityValue(carrier.getEntityValue(entity) as ObjectLiteral, value);
  }
  await insert();
  for (const [relation, value] of replaced) setRelation(entity, relation, value);
}

/** The value of a column in a relation that is not empty. */
function valueInRelations(
  entity: ObjectLiteral,
  id: string,
  relations: readonly RelationMetadata[],
): unknown {
  for (const relation of relations) {
    const join = relation.isWithJoinColumn
      ? relation.joinColumns.find(({ databaseName }) => databaseName === id)
      : undefined;
    const related = join && (relation.getEntityValue(entity) as ObjectLiteral | null | undefined);
    const value: unknown = related ? join.referencedColumn?.getEntityValue(related) : undefined;
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/**
 * Saves with each column written once. TypeORM writes a column once for each changed relation that it belongs to, which
 * PostgreSQL rejects, and null for a column of an empty relation that others have.
 */
export async function withSharedColumns(
  manager: EntityManager,
  update: SharedUpdate,
  save: () => Promise<unknown>,
): Promise<void> {
  const createQueryBuilder = manager.createQueryBuilder.bind(manager) as (...given: unknown[]) => {
    update: (...given: unknown[]) => object;
  };
  const { metadata, entity } = update;
  // Subscribers may update other rows meanwhile.
  const isOfEntity = ({ expressionMap: { mainAlias, whereEntities } }: UpdateBuilder): boolean =>
    mainAlias?.hasMetadata === true &&
    mainAlias.metadata === metadata &&
    whereEntities.length === 1 &&
    metadata.compareEntities(whereEntities[0] as ObjectLiteral, entity);
  const watched = (...given: unknown[]): object => {
    const builder = createQueryBuilder(...given);
    const start = builder.update.bind(builder);
    builder.update = (...target) => writeOnce(start(...target), update, isOfEntity);
    return builder;
  };
  Object.assign(manager, { createQueryBuilder: watched });
  try {
    await save();
  } finally {
    delete (manager as Partial<EntityManager>).createQueryBuilder;
  }
}

/** The builder of a statement that writes each column once. */
export function writeOnce<Builder extends object>(
  given: Builder,
  update: SharedUpdate,
  isWanted: (builder: UpdateBuilder) => boolean = () => true,
): Builder {
  const { metadata } = update;
  const builder = given as UpdateBuilder;
  const create = builder.createUpdateExpression.bind(builder);
  const createPath = builder.createPropertyPath.bind(builder);
  builder.createUpdateExpression = () => {
    if (!isWanted(builder)) return create();
    const written = new Set<string>();
    const find = metadata.findColumnsWithPropertyPath.bind(metadata);
    // Synchronous: no other statement is made meanwhile.
    metadata.findColumnsWithPropertyPath = (path) =>
      find(path).map((column) => writtenColumn(column, written, update));
    builder.createPropertyPath = (of, values, prefix) =>
      createPath(of, of === metadata ? withoutObjects(values, metadata) : values, prefix);
    try {
      return create();
    } finally {
      delete (metadata as Partial<EntityMetadata>).findColumnsWithPropertyPath;
      builder.createPropertyPath = createPath;
    }
  };
  return given;
}

/** The column with its decided value, once. */
function writtenColumn(
  column: ColumnMetadata,
  written: Set<string>,
  { metadata, entity, decided }: SharedUpdate,
): ColumnMetadata {
  const given = decided.find((each) => each.column.id === column.databaseName);
  if (!given) return column;
  const isWritten = written.has(given.column.id);
  written.add(given.column.id);
  const own = metadata.columns.find(({ databaseName }) => databaseName === given.column.id) ?? column;
  // A listener may have set the property.
  const property: unknown = own.isVirtual || own.embeddedMetadata ? undefined : entity[own.propertyName];
  const value =
    property ?? (given.value === null ? null : toKeyProperty(given.value, given.column.type, column));
  return Object.create(column, {
    isUpdate: { value: column.isUpdate && !isWritten },
    getEntityValue: { value: () => value },
  }) as ColumnMetadata;
}

/** With null for related objects: their columns are found by the relation, whatever its key. */
function withoutObjects(values: ObjectLiteral, { relations }: EntityMetadata): ObjectLiteral {
  const names = new Set(
    relations.filter(({ isWithJoinColumn }) => isWithJoinColumn).map(({ propertyName }) => propertyName),
  );
  return Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [name, names.has(name) ? null : value]),
  );
}
