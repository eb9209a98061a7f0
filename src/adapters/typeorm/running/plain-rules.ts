import { randomUUID } from 'node:crypto';
import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnValue } from '../../../model/plan.js';
import type { Field } from '../../../model/field.js';
import type { Resource } from '../../../model/resource.js';
import type { Dialect } from '../dialects/dialect.js';
import { listensTo } from './listens-to.js';

/** What TypeORM would put into a column that nobody gives a value. */
interface ColumnDefault {
  readonly columnId: string;
  /** Quoted. */
  readonly name: string;
  readonly sql: string;
}

/** How an entity is written without TypeORM, and when it must not be. */
export interface PlainRules {
  readonly create: boolean;
  readonly update: boolean;
  readonly defaults: readonly ColumnDefault[];
  /** Values that are made in process, of columns that have none. */
  generate(given: readonly ColumnValue[]): readonly ColumnValue[];
  /** Asked for each write: subscribers may come and go while the application runs. */
  isListenedTo(): boolean;
}

/** Undefined where an entity's rows are never written plainly. Made once a resource. */
export function plainRules(resource: Resource, metadata: EntityMetadata, { dataSource, dialect, validates }: { dataSource: DataSource; dialect: Dialect; validates: (target: unknown) => boolean }): PlainRules | undefined {
  if (!dialect.plainTable || !isPlainTable(metadata) || !hasOwnRows(resource) || validates(metadata.target)) return undefined;
  const create = metadata.beforeInsertListeners.length + metadata.afterInsertListeners.length === 0 && !metadata.versionColumn && metadata.columns.every((column) => !column.isGenerated || column.isPrimary || column.generationStrategy === 'uuid');
  const update = metadata.beforeUpdateListeners.length + metadata.afterUpdateListeners.length === 0 && !metadata.versionColumn && !metadata.updateDateColumn;
  const { defaults, generated } = unsaid(resource, metadata, { dataSource, dialect });
  return {
    create: create && defaults !== undefined,
    update,
    defaults: defaults ?? [],
    generate: (given) => generated.filter((column) => !given.some((each) => each.column.id === column.id)).map((column) => ({ column, value: randomUUID() })),
    isListenedTo: () => dataSource.subscribers.some((each) => listensTo(each, metadata) || STATEMENT_HOOKS.some((hook) => each[hook] !== undefined)),
  };
}

/** Called whatever entity a subscriber listens to. */
const STATEMENT_HOOKS = ['beforeQuery', 'afterQuery', 'beforeTransactionStart', 'afterTransactionStart', 'beforeTransactionCommit', 'afterTransactionCommit', 'beforeTransactionRollback', 'afterTransactionRollback'] as const;

/** A table of its own, in which every column is written as it is. */
function isPlainTable(metadata: EntityMetadata): boolean {
  const shared = metadata.tableType !== 'regular' || metadata.discriminatorColumn !== undefined || metadata.treeType !== undefined || metadata.isJunction;
  const odd = metadata.columns.some((column) => column.transformer !== undefined || column.asExpression !== undefined || column.isVirtualProperty);
  // In subqueries, tables go by such names.
  return !shared && !odd && metadata.embeddeds.length === 0 && !/^t\d+$/.test(metadata.tableName);
}

/** Whether all that is shown of a row stands in the row itself, as the database knows it. */
function hasOwnRows({ fields, identity, key }: Resource): boolean {
  return identity === key.columns && key.via === undefined && fields.every((field) => !field.readable || isOwn(field));
}

function isOwn(field: Field): boolean {
  return field.kind === 'column' || field.kind === 'link' || (field.kind === 'to-one' && field.relation.byKey);
}

/** PostgreSQL fills what is left out by itself; on SQLite TypeORM writes the entity's defaults, and NULL. */
function unsaid(resource: Resource, metadata: EntityMetadata, { dataSource, dialect }: { dataSource: DataSource; dialect: Dialect }): { readonly defaults: readonly ColumnDefault[] | undefined; readonly generated: readonly ColumnValue['column'][] } {
  if (!dialect.oneConnection) return { defaults: [], generated: [] };
  const columns = metadata.columns.filter((column) => column.isInsert);
  const made = columns.filter((column) => column.isGenerated && column.generationStrategy === 'uuid');
  const generated = made.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []);
  const defaults = columns
    .filter((column) => !made.includes(column))
    .map((column) => ({
      columnId: column.databaseName,
      name: dataSource.driver.escape(column.databaseName),
      sql: column.default === undefined || column.default === null ? 'NULL' : dataSource.driver.normalizeDefault(column),
    }));
  const known = defaults.filter((each): each is ColumnDefault => each.sql !== undefined);
  return { defaults: known.length === defaults.length && generated.length === made.length ? known : undefined, generated };
}
