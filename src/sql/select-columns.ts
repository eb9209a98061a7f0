import type { Json } from '../core/errors/rest-exception.js';
import type { Column } from '../core/schema/column.js';
import type { Dialect } from './dialects/dialect.js';
import type { Scope } from './query-scope.js';

/** The expressions under the names `c0`, `c1` and so on: no two of them are ever the same. */
export function selectList(expressions: readonly string[]): string {
  return expressions.map((expression, index) => `${expression} AS c${index}`).join(', ');
}

/** SQL that reads columns of the scope's own table. */
export function readColumns(columns: readonly Column[], scope: Scope): readonly string[] {
  return columns.map((column) => scope.dialect.read(scope.own(column), column.type));
}

/** The canonical value of what the driver gives for a column. */
export function decodeColumn(raw: unknown, { type }: Pick<Column, 'type'>, dialect: Dialect): Json {
  return raw === null || raw === undefined ? null : dialect.decode(raw, type);
}

/** The canonical values of these columns; `record` holds the driver's, in their order. */
export function decodeRecord(
  record: readonly unknown[],
  columns: readonly Column[],
  dialect: Dialect,
): readonly Json[] {
  return columns.map((column, index) => decodeColumn(record[index], column, dialect));
}
