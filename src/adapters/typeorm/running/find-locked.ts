import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../errors/rest-error.js';
import type { Column } from '../../../model/column.js';
import type { Condition } from '../../../model/condition.js';
import type { Resource } from '../../../model/resource.js';
import type { Dialect } from '../dialects/dialect.js';
import { compileWhere } from '../sql/compile-condition.js';
import { decodedRecord, readColumns, selectList } from '../sql/read-columns.js';
import { Scope } from '../sql/scope.js';
import type { WriterTools } from './row-writer.js';

/** Columns of the row that is about to be written, locked where the database locks rows; undefined where none fits. */
export async function findLocked(
  resource: Resource,
  { columns, where }: { columns: readonly Column[]; where: Condition },
  { runner, tools }: { runner: QueryRunner; tools: WriterTools },
): Promise<readonly Json[] | undefined> {
  const scope = Scope.begin(tools.dialect, tools.tables, resource);
  const list = selectList(readColumns(columns, scope));
  const condition = compileWhere(where, scope);
  const from = scope.from();
  const lock = lockOf(scope, from, tools.dialect);
  const [record] = await tools.connections.records(runner, { sql: `SELECT ${list} FROM ${from} WHERE ${condition}${lock}`, parameters: scope.parameters });
  return record && decodedRecord(record, columns, tools.dialect);
}

/** A row on the empty side of an outer join cannot be locked, so the lock names this table alone where there is one. */
function lockOf({ alias }: Scope, from: string, { lockRow, nullsFirst }: Dialect): string {
  return from.includes(' LEFT JOIN ') && !nullsFirst ? `${lockRow} OF ${alias}` : lockRow;
}
