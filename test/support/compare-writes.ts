import { DirectExecution } from '../../src/adapters/typeorm/write/direct-execution.js';
import { DirectWriter } from '../../src/adapters/typeorm/write/direct-writer.js';
import { createEntity } from '../../src/adapters/typeorm/write/entity-values.js';
import { EntityStatements } from '../../src/adapters/typeorm/write/entity-statements.js';
import { LockedUpdate } from '../../src/adapters/typeorm/write/locked-update.js';
import { highPrecisionValues } from '../../src/adapters/typeorm/write/precise-values.js';
import { conjunction, equals } from '../../src/core/query/condition.js';
import type { CreatePlan, UpdatePlan } from '../../src/core/query/plan.js';
import type { Resource } from '../../src/core/schema/resource.js';
import type { Row } from '../../src/core/contracts/serializer.js';
import { comparisonOf } from './comparison.js';
import type { Comparison } from './comparison.js';
import {
  insertedByTypeOrm,
  isRepeatable,
  isSameUpdate,
  storedRow,
  updatedByTypeOrm,
} from './writes-by-typeorm.js';
import type { DirectWriterInside, Stored } from './writes-by-typeorm.js';

const fast = {
  create: Object.getOwnPropertyDescriptor(DirectWriter.prototype, 'create')?.value as DirectWriter['create'],
  update: Object.getOwnPropertyDescriptor(DirectWriter.prototype, 'update')?.value as DirectWriter['update'],
  execute: Object.getOwnPropertyDescriptor(DirectExecution.prototype, 'execute')
    ?.value as DirectExecution['execute'],
};

/** In an application with comparison, a row created by a direct INSERT must equal the row that TypeORM would store. */
DirectWriter.prototype.create = function (this: DirectWriter, plan) {
  const comparison = comparisonOfWriter(insideOf(this));
  return comparison ? comparedCreate(this, comparison, plan) : fast.create.call(this, plan);
};

/** Likewise a row changed by a direct UPDATE. */
DirectWriter.prototype.update = function (this: DirectWriter, plan) {
  const comparison = comparisonOfWriter(insideOf(this));
  return comparison ? comparedUpdate(this, comparison, plan) : fast.update.call(this, plan);
};

async function comparedCreate(writer: DirectWriter, comparison: Comparison, plan: CreatePlan): Promise<Row> {
  const inside = insideOf(writer);
  const before = comparison.created + comparison.changed + comparison.loaded;
  const { lane } = await inside.tools.choices.choose(plan);
  const isCompared = lane === 'direct' || (lane === 'loaded' && isRepeatable(plan));
  const expected = isCompared ? await insertedByTypeOrm(inside, plan) : undefined;
  const row = await fast.create.call(writer, plan);
  if (comparison.created + comparison.changed + comparison.loaded === before || !expected) return row;
  if (lane === 'direct') comparison.created++;
  const stored = await storedNow(inside, row);
  const given = new Set([...plan.values.keys()].flatMap((name) => columnNames(inside.resource, name)));
  // The general path writes it in a second statement of the adapter.
  const finer = new Set(
    highPrecisionValues(plan.values, inside.resource, { change: false, loses: () => false }).map(
      ({ column }) => column.id,
    ),
  );
  for (const name of Object.keys(expected)) {
    if (
      !finer.has(name) &&
      (given.has(name) || !isInitialized(inside, name)) &&
      isComparable(inside, given, name) &&
      stored?.[name] !== expected[name]
    )
      comparison.report(differenceOf(inside, { name, stored, expected }));
  }
  return row;
}

/** Concurrent writes are not compared: the other one may have changed the row in between. */
async function comparedUpdate(
  writer: DirectWriter,
  comparison: Comparison,
  plan: UpdatePlan,
): Promise<Row | undefined> {
  const inside = insideOf(writer);
  const started = ++comparison.updates;
  const changed = comparison.changed + comparison.loaded;
  const expected = await updatedByTypeOrm(inside, plan, (difference) => comparison.report(difference));
  const row = await fast.update.call(writer, plan);
  const isAlone = comparison.updates === started && comparison.changed + comparison.loaded === changed + 1;
  if (!row || !expected || !isAlone) return row;
  const stored = await storedNow(inside, row);
  for (const name of Object.keys(expected.stored))
    if (!isSameUpdate(inside, name, { ...expected, actual: stored }))
      comparison.report(differenceOf(inside, { name, stored, expected: expected.stored }));
  if (expected.isLoaded !== true) comparison.compared++;
  return row;
}

function differenceOf(
  { resource }: DirectWriterInside,
  { name, stored, expected }: { name: string; stored: Stored | undefined; expected: Stored },
): string {
  return `${resource.className}.${name} is written as ${String(stored?.[name])}, and by TypeORM as ${String(expected[name])}`;
}

/** Whether the class gives each new entity a value, which may be another one for each. */
function isInitialized({ metadata }: DirectWriterInside, name: string): boolean {
  const column = metadata.columns.find((each) => each.databaseName === name);
  return column?.getEntityValue(createEntity(metadata)) !== undefined;
}

/** Generated values are compared unless they depend on time or randomness. */
function isComparable({ metadata }: DirectWriterInside, given: ReadonlySet<string>, name: string): boolean {
  const column = metadata.columns.find((each) => each.databaseName === name);
  return (
    column !== undefined && !column.isGenerated && (given.has(name) || typeof column.default !== 'function')
  );
}

function insideOf(writer: DirectWriter | DirectExecution): DirectWriterInside {
  return writer as unknown as DirectWriterInside;
}

function comparisonOfWriter({ tools, resource }: DirectWriterInside): Comparison | undefined {
  return comparisonOf(tools.tables.of(resource).dataSource);
}

function columnNames(resource: Resource, name: string): readonly string[] {
  const field = resource.fieldsByName.get(name);
  if (field?.kind === 'column') return [field.column.id];
  return field?.kind === 'to-one' ? field.relation.on.map(({ localColumn }) => localColumn.id) : [];
}

function storedNow(inside: DirectWriterInside, row: Row): Promise<Stored | undefined> {
  return inside.tools.connections.reading('primary', (runner) => storedRow(inside, row.key, runner));
}

/** The row from RETURNING must equal the row that is read. */
DirectExecution.prototype.execute = function (this: DirectExecution, ...given) {
  const comparison = comparisonOfWriter(insideOf(this));
  return comparison ? compareWrittenRow(this, comparison, given) : fast.execute.apply(this, given);
};

/** The same without the comparison of the two rows: it is read. */
const lockedUpdate = Object.getOwnPropertyDescriptor(LockedUpdate.prototype, 'execute')
  ?.value as LockedUpdate['execute'];
LockedUpdate.prototype.execute = async function (this: LockedUpdate, ...given) {
  const row = await lockedUpdate.apply(this, given);
  const comparison = comparisonOfWriter(this as unknown as DirectWriterInside);
  if (row && comparison) comparison.changed++;
  return row;
};

/** The same for the statements of entities. */
for (const name of ['insert', 'update'] as const) {
  const write = Object.getOwnPropertyDescriptor(EntityStatements.prototype, name)?.value as (
    this: EntityStatements,
    ...given: unknown[]
  ) => Promise<object | undefined>;
  Object.defineProperty(EntityStatements.prototype, name, {
    value: async function (this: EntityStatements, ...given: unknown[]) {
      const written = await write.apply(this, given);
      const comparison = comparisonOfWriter(this as unknown as DirectWriterInside);
      if (written && comparison) comparison.loaded++;
      return written;
    },
    writable: true,
    configurable: true,
  });
}

async function compareWrittenRow(
  writer: DirectExecution,
  comparison: Comparison,
  given: Parameters<DirectExecution['execute']>,
): Promise<Row | undefined> {
  const row = await fast.execute.apply(writer, given);
  if (!row) return row;
  const { tools, resource } = insideOf(writer);
  comparison.changed++;
  const read = await tools.connections.reading('primary', (runner) =>
    tools.reader.retrieveWithin(
      conjunction(resource.identity.map((column, index) => equals(column, row.key[index] ?? null))),
      runner,
    ),
  );
  if (JSON.stringify(read) !== JSON.stringify(row))
    comparison.report(
      `The statement returns\n${JSON.stringify(row)}\nand the table holds\n${JSON.stringify(read)}`,
    );
  return row;
}
