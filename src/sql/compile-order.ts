import type { Json } from '../core/errors/rest-exception.js';
import type { Key, OrderTerm } from '../core/schema/resource-schema.js';
import type { Scope } from './query-scope.js';

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

export function mayBeNull({ operand: { column, hops } }: OrderTerm, { dialect }: Scope): boolean {
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
