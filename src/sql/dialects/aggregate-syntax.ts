import type { TimeUnit } from '../../core/query/aggregate.js';
import type { DataKind, DataType } from '../../core/schema/data-type.js';
import { ZONE_YEARS } from '../../core/values/time-zones.js';
import type { ZoneOffsets } from '../../core/values/time-zones.js';

/** In the place of a key or a sum that cannot be given: a time outside of the years of a zone, a number that is not exact. */
export const INEXACT = 'x';

/** A sum that is compared: its expression, and the type of the added column. */
export interface ComparedSum {
  readonly sum: string;
  readonly type: DataType;
  readonly operator: string;
}

/** The SQL of aggregates. Expressions contain identifiers of the compiled model and numbers of time zones only. */
export interface AggregateSyntax {
  /** A value by which rows are grouped and groups ordered: texts by their bytes, whatever the collation of the column. */
  key(column: string, type: DataType): string;
  /** Reads the value of `key`, of the least or of the greatest one, as `Dialect.read` reads the column. */
  readKey(key: string, type: DataType): string;
  /** `key` of a derived table, in an ORDER BY. */
  orderKey(key: string, type: DataType): string;
  /** The least or greatest value of a column. */
  extreme(kind: 'min' | 'max', column: string, type: DataType): string;
  sum(column: string, type: DataType): string;
  /** Reads a sum as a text of its digits, or `INEXACT`. */
  readSum(sum: string, type: DataType): string;
  /** The number of decimal places that a sum is scaled by: those of its text are behind an implied point. */
  scaleOf(type: DataType): number;
  /** Whether a sum is not exact, so that no comparison with it holds; undefined if it always is. */
  isInexact(sum: string, type: DataType): string | undefined;
  /** Compares a sum with a decimal. */
  compareSum(compared: ComparedSum, value: string, bind: BindDecimal): string;
  /** Compares an average, the sum of so many values, with a decimal of at most six places. */
  compareAverage(
    compared: ComparedSum & { readonly count: string },
    value: string,
    bind: BindDecimal,
  ): string;
  /** The begin of the unit of a column, and for hours the offset of its zone in seconds. Null where the column is. */
  bucket(column: string, type: DataType, bucket: SyntaxBucket): readonly string[];
  /** Reads a begin as `YYYY-MM-DD`, of an hour as `YYYY-MM-DD HH`, or `INEXACT`. */
  readBucket(begin: string, unit: TimeUnit): string;
}

export type BindDecimal = (value: string, type: DataType) => string;

export interface SyntaxBucket {
  readonly unit: TimeUnit;
  readonly zone: ZoneOffsets | undefined;
}

const EXACT_TEXTS: ReadonlySet<DataKind> = new Set(['string', 'enum', 'uuid']);

/** Whether values of the type are grouped by the bytes of their text. */
export function groupsByText({ kind }: DataType): boolean {
  return EXACT_TEXTS.has(kind);
}

const FIRST = Date.UTC(ZONE_YEARS.from, 0, 1) / 1000;
const END = Date.UTC(ZONE_YEARS.to, 0, 1) / 1000;

/** The offsets of a clock, each from one bound on to the next, in seconds since 1970. Outside of the bounds none is known. */
export function offsetTable({ first, changes }: ZoneOffsets): {
  readonly bounds: readonly number[];
  readonly offsets: readonly number[];
} {
  return {
    bounds: [FIRST, ...changes.map(({ at }) => at), END],
    offsets: [first, ...changes.map(({ offset }) => offset)],
  };
}

/** A time in seconds since 1970 as text: `2026-03-29 01:00:00`. */
export function clockText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
