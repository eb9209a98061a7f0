import { randomUUID } from 'node:crypto';
import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { Field } from '../../../core/schema/field.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { isAlike } from './column-values.js';
import { listensTo } from './subscriber-events.js';

/** The default that TypeORM would write into an omitted column. */
interface ColumnDefault {
  readonly columnId: string;
  /** The quoted name of the column. */
  readonly name: string;
  readonly sql: string;
}

/** The conditions under which an entity's rows can be written without TypeORM. */
export interface DirectWriterRules {
  readonly create: boolean;
  readonly update: boolean;
  readonly defaults: readonly ColumnDefault[];
  /** Whether TypeORM would write these values, which are not part of the body, unchanged. */
  acceptsValues(values: readonly ColumnValue[]): boolean;
  /** The values that are generated in the process, for the columns without a value. */
  generate(given: readonly ColumnValue[]): readonly ColumnValue[];
  /** Evaluated for each write: subscribers may be added and removed while the application runs. */
  isListenedTo(): boolean;
}

/** The rules of a resource, built once; undefined if the entity's rows always need TypeORM. */
export function directWriterRules(
  resource: Resource,
  metadata: EntityMetadata,
  {
    dataSource,
    dialect,
    validates,
  }: { dataSource: DataSource; dialect: Dialect; validates: (target: unknown) => boolean },
): DirectWriterRules | undefined {
  if (!dialect.plainTable || !isSimpleTable(metadata) || !hasOwnRows(resource) || validates(metadata.target))
    return undefined;
  const classDefaults = hasClassDefaults(metadata);
  if (classDefaults === 'all') return undefined;
  const create =
    classDefaults === 'none' &&
    metadata.beforeInsertListeners.length + metadata.afterInsertListeners.length === 0 &&
    !metadata.versionColumn &&
    metadata.columns.every(
      (column) => !column.isGenerated || column.isPrimary || column.generationStrategy === 'uuid',
    );
  const update =
    metadata.beforeUpdateListeners.length + metadata.afterUpdateListeners.length === 0 &&
    !metadata.versionColumn &&
    !metadata.updateDateColumn;
  const { defaults, generated } = omittedColumns(resource, metadata, { dataSource, dialect });
  return {
    create: create && defaults !== undefined,
    update,
    defaults: defaults ?? [],
    acceptsValues: (values) =>
      values.every(
        ({ column }) => isAlike(column) && metadata.findColumnWithDatabaseName(column.id)?.isInsert === true,
      ),
    generate: (given) =>
      generated
        .filter((column) => !given.some((each) => each.column.id === column.id))
        .map((column) => ({ column, value: randomUUID() })),
    isListenedTo: () =>
      dataSource.subscribers.some(
        (each) => listensTo(each, metadata) || STATEMENT_HOOKS.some((hook) => each[hook] !== undefined),
      ),
  };
}

/** Subscriber methods that are called regardless of the subscriber's entity. */
const STATEMENT_HOOKS = [
  'beforeQuery',
  'afterQuery',
  'beforeTransactionStart',
  'afterTransactionStart',
  'beforeTransactionCommit',
  'afterTransactionCommit',
  'beforeTransactionRollback',
  'afterTransactionRollback',
] as const;

/**
 * Whether the entity's class sets initial values (`new`), or defines accessors that may change every assigned value
 * (`all`).
 */
function hasClassDefaults(metadata: EntityMetadata): 'none' | 'new' | 'all' {
  let entity: ObjectLiteral;
  try {
    entity = metadata.create() as ObjectLiteral;
  } catch {
    // A constructor that throws without arguments.
    return 'all';
  }
  const relations = metadata.relations.filter((relation) => !relation.isLazy);
  const names = [...metadata.columns, ...relations].map(({ propertyName }) => propertyName);
  if (
    names.some((name) => name in entity && Object.getOwnPropertyDescriptor(entity, name)?.writable !== true)
  )
    return 'all';
  return names.some((name) => entity[name] !== undefined) ? 'new' : 'none';
}

/** Whether the entity has its own table, and all columns are written unchanged. */
function isSimpleTable(metadata: EntityMetadata): boolean {
  const shared =
    metadata.tableType !== 'regular' ||
    metadata.discriminatorColumn !== undefined ||
    metadata.treeType !== undefined ||
    metadata.isJunction;
  const odd = metadata.columns.some(
    (column) =>
      column.transformer !== undefined || column.asExpression !== undefined || column.isVirtualProperty,
  );
  // Such names are aliases of subqueries.
  return !shared && !odd && metadata.embeddeds.length === 0 && !/^t\d+$/.test(metadata.tableName);
}

/** Whether all readable values of a row are stored in the row itself. */
function hasOwnRows({ fields, identity, key }: Resource): boolean {
  return (
    identity === key.columns &&
    key.via === undefined &&
    fields.every((field) => !field.readable || isOwn(field))
  );
}

function isOwn(field: Field): boolean {
  return (
    field.kind === 'column' || field.kind === 'link' || (field.kind === 'to-one' && field.relation.byKey)
  );
}

/**
 * The defaults and generated columns of an INSERT without a value for them. PostgreSQL fills them itself; on SQLite
 * TypeORM writes the entity's defaults, and NULL.
 */
function omittedColumns(
  resource: Resource,
  metadata: EntityMetadata,
  { dataSource, dialect }: { dataSource: DataSource; dialect: Dialect },
): {
  readonly defaults: readonly ColumnDefault[] | undefined;
  readonly generated: readonly ColumnValue['column'][];
} {
  if (!dialect.oneConnection) return { defaults: [], generated: [] };
  const columns = metadata.columns.filter((column) => column.isInsert);
  const made = columns.filter((column) => column.isGenerated && column.generationStrategy === 'uuid');
  const generated = made.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []);
  const defaults = columns
    .filter((column) => !made.includes(column))
    .map((column) => ({
      columnId: column.databaseName,
      name: dataSource.driver.escape(column.databaseName),
      sql:
        column.default === undefined || column.default === null
          ? 'NULL'
          : dataSource.driver.normalizeDefault(column),
    }));
  const known = defaults.filter((each): each is ColumnDefault => each.sql !== undefined);
  return {
    defaults: known.length === defaults.length && generated.length === made.length ? known : undefined,
    generated,
  };
}
