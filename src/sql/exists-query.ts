import type { ExistsPlan } from '../core/query/plan.js';
import type { Dialect } from './dialects/dialect.js';
import { compileWhere } from './compile-where.js';
import { Scope } from './query-scope.js';
import type { Statement } from './statement.js';
import type { TableRegistry } from './table-names.js';

/** A statement that returns one record if a matching row exists, otherwise none. */
export function existsStatement(
  { resource, where }: ExistsPlan,
  dialect: Dialect,
  tables: TableRegistry,
): Statement {
  const scope = Scope.begin(dialect, tables, resource);
  const condition = compileWhere(where, scope);
  return {
    sql: `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition} LIMIT 1`,
    parameters: scope.parameters,
  };
}
