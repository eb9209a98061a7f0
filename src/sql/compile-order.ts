import type { Json } from '../core/errors/rest-exception.js';
import type { Key, OrderTerm } from '../core/schema/resource.js';
import type { Scope } from './query-scope.js';

/** The list of an ORDER BY. */
export function compileOrder(order: readonly OrderTerm[], scope: Scope): string {
  return order.flatMap((term) => compileTerm(term, scope)).join(', ');
}

/** Where nulls stand is said only where the database would put them elsewhere: an index serves its own way. */
function compileTerm(term: OrderTerm, scope: Scope): readonly string[] {
  const { column, compared } = cursorOf(term, scope);
  const sorted = `${compared}${term.descending ? ' DESC' : ' ASC'}`;
  const first = isNullsFirst(term, scope);
  if (!isNullable(term) || first === nullsFirstByDefault(term, scope)) return [sorted];
  return scope.dialect.nullsClause
    ? [`${sorted} NULLS ${first ? 'FIRST' : 'LAST'}`]
    : [`${column} IS NULL ${first ? 'DESC' : 'ASC'}`, sorted];
}

/** The same rows from the last to the first. */
export function reverseOrder(order: readonly OrderTerm[]): readonly OrderTerm[] {
  // Whatever else a term comes to say has to be turned around here too.
  return order.map(({ operand, descending, nulls, ...rest }) => ({
    operand,
    descending: !descending,
    ...(nulls ? { nulls: nulls === 'first' ? 'last' : 'first' } : {}),
    ...(rest satisfies Readonly<Record<string, never>>),
  }));
}

/** What each term of the order is selected as, so that the next page can begin behind a row. */
export function cursorColumns(order: readonly OrderTerm[], scope: Scope): readonly string[] {
  return order.map(({ operand }) => scope.dialect.cursor(scope.operand(operand), operand.column.type).read);
}

/**
 * The rows behind the one with these cursor values, and that one too where it is asked for: (a > x) OR (a = x AND b > y) OR …,
 * with NULL where the database puts it. Exact for every type, because the values are the database's own. Before several terms stands a >= x: no
 * database sees through the alternatives that an index of `a` can begin there.
 */
export function compileAfter(
  order: readonly OrderTerm[],
  values: readonly unknown[],
  scope: Scope,
  inclusive = false,
): string {
  const [first, ...more] = order;
  const bound = first && more.length > 0 ? compileBound(first, values[0] as Json, scope) : undefined;
  const alternatives = order.map((term, index) => {
    const equal = order
      .slice(0, index)
      .map((each, position) => compileEqual(each, values[position] as Json, scope));
    return [...equal, compileBeyond(term, values[index] as Json, scope)].join(' AND ');
  });
  if (inclusive)
    alternatives.push(
      order.map((term, index) => compileEqual(term, values[index] as Json, scope)).join(' AND '),
    );
  const behind = `(${alternatives.map((each) => `(${each})`).join(' OR ')})`;
  return bound === undefined ? behind : `${bound} AND ${behind}`;
}

function cursorOf(
  term: OrderTerm,
  scope: Scope,
): { column: string; compared: string; bind: (value: Json) => string } {
  const column = scope.operand(term.operand);
  const cursor = scope.dialect.cursor(column, term.operand.column.type);
  return { column, compared: cursor.compared, bind: (value) => cursor.parameter(scope.bindRaw(value)) };
}

function compileEqual(term: OrderTerm, value: Json, scope: Scope): string {
  const { column, compared, bind } = cursorOf(term, scope);
  return value === null ? `${column} IS NULL` : `${compared} = ${bind(value)}`;
}

/** Undefined where rows behind this one may hold NULL, which no comparison finds. */
function compileBound(term: OrderTerm, value: Json, scope: Scope): string | undefined {
  if (value === null || (isNullable(term) && !isNullsFirst(term, scope))) return undefined;
  const { compared, bind } = cursorOf(term, scope);
  return `${compared} ${term.descending ? '<=' : '>='} ${bind(value)}`;
}

function compileBeyond(term: OrderTerm, value: Json, scope: Scope): string {
  const { column, compared, bind } = cursorOf(term, scope);
  const first = isNullsFirst(term, scope);
  if (value === null) return first ? `${column} IS NOT NULL` : '1 = 0';
  const behind = `${compared} ${term.descending ? '<' : '>'} ${bind(value)}`;
  return isNullable(term) && !first ? `(${behind} OR ${column} IS NULL)` : behind;
}

function isNullsFirst(term: OrderTerm, scope: Scope): boolean {
  return term.nulls === undefined ? nullsFirstByDefault(term, scope) : term.nulls === 'first';
}

function nullsFirstByDefault({ descending }: OrderTerm, { dialect }: Scope): boolean {
  return dialect.nullsFirst !== descending;
}

function isNullable({ operand }: OrderTerm): boolean {
  return operand.column.nullable || operand.hops.length > 0;
}

/** The only term of an order that is the key alone, where that is one whole number. */
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
