import type { Json } from '../core/errors/rest-exception.js';
import type { Column } from '../core/schema/column.js';
import type { Dialect } from './dialects/dialect.js';
import type { Scope } from './query-scope.js';

/** A select list with the unique aliases `c0`, `c1` and so on. */
export function selectList(expressions: readonly string[]): string {
  return expressions.map((expression, index) => `${expression} AS c${index}`).join(', ');
}

/** The select expressions of columns of the scope's own table. */
export function readColumns(columns: readonly Column[], scope: Scope): readonly string[] {
  return columns.map((column) => scope.dialect.read(scope.own(column), column.type));
}

/** Converts the driver's value of a column to the canonical one. */
export function decodeColumn(raw: unknown, { type }: Pick<Column, 'type'>, dialect: Dialect): Json {
  return raw === null || raw === undefined ? null : dialect.decode(raw, type);
}

/** Converts the driver's values in `record`, in the order of `columns`, to canonical ones. */
export function decodeRecord(
  record: readonly unknown[],
  columns: readonly Column[],
  dialect: Dialect,
): readonly Json[] {
  return columns.map((column, index) => decodeColumn(record[index], column, dialect));
}
