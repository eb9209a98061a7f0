import type { Json } from '../core/errors/rest-exception.js';
import type { Key, OrderTerm } from '../core/schema/resource-schema.js';
import type { AliasedTable, Scope } from './query-scope.js';

/** The expressions of an ORDER BY clause. */
export function compileOrder(order: readonly OrderTerm[], scope: Scope): string {
  return order.flatMap((term) => compileOrderTerm(term, scope)).join(', ');
}

/** Specifies the position of NULL only if it differs from the database's default, because an index provides the default order alone. */
function compileOrderTerm(term: OrderTerm, scope: Scope): readonly string[] {
  const { column, compared } = cursorOf(term, scope);
  const sorted = `${compared}${term.descending ? ' DESC' : ' ASC'}`;
  if (!mayBeNull(term, scope) || hasDefaultNulls(term, scope)) return [sorted];
  const first = isNullsFirst(term, scope);
  return scope.dialect.nullsClause
    ? [`${sorted} NULLS ${first ? 'FIRST' : 'LAST'}`]
    : [`${column} IS NULL ${first ? 'DESC' : 'ASC'}`, sorted];
}

/** The inverse order. */
export function reverseOrder(order: readonly OrderTerm[]): readonly OrderTerm[] {
  // `rest` is empty, which the type checks: a new property of a term has to be inverted here too.
  return order.map(({ operand, descending, nulls, ...rest }) => ({
    operand,
    descending: !descending,
    ...(nulls ? { nulls: nulls === 'first' ? 'last' : 'first' } : {}),
    ...(rest satisfies Readonly<Record<string, never>>),
  }));
}

/** The select expressions of the cursor values, from which the next page starts. */
export function cursorColumns(order: readonly OrderTerm[], scope: Scope): readonly string[] {
  return order.map((term) => cursorOf(term, scope).read);
}

/** The column of a term, what the order compares of it, and how a cursor value is read and bound for that comparison. */
export function cursorOf(
  term: OrderTerm,
  scope: Scope,
): { column: string; read: string; compared: string; bind: (value: Json) => string } {
  const column = sortedColumn(term, scope);
  const cursor = scope.dialect.cursor(column, term.operand.column.type);
  const { read, compared } = cursor;
  return { column, read, compared, bind: (value) => cursor.parameter(scope.bindRaw(value)) };
}

/** In the default order, values that are null to clients are beside NULL anyway, and an index provides it. */
function sortedColumn(term: OrderTerm, scope: Scope): string {
  const column = scope.operand(term.operand);
  if (hasDefaultNulls(term, scope)) return column;
  return scope.dialect.nullable(column, term.operand.column.type) ?? column;
}

export function isNullsFirst(term: OrderTerm, scope: Scope): boolean {
  return term.nulls === undefined ? nullsFirstByDefault(term, scope) : term.nulls === 'first';
}

function hasDefaultNulls(term: OrderTerm, scope: Scope): boolean {
  return isNullsFirst(term, scope) === nullsFirstByDefault(term, scope);
}

function nullsFirstByDefault({ descending }: OrderTerm, { dialect }: Scope): boolean {
  return dialect.nullsFirst !== descending;
}

export function mayBeNull({ operand: { column, joinPath } }: OrderTerm, scope: Scope): boolean {
  return (
    column.nullable || !scope.requires(joinPath) || scope.dialect.nullable('', column.type) !== undefined
  );
}

/** The term of an order by a single-column integer primary key; undefined for every other order. */
export function keyOrder([first, ...more]: readonly OrderTerm[], { columns }: Key): OrderTerm | undefined {
  const [key, ...others] = columns;
  if (
    !first ||
    more.length > 0 ||
    others.length > 0 ||
    first.operand.joinPath.length > 0 ||
    first.operand.column.id !== key?.id
  )
    return undefined;
  return key.type.kind === 'integer' || key.type.kind === 'bigint' ? first : undefined;
}

/** The row at which a page starts. */
interface RowPosition {
  /** The cursor values of the row, one for each term of the order. */
  readonly values: readonly unknown[];
  /** Whether the page contains the row itself. */
  readonly inclusive: boolean;
}

/** A term of an order, and its value in the row at which a page starts. */
export interface Bound {
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
  const bounds = boundsOf(order, values);
  return scope.dialect.keyset === 'alternatives'
    ? compileBoundedAlternatives(bounds, inclusive, scope)
    : compileRows(bounds, inclusive, scope);
}

export function boundsOf(order: readonly OrderTerm[], values: readonly unknown[]): readonly Bound[] {
  return order.map((term, index) => ({ term, value: values[index] as Json }));
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

/** The first terms that an index may contain: they are columns of one table, in one direction, and not NULL after the position. */
export function leadingRow(bounds: readonly Bound[], scope: Scope): readonly Bound[] {
  const [first] = bounds;
  const end = bounds.findIndex(
    (bound, index) =>
      mayBeNullAfter(bound, scope) ||
      bound.term.descending !== first?.term.descending ||
      (index > 0 && (isRowid(bound, scope) || tableOf(bound, scope) !== tableOf(first, scope))),
  );
  return end === -1 ? bounds : bounds.slice(0, end);
}

function tableOf({ term }: Bound, scope: Scope): AliasedTable {
  return scope.join(term.operand.joinPath);
}

/** Whether the term is a key that no index of the database contains as a column. */
function isRowid({ term }: Bound, { dialect, resource }: Scope): boolean {
  return dialect.keyset === 'segments' && keyOrder([term], resource.key) !== undefined;
}

type Comparison = 'from' | 'after' | 'not';

const OPERATORS: Readonly<Record<'ascending' | 'descending', Readonly<Record<Comparison, string>>>> = {
  ascending: { from: '>=', after: '>', not: '<>' },
  descending: { from: '<=', after: '<', not: '<>' },
};

/** Compares the terms, which have one direction, with their values. */
export function compareRow(row: readonly Bound[], comparison: Comparison, scope: Scope): string {
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

export function compileEqual({ term, value }: Bound, scope: Scope): string {
  const { column, compared, bind } = cursorOf(term, scope);
  return value === null ? `${column} IS NULL` : `${compared} = ${bind(value)}`;
}

function compileTermAfter(bound: Bound, scope: Scope): string {
  const { term, value } = bound;
  if (value === null)
    return isNullsFirst(term, scope) ? `${cursorOf(term, scope).column} IS NOT NULL` : '1 = 0';
  const after = compareRow([bound], 'after', scope);
  return mayBeNullAfter(bound, scope) ? `(${after} OR ${cursorOf(term, scope).column} IS NULL)` : after;
}

/** Whether the term may be NULL at the position or in later rows, which no comparison matches. */
function mayBeNullAfter({ term, value }: Bound, scope: Scope): boolean {
  return value === null || (mayBeNull(term, scope) && !isNullsFirst(term, scope));
}
