import type { TimeUnit } from '../../core/query/aggregate.js';
import type { DataType, TypeOf } from '../../core/schema/data-type.js';
import type { ZoneOffsets } from '../../core/values/time-zones.js';
import { clockText, groupsByText, INEXACT, offsetTable } from './aggregate-syntax.js';
import type { AggregateSyntax, SyntaxBucket } from './aggregate-syntax.js';

/** Decimals of a column that does not say how many it has. */
const PLACES = 6;
/** A REAL has every number of so many digits. */
const EXACT_DIGITS = 15;

const MOST = 2n ** 63n - 1n;

export const sqliteAggregates: AggregateSyntax = {
  key: (column, type) => {
    if (groupsByText(type)) return `${column} COLLATE BINARY`;
    // Tables contain several text forms of an instant.
    return type.kind === 'datetime'
      ? `COALESCE(strftime('%Y-%m-%d %H:%M:%f', ${column}), ${column})`
      : column;
  },
  readKey: (key, type) => {
    if (type.kind === 'bigint') return `CAST(${key} AS TEXT)`;
    return type.kind === 'decimal'
      ? `CASE typeof(${key}) WHEN 'integer' THEN CAST(${key} AS TEXT) ELSE ${key} END`
      : key;
  },
  orderKey: (key, type) => (groupsByText(type) ? `${key} COLLATE BINARY` : key),
  extreme: (kind, column, type) =>
    `${kind.toUpperCase()}(${column}${groupsByText(type) ? ' COLLATE BINARY' : ''})`,
  // A value that is no integer makes the whole sum a REAL, which is not exact.
  sum: (column, type) => (type.kind === 'decimal' ? `SUM(${scaled(column, type)})` : `SUM(${column})`),
  readSum: (sum, type) =>
    type.kind === 'float'
      ? sum
      : `CASE typeof(${sum}) WHEN 'real' THEN '${INEXACT}' ELSE CAST(${sum} AS TEXT) END`,
  scaleOf: (type) => (type.kind === 'decimal' ? placesOf(type) : 0),
  isInexact: (sum, { kind }) => (kind === 'float' ? undefined : `typeof(${sum}) = 'real'`),
  compareSum: ({ sum, type, operator }, value, bind) => {
    if (type.kind === 'float') return `${sum} ${operator} ${bind(value, type)}`;
    const { whole, isRounded } = floorOf(value, type.kind === 'decimal' ? placesOf(type) : 0);
    return compareInteger({ integer: sum, operator, whole, isRounded }, bind);
  },
  compareAverage: ({ sum, count, type, operator }, value, bind) => {
    if (type.kind === 'float') return `${sum} ${operator} ${bind(value, type)} * ${count}`;
    const places = type.kind === 'decimal' ? placesOf(type) : 0;
    const { whole, rest, unit } = floorOf(value, places);
    // Whole and rest of a division that rounds down.
    const over = `((${sum} % ${count}) + ${count}) % ${count}`;
    const compare = (sign: string): string =>
      compareInteger(
        { integer: `((${sum} - ${over}) / ${count})`, operator: sign, whole, isRounded: false },
        bind,
      );
    const compareRest = (sign: string): string => `(${over}) * ${unit} ${sign} ${rest} * ${count}`;
    if (operator === '=') return `(${compare('=')} AND ${compareRest('=')})`;
    if (operator === '<>') return `NOT (${compare('=')} AND ${compareRest('=')})`;
    return `(${compare(operator.charAt(0))} OR (${compare('=')} AND ${compareRest(operator)}))`;
  },
  bucket,
  readBucket: (begin) => begin,
};

function placesOf({ scale }: TypeOf<'decimal'>): number {
  return scale ?? PLACES;
}

/**
 * A decimal, which is stored as REAL, as an integer; 0.5 for one that has more digits, or is no number: texts and bytes are greater than
 * all numbers. The unary plus removes the affinity, so that numbers are not compared as texts.
 */
function scaled(column: string, type: TypeOf<'decimal'>): string {
  const places = placesOf(type);
  const factor = `1${'0'.repeat(places)}`;
  const end = `1e${EXACT_DIGITS - places}`;
  const isExact = [
    `+${column} > -${end}`,
    `+${column} < ${end}`,
    ...(type.scale === undefined ? [`ROUND(${column} * ${factor}.0) / ${factor}.0 = ${column}`] : []),
  ];
  return `CASE WHEN ${isExact.join(' AND ')} THEN CAST(ROUND(${column} * ${factor}) AS INTEGER) WHEN ${column} IS NOT NULL THEN 0.5 END`;
}

/** The integer at or below a decimal in units of its last place, and what is left, as a fraction of `unit`. */
function floorOf(
  value: string,
  places: number,
): { readonly whole: bigint; readonly rest: bigint; readonly unit: bigint; readonly isRounded: boolean } {
  const [, sign = '', digits = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  const more = Math.max(0, decimals.length - places);
  const unit = 10n ** BigInt(more);
  const all = BigInt(`${sign}${digits}${decimals.padEnd(places, '0')}`);
  const rest = ((all % unit) + unit) % unit;
  return { whole: (all - rest) / unit, rest, unit, isRounded: rest > 0n };
}

interface ComparedInteger {
  readonly integer: string;
  readonly operator: string;
  /** The integer at or below the decimal, and whether it is below it. */
  readonly whole: bigint;
  readonly isRounded: boolean;
}

/** Compares an integer with a decimal. */
function compareInteger(
  { integer, operator, whole, isRounded }: ComparedInteger,
  bind: (value: string, type: DataType) => string,
): string {
  if (isRounded && operator === '=') return `(${integer} IS NOT NULL AND 1 = 0)`;
  if (isRounded && operator === '<>') return `${integer} IS NOT NULL`;
  if (whole > MOST || whole < -MOST) {
    const holds = whole > 0n === operator.startsWith('<');
    return holds ? `${integer} IS NOT NULL` : '1 = 0';
  }
  // Above a decimal is above the integer below it.
  const compared = isRounded ? ({ '>=': '>', '<': '<=' }[operator] ?? operator) : operator;
  return `${integer} ${compared} ${bind(String(whole), { kind: 'bigint', min: -MOST, max: MOST })}`;
}

/** The date functions read the text forms of instants, and calculate with the calendar of ISO 8601. */
function bucket(column: string, type: DataType, { unit, zone }: SyntaxBucket): readonly string[] {
  if (!zone || type.kind === 'date') {
    const begin = beginOf(column, unit, '');
    return [known(begin, column), ...(unit === 'hour' ? ['0'] : [])];
  }
  const shift = offsetSql(zone, column, (seconds) => `'${seconds} seconds'`);
  const begin = known(beginOf(column, unit, `, ${shift}`), column);
  return unit === 'hour' ? [begin, offsetSql(zone, column, String)] : [begin];
}

const DAY = 86_400;
const MIDNIGHT = '00:00:00';
/** Most instants are of these years, which are found by fewer comparisons. */
const OFTEN = { from: Date.UTC(2010, 0, 1) / 1000, to: Date.UTC(2035, 0, 1) / 1000, weight: 20 } as const;

/** A day from which on another leaf of the search is valid. */
interface Step {
  readonly day: number;
  readonly weight: number;
  readonly leaf: string;
}

/**
 * The offset of an instant, NULL outside of the years of the zone: a search by nested CASE. It compares days, which all text forms of an
 * instant begin with, and only on a day of a change the time. The unary plus removes the affinity, by which each comparison would try to
 * read both texts as numbers.
 */
function offsetSql(zone: ZoneOffsets, column: string, write: (seconds: number) => string): string {
  if (zone.changes.length === 0) return write(zone.first);
  const { bounds, offsets } = offsetTable(zone);
  const known = ['NULL', ...offsets.map(write), 'NULL'];
  const steps = bounds.flatMap((at, index): readonly Step[] => {
    const [before = '', leaf = ''] = known.slice(index, index + 2);
    const time = clockText(at).slice(11);
    const day = Math.floor(at / DAY) * DAY;
    const weight = at >= OFTEN.from && at < OFTEN.to ? OFTEN.weight : 1;
    if (time === MIDNIGHT) return [{ day, weight, leaf }];
    const onDay = `CASE WHEN time(${column}) < '${time}' THEN ${before} ELSE ${leaf} END`;
    // Few instants are of the day itself.
    return [
      { day, weight, leaf: onDay },
      { day: day + DAY, weight: 0, leaf },
    ];
  });
  const search = (low: number, high: number): string => {
    if (low === high) return steps[low - 1]?.leaf ?? 'NULL';
    const middle = middleOf(steps, low, high);
    const day = clockText(steps[middle]?.day ?? 0).slice(0, 10);
    return `CASE WHEN +${column} < '${day}' THEN ${search(low, middle)} ELSE ${search(middle + 1, high)} END`;
  };
  return search(0, steps.length);
}

/** The step from `low` on, before `high`, that has half of the weight before it. */
function middleOf(steps: readonly Step[], low: number, high: number): number {
  const weights = steps.slice(low, high).map(({ weight }) => weight);
  const half = weights.reduce((sum, weight) => sum + weight, 0) / 2;
  let sum = 0;
  return low + weights.findIndex((weight) => (sum += weight) >= half);
}

function known(begin: string, column: string): string {
  return `COALESCE(${begin}, CASE WHEN ${column} IS NOT NULL THEN '${INEXACT}' END)`;
}

function beginOf(column: string, unit: TimeUnit, shift: string): string {
  const format = (text: string, more = ''): string => `strftime('${text}', ${column}${shift}${more})`;
  switch (unit) {
    case 'year':
      return format('%Y-01-01');
    case 'quarter':
      return `${format('%Y-')} || substr('01040710', ((${format('%m')} - 1) / 3) * 2 + 1, 2) || '-01'`;
    case 'month':
      return format('%Y-%m-01');
    case 'week':
      return format('%Y-%m-%d', `, 'weekday 0', '-6 days'`);
    case 'day':
      return format('%Y-%m-%d');
    case 'hour':
      return format('%Y-%m-%d %H');
    default:
      return unit satisfies never;
  }
}
