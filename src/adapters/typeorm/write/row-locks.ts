import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import { touches } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Expectation } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { DataType } from '../../../core/schema/data-type.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { lockOf, Scope, decodeRecord, readColumns, selectList } from '../../../sql/query-scope.js';
import type { WriterTools } from './row-writer.js';

interface RowToWrite {
  readonly columns: readonly Column[];
  readonly where: Condition;
  readonly expected?: Expectation | undefined;
}

interface Transaction {
  readonly runner: QueryRunner;
  readonly tools: WriterTools;
}

/**
 * Reads columns of the row before it is written, and locks it if the database has row locks. Undefined if no row
 * matches, or it does not meet the expectation.
 */
export async function selectForUpdate(
  resource: ResourceSchema,
  { columns, where, expected }: RowToWrite,
  { runner, tools }: Transaction,
): Promise<readonly Json[] | undefined> {
  const scope = Scope.begin(tools.dialect, tools.tables, resource);
  const list = selectList(readColumns(columns, scope));
  const condition = compileWhere(where, scope);
  const from = scope.from();
  const lock = lockOf(scope, from);
  const [record] = await tools.connections.records(runner, {
    sql: `SELECT ${list} FROM ${from} WHERE ${condition}${lock}`,
    parameters: scope.parameters,
  });
  if (!record || (expected && !(await meetsExpectation(expected, where, { runner, tools }))))
    return undefined;
  return decodeRecord(record, columns, tools.dialect);
}

/** As `selectForUpdate`, for a deletion: no condition is checked after it, as one is after a change. */
export async function selectForDeletion(
  resource: ResourceSchema,
  row: RowToWrite,
  transaction: Transaction,
): Promise<readonly Json[] | undefined> {
  const found = await selectForUpdate(resource, row, transaction);
  const isStale = found && !row.expected && mayReadStaleRows(row.where, transaction.tools.dialect);
  return isStale ? selectForUpdate(resource, row, transaction) : found;
}

/**
 * Whether a statement that has waited for the lock of a row may have compared rows of other tables as they were before: the next
 * one reads them as they are.
 */
export function mayReadStaleRows(where: Condition, { lockNamesTable }: Dialect): boolean {
  return lockNamesTable && touches(where, () => false);
}

/**
 * Whether the expectation holds for the locked row. It is read with a lock too, because the snapshot may be older than
 * the first lock if a condition has read other rows before.
 */
export async function meetsExpectation(
  { resource, holds }: Expectation,
  where: Condition,
  { runner, tools }: Transaction,
): Promise<boolean> {
  const row = await tools.readerOf(resource).retrieveLocked(where, runner);
  return row !== undefined && holds(row);
}

type Place = readonly (readonly [column: string, value: bigint | string])[];

/**
 * The rows in the order in which every transaction locks them: two requests that lock each other's rows in different orders
 * would deadlock. It is that of an index on numbers, which one statement for many rows follows.
 */
export function inLockOrder<Row extends { readonly where: Condition }>(rows: readonly Row[]): readonly Row[] {
  return rows
    .map((row) => ({ row, place: placeOf(row.where) }))
    .sort((a, b) => comparePlaces(a.place, b.place))
    .map(({ row }) => row);
}

/**
 * The row's own column values, including its key. The rest of the condition, a caller's grants, is the same for all rows of
 * one request.
 */
function placeOf(where: Condition): Place {
  if (where.kind === 'and') return where.conditions.flatMap(placeOf);
  if (where.kind !== 'compare' || where.operand.joinPath.length > 0) return [];
  const { id, type } = where.operand.column;
  return [[id, sortable(where.value, type)]];
}

/** A key of an integer column is an integer; a filter may compare the column with anything. */
function sortable(value: Json, { kind }: DataType): bigint | string {
  const text = JSON.stringify(value);
  const digits = kind === 'integer' || kind === 'bigint' ? /^"?(-?\d+)"?$/.exec(text)?.[1] : undefined;
  return digits === undefined ? text : BigInt(digits);
}

function comparePlaces(a: Place, b: Place): number {
  for (const [index, [column, value]] of a.entries()) {
    const other = b[index];
    if (!other) return 1;
    const order = compare(column, other[0]) || compare(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Texts by code unit: the order has to be fixed, in no particular language. */
function compare(a: bigint | string, b: bigint | string): number {
  if (a === b) return 0;
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1;
  return a < b ? -1 : 1;
}
