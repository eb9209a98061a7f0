import { randomUUID } from 'node:crypto';
import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { Field } from '../../../core/schema/field.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { isAlike } from './column-values.js';
import { listensTo } from './subscriber-events.js';

/** What TypeORM would put into a column that nobody gives a value. */
interface ColumnDefault {
  readonly columnId: string;
  /** Quoted. */
  readonly name: string;
  readonly sql: string;
}

/** How an entity is written without TypeORM, and when it must not be. */
export interface DirectWriterRules {
  readonly create: boolean;
  readonly update: boolean;
  readonly defaults: readonly ColumnDefault[];
  /** Whether values that no body has given are written by TypeORM, and as they are. */
  takes(values: readonly ColumnValue[]): boolean;
  /** Values that are made in process, of columns that have none. */
  generate(given: readonly ColumnValue[]): readonly ColumnValue[];
  /** Asked for each write: subscribers may come and go while the application runs. */
  isListenedTo(): boolean;
}

/** Undefined where an entity's rows are never written plainly. Made once a resource. */
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
  const say = hasClassDefaults(metadata);
  if (say === 'all') return undefined;
  const create =
    say === 'none' &&
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
    takes: (values) =>
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

/** Called whatever entity a subscriber listens to. */
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

/** What an entity's own class has a say in: what new entities begin with, or by accessors all that is put into one. */
function hasClassDefaults(metadata: EntityMetadata): 'none' | 'new' | 'all' {
  let entity: ObjectLiteral;
  try {
    entity = metadata.create() as ObjectLiteral;
  } catch {
    // One that asks for something is made by nobody here.
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

/** A table of its own, in which every column is written as it is. */
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
  // In subqueries, tables go by such names.
  return !shared && !odd && metadata.embeddeds.length === 0 && !/^t\d+$/.test(metadata.tableName);
}

/** Whether all that is shown of a row stands in the row itself, as the database knows it. */
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

/** PostgreSQL fills what is left out by itself; on SQLite TypeORM writes the entity's defaults, and NULL. */
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
