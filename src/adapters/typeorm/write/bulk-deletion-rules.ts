import type { DataSource, EntityMetadata } from 'typeorm';
import type { DeletePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { WriterTools } from './row-writer.js';
import { listensTo } from './subscriber-events.js';
import { UndeclaredPairs } from './undeclared-pairs.js';

/** Whether one statement deletes these rows as one statement for each of them would. */
export async function mayDeleteTogether(
  plans: readonly DeletePlan[],
  resource: ResourceSchema,
  tools: WriterTools,
): Promise<boolean> {
  const { metadata, dataSource } = tools.tables.of(resource);
  return (
    plans.every(({ hooks, expected }) => !hooks.before && !hooks.after && !expected) &&
    !isListenedTo(metadata, dataSource) &&
    (await isPlain(resource, tools))
  );
}

/** Evaluated for each request: subscribers may be added and removed while the application runs. */
function isListenedTo(metadata: EntityMetadata, { subscribers }: DataSource): boolean {
  return subscribers.some(
    (each) => listensTo(each, metadata) && ROW_EVENTS.some((event) => each[event] !== undefined),
  );
}

/** The events of a deletion that need the entity of each row. */
const ROW_EVENTS = [
  'afterLoad',
  'beforeRemove',
  'afterRemove',
  'beforeSoftRemove',
  'afterSoftRemove',
] as const;

const LISTENERS: ReadonlySet<string> = new Set([
  'after-load',
  'before-remove',
  'after-remove',
  'before-soft-remove',
  'after-soft-remove',
]);

/** By the metadata of a data source, which the writers of all views of a table share. */
const PLAIN = new WeakMap<EntityMetadata, Promise<boolean>>();

/** Whether neither the entity nor the table does something for each row. Determined at the first deletion of many rows. */
function isPlain(resource: ResourceSchema, tools: WriterTools): Promise<boolean> {
  const { metadata } = tools.tables.of(resource);
  const known = PLAIN.get(metadata);
  if (known) return known;
  const found = isPlainEntity(resource, tools) ? isPlainTable(metadata, tools) : Promise.resolve(false);
  PLAIN.set(metadata, found);
  return found.catch((error: unknown) => {
    PLAIN.delete(metadata);
    throw error;
  });
}

/** A stored key that its transformer does not make is that of no entity: TypeORM's statements would find another row by it. */
function isPlainEntity(resource: ResourceSchema, tools: WriterTools): boolean {
  const { metadata } = tools.tables.of(resource);
  return (
    (metadata.tableType === 'regular' || metadata.isJunction) &&
    metadata.discriminatorColumn === undefined &&
    metadata.treeType === undefined &&
    !metadata.listeners.some(({ type }) => LISTENERS.has(type)) &&
    !metadata.primaryColumns.some(({ transformer }) => transformer !== undefined) &&
    !new UndeclaredPairs(resource, tools).exist()
  );
}

async function isPlainTable(
  metadata: EntityMetadata,
  { dialect, connections, tables }: WriterTools,
): Promise<boolean> {
  const { tableName: name, database, deleteDateColumn } = metadata;
  const table = { path: tables.pathOf(metadata), name, database };
  const statement = dialect.changesAlike(table, deleteDateColumn ? 'update' : 'delete');
  const [record] = await connections.read(statement, 'primary');
  return Number(record?.[0] ?? 0) === 1;
}
