import type { TimeUnit } from '../../core/query/aggregate.js';
import type { DataType } from '../../core/schema/data-type.js';
import { isAtUtc, processZone, shiftBetween, UTC_ZONE } from '../../core/values/time-zones.js';
import { groupsByText, INEXACT, offsetSql } from './aggregate-syntax.js';
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
  const isBefore = (bound: string): string => `${clock} < TIMESTAMP '${bound}'`;
  const by = offsetSql(shift, { isBefore, write: (seconds) => `INTERVAL '${seconds} seconds'` });
  const begin = truncated(unit, isAtUtc(shift) ? clock : `${clock} + ${by}`);
  const local =
    shift.changes.length === 0
      ? begin
      : `COALESCE(${begin}, CASE WHEN ${clock} IS NOT NULL THEN TIMESTAMP 'infinity' END)`;
  return unit === 'hour' ? [local, offsetSql(offset, { isBefore })] : [local];
}

function truncated(unit: TimeUnit, clock: string): string {
  return `date_trunc('${unit}', ${clock})`;
}
