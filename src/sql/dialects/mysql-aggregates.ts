import type { TimeUnit } from '../../core/query/aggregate.js';
import type { DataType } from '../../core/schema/data-type.js';
import { fixedZone, isAtUtc, processZone, shiftBetween, UTC_ZONE } from '../../core/values/time-zones.js';
import { groupsByText, INEXACT, offsetSql } from './aggregate-syntax.js';
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
    readBucket: (begin) => begin,
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
  const isBefore = (bound: string): string => `${column} < TIMESTAMP'${bound}'`;
  const by = offsetSql(shift, { isBefore });
  const begin = beginOf(unit, isAtUtc(shift) ? column : `(${column} + INTERVAL (${by}) SECOND)`);
  const local =
    shift.changes.length === 0
      ? begin
      : `COALESCE(${begin}, CASE WHEN ${column} IS NOT NULL THEN '${INEXACT}' END)`;
  return unit === 'hour' ? [local, offsetSql(offset, { isBefore })] : [local];
}

function beginOf(unit: TimeUnit, clock: string): string {
  const format = (text: string): string => `DATE_FORMAT(${clock}, '${text}')`;
  switch (unit) {
    case 'year':
      return format('%Y-01-01');
    case 'quarter':
      return `CONCAT(${format('%Y-')}, ELT(QUARTER(${clock}), '01', '04', '07', '10'), '-01')`;
    case 'month':
      return format('%Y-%m-01');
    case 'week':
      return `DATE_FORMAT(${clock} - INTERVAL WEEKDAY(${clock}) DAY, '%Y-%m-%d')`;
    case 'day':
      return format('%Y-%m-%d');
    case 'hour':
      return format('%Y-%m-%d %H');
    default:
      return unit satisfies never;
  }
}
