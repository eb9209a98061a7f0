import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Expectation } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { lockOf } from '../../../sql/lock-clause.js';
import { decodedRecord, readColumns, selectList } from '../../../sql/select-columns.js';
import { Scope } from '../../../sql/query-scope.js';
import type { WriterTools } from './row-writer.js';

/** Columns of the row that is about to be written, locked where the database locks rows; undefined where none fits, or it is not as it is expected. */
export async function selectForUpdate(
  resource: Resource,
  {
    columns,
    where,
    expected,
  }: { columns: readonly Column[]; where: Condition; expected?: Expectation | undefined },
  { runner, tools }: { runner: QueryRunner; tools: WriterTools },
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
  if (!record || (expected && !(await isExpected(expected, where, { runner, tools })))) return undefined;
  return decodedRecord(record, columns, tools.dialect);
}

/** Nobody changes it any more. It is read by a lock too: a snapshot may be older than the lock, where a condition has looked at other rows before. */
async function isExpected(
  { resource, holds }: Expectation,
  where: Condition,
  { runner, tools }: { runner: QueryRunner; tools: WriterTools },
): Promise<boolean> {
  const row = await tools.readerOf(resource).retrieveLocked(where, runner);
  return row !== undefined && holds(row);
}
