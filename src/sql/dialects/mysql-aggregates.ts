import type { TimeUnit } from '../../core/query/aggregate.js';
import type { DataType } from '../../core/schema/data-type.js';
import { fixedZone, isAtUtc, processZone, shiftBetween, UTC_ZONE } from '../../core/values/time-zones.js';
import type { ZoneOffsets } from '../../core/values/time-zones.js';
import { groupsByText, INEXACT, offsetTable } from './aggregate-syntax.js';
import type { AggregateSyntax, SyntaxBucket } from './aggregate-syntax.js';
import type { WallZone } from './local-time.js';

interface Casts {
  readonly read: (column: string, type: DataType) => string;
  readonly nullable: (column: string, type: DataType) => string | undefined;
}

/** @param zone that of the driver, in which columns have their clock. */
export function mysqlAggregates(zone: WallZone, { read, nullable }: Casts): AggregateSyntax {
  const key = (column: string, type: DataType): string =>
    groupsByText(type) ? asBytes(column) : (nullable(column, type) ?? column);
  return {
    key,
    readKey: (value, type) => (groupsByText(type) ? `CONVERT(${value} USING utf8mb4)` : read(value, type)),
    orderKey: (value) => value,
    extreme: (kind, column, type) => `${kind.toUpperCase()}(${key(column, type)})`,
    sum: (column) => `SUM(${column})`,
    readSum: (sum) => `CAST(${sum} AS CHAR)`,
    scaleOf: () => 0,
    isInexact: () => undefined,
    compareSum: ({ sum, type, operator }, value, bind) => `${sum} ${operator} ${bind(value, type)}`,
    compareAverage: ({ sum, count, type, operator }, value, bind) =>
      `${sum} ${operator} ${bind(value, type)} * ${count}`,
    bucket: (column, type, bucket) =>
      bucketOf(nullable(column, type) ?? column, type, { ...bucket, wall: zone }),
    readBucket,
  };
}

function asBytes(text: string): string {
  return `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`;
}

function bucketOf(
  column: string,
  type: DataType,
  { unit, zone = UTC_ZONE, wall }: SyntaxBucket & { readonly wall: WallZone },
): readonly string[] {
  if (type.kind !== 'datetime') return [beginOf(unit, column)];
  const { shift, offset } = shiftBetween(wall === 'local' ? processZone() : fixedZone(wall * 60), zone);
  const begin = beginOf(
    unit,
    isAtUtc(shift) ? column : `(${column} + INTERVAL ${offsetSql(shift, column)} SECOND)`,
  );
  const local =
    shift.changes.length === 0 ? begin : `COALESCE(${begin}, CASE WHEN ${column} IS NOT NULL THEN -1 END)`;
  // A text would be ordered as one.
  return unit === 'hour' ? [local, `CAST(${offsetSql(offset, column)} AS SIGNED)`] : [local];
}

/** The seconds from the year 0 to 1970, as `TO_SECONDS` counts them. */
const SECONDS_BEFORE_1970 = 62_167_219_200;

/** The offset of a time on the clock, NULL outside of the years of the zone: `INTERVAL` is a binary search. */
function offsetSql(zone: ZoneOffsets, column: string): string {
  if (zone.changes.length === 0) return String(zone.first);
  const { bounds, offsets } = offsetTable(zone);
  const seconds = bounds.map((at) => at + SECONDS_BEFORE_1970).join(', ');
  return `ELT(INTERVAL(TO_SECONDS(${column}), ${seconds}), ${offsets.join(', ')})`;
}

/** The first Monday, in days since the year 0. */
const MONDAY = 2;

/** A unit as an integer, which is cheaper to compute and to group by than the text of its begin. */
function beginOf(unit: TimeUnit, clock: string): string {
  switch (unit) {
    case 'year':
      return `EXTRACT(YEAR FROM ${clock})`;
    case 'quarter':
      return `(EXTRACT(YEAR FROM ${clock}) * 10 + QUARTER(${clock}))`;
    case 'month':
      return `EXTRACT(YEAR_MONTH FROM ${clock})`;
    case 'week':
      return `((TO_DAYS(${clock}) - ${MONDAY}) DIV 7)`;
    case 'day':
      return `TO_DAYS(${clock})`;
    case 'hour':
      return `(TO_SECONDS(${clock}) DIV 3600)`;
    default:
      return unit satisfies never;
  }
}

function readBucket(begin: string, unit: TimeUnit): string {
  return `CASE WHEN ${begin} < 0 THEN '${INEXACT}' ELSE ${beginText(begin, unit)} END`;
}

function beginText(begin: string, unit: TimeUnit): string {
  const year = (number: string): string => `LPAD(${number}, 4, '0')`;
  const day = (number: string): string => `DATE_FORMAT(FROM_DAYS(${number}), '%Y-%m-%d')`;
  switch (unit) {
    case 'year':
      return `CONCAT(${year(begin)}, '-01-01')`;
    case 'quarter':
      return `CONCAT(${year(`${begin} DIV 10`)}, '-', ELT(${begin} MOD 10, '01', '04', '07', '10'), '-01')`;
    case 'month':
      return `CONCAT(${year(`${begin} DIV 100`)}, '-', LPAD(${begin} MOD 100, 2, '0'), '-01')`;
    case 'week':
      return day(`${begin} * 7 + ${MONDAY}`);
    case 'day':
      return day(begin);
    case 'hour':
      return `CONCAT(${day(`${begin} DIV 24`)}, ' ', LPAD(${begin} MOD 24, 2, '0'))`;
    default:
      return unit satisfies never;
  }
}
