import type { Lookup } from '../../core/query/lookups.js';
import type { DataType } from '../../core/schema/data-type.js';
import { wallClockOf } from './local-time.js';
import type { WallZone } from './local-time.js';
import type { Bind, Comparison } from './text-syntax.js';

/**
 * The zero date, `0000-00-00`, which MariaDB and MySQL can store in place of NULL, also in NOT NULL columns. It is null to
 * clients. As a number it is 0, which is less than every other date, and admitted by every SQL mode.
 */
export function mayHoldZero({ kind }: DataType): boolean {
  return kind === 'date' || kind === 'datetime';
}

export function isZero(text: string): boolean {
  return text.startsWith('0000-00-00') && !/[1-9]/.test(text);
}

/** Both conditions can use an index, which `NULLIF(column, 0)` cannot. */
export function testZeroOrNull(column: string, isNull: boolean): string {
  return isNull ? `(${column} IS NULL OR ${column} = 0)` : `${column} > 0`;
}

/** Undefined for comparisons that are standard SQL, because the zero date does not match. */
export function compareDates(
  comparison: Comparison,
  { bind, zone }: { readonly bind: Bind; readonly zone: WallZone },
): string | undefined {
  const { column, lookup, value, type } = comparison;
  const beyond = compareBeyond(comparison, zone);
  if (beyond !== undefined || (lookup !== 'lt' && lookup !== 'lte')) return beyond;
  return `(${column} > 0 AND ${column} ${lookup === 'lt' ? '<' : '<='} ${bind(value, type)})`;
}

/** Compares with an instant that lies behind the last year of MariaDB in the zone of its columns: each stored one is less. */
function compareBeyond({ column, lookup, value, type }: Comparison, zone: WallZone): string | undefined {
  if (type.kind !== 'datetime' || typeof value !== 'string' || !(lookup in BEYOND)) return undefined;
  return /^\d{5}/.test(wallClockOf(value, zone)) ? BEYOND[lookup]?.(column) : undefined;
}

const BEYOND: Readonly<Partial<Record<Lookup, (column: string) => string>>> = {
  exact: () => '1 = 0',
  gt: () => '1 = 0',
  gte: () => '1 = 0',
  ne: () => '1 = 1',
  lt: (column) => testZeroOrNull(column, false),
  lte: (column) => testZeroOrNull(column, false),
};
