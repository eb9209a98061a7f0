import type { TimeUnit } from '../../core/query/aggregate.js';
import type { DataType } from '../../core/schema/data-type.js';
import { isAtUtc, processZone, shiftBetween, UTC_ZONE } from '../../core/values/time-zones.js';
import type { ZoneOffsets } from '../../core/values/time-zones.js';
import { clockText, groupsByText, INEXACT, offsetTable } from './aggregate-syntax.js';
import type { AggregateSyntax, SyntaxBucket } from './aggregate-syntax.js';

/** @param read as in `Dialect`. */
export function postgresAggregates(read: (column: string, type: DataType) => string): AggregateSyntax {
  const key = (column: string, type: DataType): string =>
    groupsByText(type) ? `${column}::text COLLATE "C"` : column;
  return {
    key,
    readKey: (value, type) => (groupsByText(type) ? value : read(value, type)),
    orderKey: (value) => value,
    extreme: (kind, column, type) => `${kind.toUpperCase()}(${key(column, type)})`,
    // The sum of 32-bit floats has 32 bits.
    sum: (column, type) => `SUM(${column}${type.kind === 'float' ? '::double precision' : ''})`,
    readSum: (sum, type) => (type.kind === 'float' ? sum : `${sum}::text`),
    scaleOf: () => 0,
    isInexact: () => undefined,
    compareSum: ({ sum, type, operator }, value, bind) =>
      `${sum} ${operator} ${number(bind(value, type), type)}`,
    compareAverage: ({ sum, count, type, operator }, value, bind) =>
      `${sum} ${operator} ${number(bind(value, type), type)} * ${count}`,
    bucket,
    readBucket: (begin, unit) =>
      `CASE WHEN ${begin} >= TIMESTAMP '0001-01-01' AND ${begin} < TIMESTAMP '10000-01-01' THEN to_char(${begin}, 'YYYY-MM-DD${unit === 'hour' ? ' HH24' : ''}') WHEN ${begin} IS NOT NULL THEN '${INEXACT}' END`,
  };
}

function number(placeholder: string, { kind }: DataType): string {
  return `CAST(${placeholder} AS ${kind === 'float' ? 'double precision' : 'numeric'})`;
}

/** A column without a time zone has the clock of this process. */
function bucket(column: string, type: DataType, { unit, zone = UTC_ZONE }: SyntaxBucket): readonly string[] {
  if (type.kind !== 'datetime') return [truncated(unit, `${column}::timestamp`)];
  const clock = type.zoned ? `(${column} AT TIME ZONE 'UTC')` : column;
  const { shift, offset } = shiftBetween(type.zoned ? UTC_ZONE : processZone(), zone);
  const find = (offsets: ZoneOffsets, as: 'interval' | 'int'): string =>
    offsetSql(offsets, as, { column, zoned: type.zoned });
  const begin = truncated(unit, isAtUtc(shift) ? clock : `${clock} + ${find(shift, 'interval')}`);
  const local =
    shift.changes.length === 0
      ? begin
      : `COALESCE(${begin}, CASE WHEN ${clock} IS NOT NULL THEN TIMESTAMP 'infinity' END)`;
  return unit === 'hour' ? [local, find(offset, 'int')] : [local];
}

/**
 * The offset of an instant, NULL outside of the years of the zone, by a binary search in an array. The planner takes each comparison of
 * nested CASE for one of every row, and compiles them all.
 */
function offsetSql(
  zone: ZoneOffsets,
  as: 'interval' | 'int',
  { column, zoned }: { readonly column: string; readonly zoned: boolean },
): string {
  const write = (seconds: number): string => (as === 'int' ? String(seconds) : `${seconds} seconds`);
  if (zone.changes.length === 0) return `'${write(zone.first)}'::${as}`;
  const { bounds, offsets } = offsetTable(zone);
  const times = bounds.map((at) => `"${clockText(at)}${zoned ? '+00' : ''}"`);
  return `('{${offsets.map(write).join(',')}}'::${as}[])[width_bucket(${column}, '{${times.join(',')}}'::timestamp${zoned ? 'tz' : ''}[])]`;
}

function truncated(unit: TimeUnit, clock: string): string {
  return `date_trunc('${unit}', ${clock})`;
}
