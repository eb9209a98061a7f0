import { isDeepStrictEqual } from 'node:util';
import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { DirectStatements } from '../../src/adapters/typeorm/write/direct-statements.js';
import type { DirectWriterParts } from '../../src/adapters/typeorm/write/direct-writer.js';
import {
  applyValues,
  createEntity,
  identityOf,
  setColumns,
} from '../../src/adapters/typeorm/write/entity-values.js';
import { EntityWriter } from '../../src/adapters/typeorm/write/entity-writer.js';
import type { LoadedEntities } from '../../src/adapters/typeorm/write/loaded-entities.js';
import type { WriterTools } from '../../src/adapters/typeorm/write/row-writer.js';
import { selectForUpdate } from '../../src/adapters/typeorm/write/row-locks.js';
import { StoredRows } from '../../src/adapters/typeorm/write/stored-rows.js';
import { inTransaction } from '../../src/adapters/typeorm/write/row-writer.js';
import type { Json } from '../../src/core/errors/rest-exception.js';
import type { CreatePlan, UpdatePlan } from '../../src/core/query/plan.js';
import { isBySql } from '../../src/execution/choose-write.js';
import type { Resource } from '../../src/core/schema/resource.js';

/** The private parts of a `DirectWriter` that are compared. */
export interface DirectWriterInside {
  readonly resource: Resource;
  readonly metadata: EntityMetadata;
  readonly tools: WriterTools;
  readonly parts: DirectWriterParts;
  readonly statements: DirectStatements;
  readonly storedRows: StoredRows | undefined;
}

/** The stored bytes of each column, and on SQLite their storage class. */
export type Stored = Readonly<Record<string, unknown>>;

export interface UpdatedRow {
  /** Whether statements that load the entity have changed it, and not one alone. */
  readonly isLoaded?: boolean;
  readonly before: Stored;
  readonly stored: Stored;
}

/** Thrown to roll back a write after inspection. */
class TakenBack extends Error {}

/** Whether no code of the application runs for the write, which a second one would call again. */
export function isRepeatable({ hooks, pairs }: Pick<CreatePlan, 'hooks' | 'pairs'>): boolean {
  return !hooks.before && !hooks.after && !pairs;
}

/** The row that TypeORM would store, rolled back again; undefined if it stores none. */
export async function insertedByTypeOrm(
  inside: DirectWriterInside,
  plan: CreatePlan,
): Promise<Stored | undefined> {
  const { resource, metadata, tools } = inside;
  const { referenced } = await tools.lookups.lookUp(plan.keys);
  const entity = createEntity(metadata);
  applyValues(entity, { resource, metadata }, { values: plan.values, referenced });
  setColumns(entity, metadata, [...plan.fixed, ...plan.added]);
  let stored: Stored | undefined;
  await tools.connections
    .transact(async (runner) => {
      await runner.manager.createQueryBuilder().insert().into(metadata.target).values(entity).execute();
      const identity = identityOf(entity, resource, metadata);
      stored = await storedRow(inside, identity, runner);
      await takeSequenceBack(inside, identity, runner);
      throw new TakenBack();
    })
    .catch(() => undefined);
  if (stored) await takeCounterBack(inside, identityOf(entity, resource, metadata));
  return stored;
}

/**
 * The row before and after an update by the general writer, rolled back again; undefined if it updates none. Reports an
 * entity for validators that differs from the one that TypeORM loads.
 */
export async function updatedByTypeOrm(
  inside: DirectWriterInside,
  plan: UpdatePlan,
  report: (difference: string) => never,
): Promise<UpdatedRow | undefined> {
  const { tools } = inside;
  const choice = await tools.choices.choose(plan);
  const isDirect = isBySql(choice) && choice.lane !== 'loaded';
  const written = isDirect ? inside.statements.changesOf(plan) : choice;
  if ('lane' in written && (written.lane !== 'loaded' || !isRepeatable(plan))) return undefined;
  let key: readonly Json[] | undefined;
  let stored: Stored | undefined;
  let difference: string | undefined;
  await tools.connections
    .transact(async (runner) => {
      difference = await entityDifference(inside, plan, runner);
      const general = new EntityWriter(inside.resource, tools);
      const row = await inTransaction(general.prepareUpdate({ ...plan, completed: undefined }), runner);
      key = row?.key;
      stored = key && (await storedRow(inside, key, runner));
      throw new TakenBack();
    })
    .catch(() => undefined);
  if (difference !== undefined) report(difference);
  const identity = key;
  const before =
    identity && (await tools.connections.reading('primary', (runner) => storedRow(inside, identity, runner)));
  return before && stored && { before, stored, isLoaded: 'lane' in written };
}

/** Undefined if the entity of a stored row equals the one that TypeORM loads, also in the order of its properties. */
async function entityDifference(
  { tools, parts, resource, ...inside }: DirectWriterInside,
  { where }: UpdatePlan,
  runner: QueryRunner,
): Promise<string | undefined> {
  const storedRows = inside.storedRows ?? StoredRows.of(resource, tools);
  // Another request may change the row between the two reads.
  await selectForUpdate(resource, { columns: resource.identity, where }, { runner, tools });
  const [record] = storedRows ? await tools.connections.records(runner, storedRows.select(where)) : [];
  const row = record && storedRows?.read(record);
  if (!row) return undefined;
  const { entities } = parts.general as unknown as { readonly entities: LoadedEntities };
  const { metadata } = tools.tables.of(resource);
  const loaded = await entities.load(identityOf(row.entity, resource, metadata), runner);
  return isDeepStrictEqual(loaded, row.entity) && isDeepStrictEqual(namesOf(loaded), namesOf(row.entity))
    ? undefined
    : `Validators see ${JSON.stringify(row.entity)} of ${resource.className}, and TypeORM loads ${JSON.stringify(loaded)}`;
}

function namesOf(entity: ObjectLiteral | null): readonly string[] {
  return Object.keys(entity ?? {});
}

/**
 * Whether a column has the value that the general writer has stored. The date of an update depends on the time: whether
 * it has changed is compared, if the clock of the database shows it.
 */
export function isSameUpdate(
  { metadata }: DirectWriterInside,
  name: string,
  { before, stored, actual }: UpdatedRow & { readonly actual: Stored | undefined },
): boolean {
  if (metadata.updateDateColumn?.databaseName !== name) return actual?.[name] === stored[name];
  const hasChanged = (row: Stored | undefined): boolean => row?.[name] !== before[name];
  return hasChanged(stored) === hasChanged(actual) || isRecent(before[name]);
}

const QUARTER_HOUR = 15 * 60 * 1000;
const CLOCK_TICK = 5000;

/** Whether a date-time in any time zone may be that of the last seconds. */
function isRecent(stored: unknown): boolean {
  const [, day, time] = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)/.exec(String(stored)) ?? [];
  const age = Math.abs(Date.now() - Date.parse(`${day ?? ''}T${time ?? ''}Z`)) % QUARTER_HOUR;
  return age < CLOCK_TICK || age > QUARTER_HOUR - CLOCK_TICK;
}

/** Restores sequences, which PostgreSQL does not roll back, unless a concurrent request has taken a later key. */
async function takeSequenceBack(
  { metadata, tools }: DirectWriterInside,
  [id]: readonly Json[],
  runner: QueryRunner,
): Promise<void> {
  const column = metadata.primaryColumns.find((each) => each.generationStrategy === 'increment');
  if (tools.dialect.oneConnection || isMariadb(tools) || !column) return;
  await runner.query(
    'SELECT setval(s, $3::bigint, false) FROM pg_get_serial_sequence($1, $2) s WHERE pg_sequence_last_value(s::regclass) = $3::bigint',
    [tools.tables.pathOf(metadata), column.databaseName, id],
  );
}

/** Likewise the counter of a table of MariaDB, which is that of its rows again, unless another transaction has a lock on it. */
async function takeCounterBack(
  { metadata, tools }: DirectWriterInside,
  [id]: readonly Json[],
): Promise<void> {
  const column = metadata.primaryColumns.find((each) => each.generationStrategy === 'increment');
  if (!isMariadb(tools) || !column) return;
  const sql = `SET STATEMENT lock_wait_timeout=1 FOR ALTER TABLE ${tools.tables.pathOf(metadata)} AUTO_INCREMENT=${String(id)}`;
  await tools.connections.reading('primary', (runner) => runner.query(sql)).catch(() => undefined);
}

function isMariadb({ dialect }: WriterTools): boolean {
  return dialect.inserting?.showsTriggers === false;
}

export async function storedRow(
  { resource, metadata, tools }: DirectWriterInside,
  identity: readonly Json[],
  runner: QueryRunner,
): Promise<Stored | undefined> {
  const { dialect } = tools;
  const table = tools.tables.of(resource);
  const quote = (name: string): string => table.dataSource.driver.escape(name);
  const columns = metadata.columns.map(({ databaseName }) => {
    const name = quote(databaseName);
    if (isMariadb(tools)) return `TO_BASE64(${name}) AS ${name}`;
    return dialect.oneConnection
      ? `typeof(${name}) || ' ' || quote(${name}) AS ${name}`
      : `${name}::text AS ${name}`;
  });
  const where = resource.identity.map(
    (column, index) =>
      `${table.name(column)} = ${dialect.parameter(dialect.placeholder(index + 1), column.type)}`,
  );
  const [row] = (await runner.query(
    `SELECT ${columns.join(', ')} FROM ${table.path} WHERE ${where.join(' AND ')}`,
    identity.map((value, index) =>
      dialect.encode(value, resource.identity[index]?.type ?? { kind: 'string', trim: false }),
    ),
  )) as readonly Stored[];
  return row;
}
