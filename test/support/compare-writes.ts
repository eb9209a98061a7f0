import type { EntityMetadata, QueryRunner } from 'typeorm';
import {
  applyValues,
  highPrecisionValues,
  identityOf,
  setColumns,
} from '../../src/adapters/typeorm/write/entity-values.js';
import { DirectWriter } from '../../src/adapters/typeorm/write/direct-writer.js';
import type { WriterTools } from '../../src/adapters/typeorm/write/row-writer.js';
import type { Json } from '../../src/core/errors/rest-exception.js';
import { equals, allOf } from '../../src/core/query/condition.js';
import type { CreatePlan } from '../../src/core/query/plan.js';
import type { Resource } from '../../src/core/schema/resource.js';
import type { Row } from '../../src/core/contracts/serializer.js';
import { comparisonOf } from './comparison.js';
import type { Comparison } from './comparison.js';

const fast = {
  create: Object.getOwnPropertyDescriptor(DirectWriter.prototype, 'create')?.value as DirectWriter['create'],
  execute: Object.getOwnPropertyDescriptor(DirectWriter.prototype, 'execute')?.value as (
    this: DirectWriter,
    ...given: readonly unknown[]
  ) => Promise<Row | undefined>,
};

type Inside = {
  readonly resource: Resource;
  readonly metadata: EntityMetadata;
  readonly tools: WriterTools;
  mayWrite(plan: CreatePlan, operation: 'create'): Promise<boolean>;
};
type Stored = Readonly<Record<string, unknown>>;

/** Thrown to roll back a write after inspection. */
class TakenBack extends Error {}

/** The row that TypeORM would store, rolled back again; undefined if it stores none. */
async function storedByTypeOrm(inside: Inside, plan: CreatePlan): Promise<Stored | undefined> {
  const { resource, metadata, tools } = inside;
  const { referenced } = await tools.lookups.lookUp(plan.keys);
  const entity = metadata.create() as Record<string, unknown>;
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
  return stored;
}

/** Restores sequences, which PostgreSQL does not roll back. */
async function takeSequenceBack(
  { metadata, tools }: Inside,
  [id]: readonly Json[],
  runner: QueryRunner,
): Promise<void> {
  const column = metadata.primaryColumns.find((each) => each.generationStrategy === 'increment');
  if (tools.dialect.oneConnection || !column) return;
  await runner.query('SELECT setval(pg_get_serial_sequence($1, $2), $3::bigint, false)', [
    tools.tables.pathOf(metadata),
    column.databaseName,
    id,
  ]);
}

async function storedRow(
  { resource, metadata, tools }: Inside,
  identity: readonly Json[],
  runner: QueryRunner,
): Promise<Stored | undefined> {
  const { dialect } = tools;
  const table = tools.tables.of(resource);
  const quote = (name: string): string => table.dataSource.driver.escape(name);
  // The stored bytes, and on SQLite their storage class.
  const columns = metadata.columns.map(({ databaseName }) =>
    dialect.oneConnection
      ? `typeof(${quote(databaseName)}) || ' ' || quote(${quote(databaseName)}) AS ${quote(databaseName)}`
      : `${quote(databaseName)}::text AS ${quote(databaseName)}`,
  );
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

/** Generated values are compared unless they depend on time or randomness. */
function isComparable(metadata: EntityMetadata, given: ReadonlySet<string>, name: string): boolean {
  const column = metadata.columns.find((each) => each.databaseName === name);
  return (
    column !== undefined && !column.isGenerated && (given.has(name) || typeof column.default !== 'function')
  );
}

/** In an application with comparison, a row created by a direct INSERT must equal the row that TypeORM would store. */
DirectWriter.prototype.create = function (this: DirectWriter, plan) {
  const inside = this as unknown as Inside;
  const comparison = comparisonFor(inside);
  return comparison ? comparedCreate(this, comparison, plan) : fast.create.call(this, plan);
};

async function comparedCreate(writer: DirectWriter, comparison: Comparison, plan: CreatePlan): Promise<Row> {
  const inside = writer as unknown as Inside;
  const before = comparison.created + comparison.changed;
  const expected = (await inside.mayWrite(plan, 'create')) ? await storedByTypeOrm(inside, plan) : undefined;
  const row = await fast.create.call(writer, plan);
  if (comparison.created + comparison.changed === before || !expected) return row;
  comparison.created++;
  const stored = await inside.tools.connections.reading('primary', (runner) =>
    storedRow(inside, row.key, runner),
  );
  const given = new Set([...plan.values.keys()].flatMap((name) => columnNames(inside.resource, name)));
  // The general path writes it in a second statement of the adapter.
  const finer = new Set(
    highPrecisionValues(plan.values, inside.resource, { change: false, loses: () => false }).map(
      ({ column }) => column.id,
    ),
  );
  for (const name of Object.keys(expected)) {
    if (!finer.has(name) && isComparable(inside.metadata, given, name) && stored?.[name] !== expected[name])
      comparison.report(
        `${inside.resource.label}.${name} is written as ${String(stored?.[name])}, and by TypeORM as ${String(expected[name])}`,
      );
  }
  return row;
}

function comparisonFor({ tools, resource }: Inside): Comparison | undefined {
  return comparisonOf(tools.tables.of(resource).dataSource);
}

function columnNames(resource: Resource, name: string): readonly string[] {
  const field = resource.fieldsByName.get(name);
  if (field?.kind === 'column') return [field.column.id];
  return field?.kind === 'to-one' ? field.relation.on.map(({ near }) => near.id) : [];
}

/** The row from RETURNING must equal the row that is read. */
Object.defineProperty(DirectWriter.prototype, 'execute', {
  value: function (this: DirectWriter, ...given: readonly unknown[]) {
    const comparison = comparisonFor(this as unknown as Inside);
    return comparison ? comparedRow(this, comparison, given) : fast.execute.call(this, ...given);
  },
  writable: true,
  configurable: true,
});

async function comparedRow(
  writer: DirectWriter,
  comparison: Comparison,
  given: readonly unknown[],
): Promise<Row | undefined> {
  const row = await fast.execute.call(writer, ...given);
  if (!row) return row;
  const { tools, resource } = writer as unknown as Inside;
  comparison.changed++;
  const read = await tools.connections.reading('primary', (runner) =>
    tools.reader.retrieveWithin(
      allOf(resource.identity.map((column, index) => equals(column, row.key[index] ?? null))),
      runner,
    ),
  );
  if (JSON.stringify(read) !== JSON.stringify(row))
    comparison.report(
      `The statement returns\n${JSON.stringify(row)}\nand the table holds\n${JSON.stringify(read)}`,
    );
  return row;
}
