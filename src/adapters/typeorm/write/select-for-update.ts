import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Expectation } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { lockOf } from '../../../sql/lock-clause.js';
import { decodeRecord, readColumns, selectList } from '../../../sql/select-columns.js';
import { Scope } from '../../../sql/query-scope.js';
import type { WriterTools } from './row-writer.js';

/**
 * Reads columns of the row before it is written, and locks it if the database has row locks. Undefined if no row
 * matches, or it does not meet the expectation.
 */
export async function selectForUpdate(
  resource: ResourceSchema,
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
  if (!record || (expected && !(await meetsExpectation(expected, where, { runner, tools }))))
    return undefined;
  return decodeRecord(record, columns, tools.dialect);
}

/**
 * Whether the expectation holds for the locked row. It is read with a lock too, because the snapshot may be older than
 * the first lock if a condition has read other rows before.
 */
async function meetsExpectation(
  { resource, holds }: Expectation,
  where: Condition,
  { runner, tools }: { runner: QueryRunner; tools: WriterTools },
): Promise<boolean> {
  const row = await tools.readerOf(resource).retrieveLocked(where, runner);
  return row !== undefined && holds(row);
}
