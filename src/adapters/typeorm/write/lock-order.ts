import type { Json } from '../../../core/errors/rest-exception.js';
import type { Condition } from '../../../core/query/condition.js';
import type { DataType } from '../../../core/schema/data-type.js';

type Place = readonly (readonly [column: string, value: bigint | string])[];

/**
 * The rows in the order in which every transaction locks them: two requests that lock each other's rows in different orders
 * would deadlock. It is that of an index on numbers, which one statement for many rows follows.
 */
export function inLockOrder<Row extends { readonly where: Condition }>(rows: readonly Row[]): readonly Row[] {
  return rows
    .map((row) => ({ row, place: placeOf(row.where) }))
    .sort((a, b) => comparePlaces(a.place, b.place))
    .map(({ row }) => row);
}

/**
 * The row's own column values, including its key. The rest of the condition, a caller's grants, is the same for all rows of
 * one request.
 */
function placeOf(where: Condition): Place {
  if (where.kind === 'and') return where.conditions.flatMap(placeOf);
  if (where.kind !== 'compare' || where.operand.hops.length > 0) return [];
  const { id, type } = where.operand.column;
  return [[id, sortable(where.value, type)]];
}

/** A key of an integer column is an integer; a filter may compare the column with anything. */
function sortable(value: Json, { kind }: DataType): bigint | string {
  const text = JSON.stringify(value);
  const digits = kind === 'integer' || kind === 'bigint' ? /^"?(-?\d+)"?$/.exec(text)?.[1] : undefined;
  return digits === undefined ? text : BigInt(digits);
}

function comparePlaces(a: Place, b: Place): number {
  for (const [index, [column, value]] of a.entries()) {
    const other = b[index];
    if (!other) return 1;
    const order = compare(column, other[0]) || compare(value, other[1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Texts by code unit: the order has to be fixed, in no particular language. */
function compare(a: bigint | string, b: bigint | string): number {
  if (a === b) return 0;
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1;
  return a < b ? -1 : 1;
}
