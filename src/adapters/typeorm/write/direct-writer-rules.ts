import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { isStoredAlike } from './column-values.js';
import { createEntity } from './entity-values.js';
import { insertRules } from './insert-rules.js';
import type { InsertRules } from './insert-rules.js';
import { KeyColumns } from './key-columns.js';
import { listensTo } from './subscriber-events.js';
import { updateRules } from './update-rules.js';
import type { UpdateRules } from './update-rules.js';

/** The conditions under which an entity's rows can be written without TypeORM. */
export interface DirectWriterRules {
  /** The ids of the columns that TypeORM and `encode` write identically. */
  readonly alike: ReadonlySet<string>;
  /** Undefined if TypeORM has to write new rows. */
  readonly create: InsertRules | undefined;
  /** The ids of the columns of relations that share one. */
  readonly overlapping: ReadonlySet<string>;
  /** Undefined if TypeORM has to update rows. */
  readonly update: UpdateRules | undefined;
  /** Evaluated for each write: subscribers may be added and removed while the application runs. */
  isListenedTo(): boolean;
}

/** The rules of a resource, built once; undefined if the entity's rows always need TypeORM. */
export function directWriterRules(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  { dataSource, dialect }: { dataSource: DataSource; dialect: Dialect },
): DirectWriterRules | undefined {
  if (!dialect.returning || !isSimpleTable(metadata) || !hasOwnRows(resource)) return undefined;
  const classDefaults = hasClassDefaults(metadata);
  if (classDefaults === 'all') return undefined;
  const alike = new Set(
    metadata.columns.flatMap((each) => {
      const column = resource.columns.get(each.databaseName);
      return column && isStoredAlike(column, each) ? column.id : [];
    }),
  );
  const context = { dataSource, dialect, alike };
  const overlapping = KeyColumns.of(resource, metadata)?.overlapping ?? [];
  return {
    alike,
    overlapping: new Set(overlapping.map(({ id }) => id)),
    create: classDefaults === 'none' ? insertRules(resource, metadata, context) : undefined,
    update: updateRules(resource, metadata, context),
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
    entity = createEntity(metadata);
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
function hasOwnRows({ fields, identity, key }: ResourceSchema): boolean {
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
