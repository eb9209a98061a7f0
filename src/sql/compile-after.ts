import type { Json } from '../core/errors/rest-exception.js';
import type { OrderTerm } from '../core/schema/resource-schema.js';
import { cursorOf, isNullsFirst, keyOrder, mayBeNull } from './compile-order.js';
import type { Scope } from './query-scope.js';

/** The row at which a page starts. */
export interface RowPosition {
  /** The cursor values of the row, one for each term of the order. */
  readonly values: readonly unknown[];
  /** Whether the page contains the row itself. */
  readonly inclusive: boolean;
}

/** A term of an order, and its value in the row at which a page starts. */
interface Bound {
  readonly term: OrderTerm;
  readonly value: Json;
}

/**
 * The keyset condition: the rows after the one with the cursor values, and that row too if `inclusive`, with NULL in the position
 * where the database sorts it. Exact for every type, because the values were read by the database itself.
 */
export function compileAfter(
  order: readonly OrderTerm[],
  { values, inclusive }: RowPosition,
  scope: Scope,
): string {
  const bounds = order.map((term, index) => ({ term, value: values[index] as Json }));
  return scope.dialect.keyset === 'alternatives'
    ? compileBoundedAlternatives(bounds, inclusive, scope)
    : compileRows(bounds, inclusive, scope);
}

/**
 * As comparisons of rows: a scan of an index on a and b starts at the row of (a, b) > (x, y). Where the direction changes,
 * (a, b) >= (x, y) AND ((a, b) > (x, y) OR c < z).
 */
function compileRows(bounds: readonly Bound[], inclusive: boolean, scope: Scope): string {
  const row = leadingRow(bounds, scope);
  const rest = bounds.slice(row.length);
  if (row.length === 0) return compileAlternatives(bounds, inclusive, scope);
  if (rest.length === 0) return compileLastRow(row, inclusive, scope);
  return `${compareRow(row, 'from', scope)} AND (${compareRow(row, 'after', scope)} OR (${compileRows(rest, inclusive, scope)}))`;
}

/** PostgreSQL estimates (a, b) > (x, y) as a > x, which few rows may fulfil, and then chooses to read all rows and to sort those. */
function compileLastRow(row: readonly Bound[], inclusive: boolean, scope: Scope): string {
  if (inclusive) return compareRow(row, 'from', scope);
  if (row.length === 1 || scope.dialect.keyset !== 'rows') return compareRow(row, 'after', scope);
  return `${compareRow(row, 'from', scope)} AND ${compareRow(row, 'not', scope)}`;
}

/** The first terms that are sorted in one direction, and hold no NULL after the position. */
function leadingRow(bounds: readonly Bound[], scope: Scope): readonly Bound[] {
  const [first] = bounds;
  const end = bounds.findIndex(
    (bound, index) =>
      mayBeNullAfter(bound, scope) ||
      bound.term.descending !== first?.term.descending ||
      (index > 0 && isRowid(bound, scope)),
  );
  return end === -1 ? bounds : bounds.slice(0, end);
}

/** Whether the term is a key that no index of the database contains as a column. */
function isRowid({ term }: Bound, { dialect, resource }: Scope): boolean {
  return dialect.keyset === 'rows without rowid' && keyOrder([term], resource.key) !== undefined;
}

type Comparison = 'from' | 'after' | 'not';

const OPERATORS: Readonly<Record<'ascending' | 'descending', Readonly<Record<Comparison, string>>>> = {
  ascending: { from: '>=', after: '>', not: '<>' },
  descending: { from: '<=', after: '<', not: '<>' },
};

/** Compares the terms, which have one direction, with their values. */
function compareRow(row: readonly Bound[], comparison: Comparison, scope: Scope): string {
  const cursors = row.map(({ term, value }) => ({ ...cursorOf(term, scope), value }));
  const compared = cursors.map((cursor) => cursor.compared);
  const values = cursors.map(({ bind, value }) => bind(value));
  const operator = OPERATORS[row[0]?.term.descending === true ? 'descending' : 'ascending'][comparison];
  return row.length === 1
    ? `${compared.join()} ${operator} ${values.join()}`
    : `(${compared.join(', ')}) ${operator} (${values.join(', ')})`;
}

/**
 * As alternatives: (a > x) OR (a = x AND b > y) OR …. For several terms, a >= x is added: no database infers from the alternatives
 * that a scan of an index on `a` can start there.
 */
function compileBoundedAlternatives(bounds: readonly Bound[], inclusive: boolean, scope: Scope): string {
  const [first] = bounds;
  const bound =
    first && bounds.length > 1 && !mayBeNullAfter(first, scope)
      ? `${compareRow([first], 'from', scope)} AND `
      : '';
  return `${bound}${compileAlternatives(bounds, inclusive, scope)}`;
}

function compileAlternatives(bounds: readonly Bound[], inclusive: boolean, scope: Scope): string {
  const equal = (count: number): readonly string[] =>
    bounds.slice(0, count).map((bound) => compileEqual(bound, scope));
  const alternatives = bounds.map((bound, index) =>
    [...equal(index), compileTermAfter(bound, scope)].join(' AND '),
  );
  if (inclusive) alternatives.push(equal(bounds.length).join(' AND '));
  return `(${alternatives.map((each) => `(${each})`).join(' OR ')})`;
}

function compileEqual({ term, value }: Bound, scope: Scope): string {
  const { column, compared, bind } = cursorOf(term, scope);
  return value === null ? `${column} IS NULL` : `${compared} = ${bind(value)}`;
}

function compileTermAfter(bound: Bound, scope: Scope): string {
  const { term, value } = bound;
  const { column } = cursorOf(term, scope);
  if (value === null) return isNullsFirst(term, scope) ? `${column} IS NOT NULL` : '1 = 0';
  const after = compareRow([bound], 'after', scope);
  return mayBeNullAfter(bound, scope) ? `(${after} OR ${column} IS NULL)` : after;
}

/** Whether the term may be NULL at the position or in later rows, which no comparison matches. */
function mayBeNullAfter({ term, value }: Bound, scope: Scope): boolean {
  return value === null || (mayBeNull(term, scope) && !isNullsFirst(term, scope));
}
