import type { Json } from '../core/errors/rest-exception.js';
import type { Key, OrderTerm } from '../core/schema/resource-schema.js';
import type { Scope } from './query-scope.js';

/** The row at which a page starts. */
export interface RowPosition {
  /** The cursor values of the row, one for each term of the order. */
  readonly values: readonly unknown[];
  /** Whether the page contains the row itself. */
  readonly inclusive: boolean;
}

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

/**
 * The keyset condition: the rows after the one with the cursor values, and that row too if `inclusive`, as
 * (a > x) OR (a = x AND b > y) OR …, with NULL in the position where the database sorts it. Exact for every type, because the
 * values were read by the database itself. For several terms, a >= x is added: no database infers from the alternatives
 * that a scan of an index on `a` can start there.
 */
export function compileAfter(
  order: readonly OrderTerm[],
  { values, inclusive }: RowPosition,
  scope: Scope,
): string {
  const [first, ...more] = order;
  const bound = first && more.length > 0 ? compileBound(first, values[0] as Json, scope) : undefined;
  const alternatives = order.map((term, index) => {
    const equal = order
      .slice(0, index)
      .map((each, position) => compileEqual(each, values[position] as Json, scope));
    return [...equal, compileTermAfter(term, values[index] as Json, scope)].join(' AND ');
  });
  if (inclusive)
    alternatives.push(
      order.map((term, index) => compileEqual(term, values[index] as Json, scope)).join(' AND '),
    );
  const after = `(${alternatives.map((each) => `(${each})`).join(' OR ')})`;
  return bound === undefined ? after : `${bound} AND ${after}`;
}

function cursorOf(
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

function compileEqual(term: OrderTerm, value: Json, scope: Scope): string {
  const { column, compared, bind } = cursorOf(term, scope);
  return value === null ? `${column} IS NULL` : `${compared} = ${bind(value)}`;
}

/** The lower bound of the first term; undefined if later rows may hold NULL, which no comparison matches. */
function compileBound(term: OrderTerm, value: Json, scope: Scope): string | undefined {
  if (value === null || (mayBeNull(term, scope) && !isNullsFirst(term, scope))) return undefined;
  const { compared, bind } = cursorOf(term, scope);
  return `${compared} ${term.descending ? '<=' : '>='} ${bind(value)}`;
}

function compileTermAfter(term: OrderTerm, value: Json, scope: Scope): string {
  const { column, compared, bind } = cursorOf(term, scope);
  const first = isNullsFirst(term, scope);
  if (value === null) return first ? `${column} IS NOT NULL` : '1 = 0';
  const after = `${compared} ${term.descending ? '<' : '>'} ${bind(value)}`;
  return mayBeNull(term, scope) && !first ? `(${after} OR ${column} IS NULL)` : after;
}

function isNullsFirst(term: OrderTerm, scope: Scope): boolean {
  return term.nulls === undefined ? nullsFirstByDefault(term, scope) : term.nulls === 'first';
}

function hasDefaultNulls(term: OrderTerm, scope: Scope): boolean {
  return isNullsFirst(term, scope) === nullsFirstByDefault(term, scope);
}

function nullsFirstByDefault({ descending }: OrderTerm, { dialect }: Scope): boolean {
  return dialect.nullsFirst !== descending;
}

function mayBeNull({ operand: { column, hops } }: OrderTerm, { dialect }: Scope): boolean {
  return column.nullable || hops.length > 0 || dialect.nullable('', column.type) !== undefined;
}

/** The term of an order by a single-column integer primary key; undefined for every other order. */
export function keyOrder([first, ...more]: readonly OrderTerm[], { columns }: Key): OrderTerm | undefined {
  const [key, ...others] = columns;
  if (
    !first ||
    more.length > 0 ||
    others.length > 0 ||
    first.operand.hops.length > 0 ||
    first.operand.column.id !== key?.id
  )
    return undefined;
  return key.type.kind === 'integer' || key.type.kind === 'bigint' ? first : undefined;
}
