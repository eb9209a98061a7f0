import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../errors/rest-error.js';
import type { Condition } from '../../../model/condition.js';
import type { Resource } from '../../../model/resource.js';
import type { Dialect } from '../dialects/dialect.js';
import { compileWhere } from '../sql/compile-condition.js';
import { Scope } from '../sql/scope.js';
import type { WriterTools } from './row-writer.js';

/** What names the row that is about to be written, locked where the database locks rows; undefined where none fits. */
export async function findIdentity(
  resource: Resource,
  where: Condition,
  { runner, tools }: { runner: QueryRunner; tools: WriterTools },
): Promise<readonly Json[] | undefined> {
  const scope = Scope.begin(tools.dialect, tools.tables, resource);
  const columns = resource.identity;
  const list = columns.map((column, index) => `${tools.dialect.read(scope.own(column), column.type)} AS c${index}`).join(', ');
  const condition = compileWhere(where, scope);
  const from = scope.from();
  const lock = lockOf(scope, from, tools.dialect);
  const records = (await runner.query(`SELECT ${list} FROM ${from} WHERE ${condition}${lock}`, [...scope.parameters])) as readonly Record<string, unknown>[];
  const [record] = records;
  if (!record) return undefined;
  return Object.values(record).map((raw, index) => {
    const column = columns[index];
    return raw === null || raw === undefined || !column ? null : tools.dialect.decode(raw, column.type);
  });
}

/** A row on the empty side of an outer join cannot be locked, so the lock names this table alone where there is one. */
export function lockOf({ alias }: Scope, from: string, { lockRow, nullsFirst }: Dialect): string {
  return from.includes(' LEFT JOIN ') && !nullsFirst ? `${lockRow} OF ${alias}` : lockRow;
}
