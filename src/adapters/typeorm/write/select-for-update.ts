import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import { touches } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Expectation } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { lockOf } from '../../../sql/lock-clause.js';
import { decodeRecord, readColumns, selectList } from '../../../sql/select-columns.js';
import { Scope } from '../../../sql/query-scope.js';
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
async function meetsExpectation(
  { resource, holds }: Expectation,
  where: Condition,
  { runner, tools }: Transaction,
): Promise<boolean> {
  const row = await tools.readerOf(resource).retrieveLocked(where, runner);
  return row !== undefined && holds(row);
}
