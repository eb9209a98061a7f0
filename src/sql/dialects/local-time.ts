import { formatFraction, formatInstant } from '../../core/values/dates.js';

const DATETIME_TEXT = /^(\d{4,5})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?Z?$/;

interface WallClock {
  readonly parts: readonly [number, number, number, number, number, number];
  readonly micros: string;
}

function parse(text: string): WallClock | undefined {
  const match = DATETIME_TEXT.exec(text);
  if (!match) return undefined;
  const number = (index: number): number => Number(match[index] ?? '0');
  return {
    parts: [number(1), number(2) - 1, number(3), number(4), number(5), number(6)],
    micros: (match[7] ?? '').slice(0, 6).padEnd(6, '0'),
  };
}

/** The time zone of a column without one: UTC, or the zone of this process. */
export type WallZone = 'utc' | 'local';

/** An instant in UTC whose parts are valid in any month. */
const VALID_DATETIME_TEXT =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d{1,9}))?Z?$/;

/** Converts a database's `2022-10-02 09:23:28.297` to the canonical instant. Values without an ISO 8601 form are returned unchanged. */
export function instantOf(text: string, zone: WallZone, digits: number): string {
  const valid = zone === 'utc' ? VALID_DATETIME_TEXT.exec(text) : null;
  // Most values need no calculation with dates, which takes several times as long.
  if (valid) return `${text.slice(0, 10)}T${text.slice(11, 19)}.${formatFraction(valid[1] ?? '', digits)}Z`;
  const clock = parse(text);
  if (!clock || !isDay(clock)) return text;
  const time = timeOf(clock, zone);
  const year = new Date(time).getUTCFullYear();
  return year < 1 || year > 9999 ? text : formatInstant(time, clock.micros, digits);
}

/** Excludes zero dates, which MySQL and MariaDB can store. */
function isDay({ parts: [year, month, day] }: WallClock): boolean {
  return year > 0 && month >= 0 && day > 0;
}

/** Avoids the constructor of Date, which maps years below 100 to the 20th century. */
function timeOf({ parts: [year, month, day, hours, minutes, seconds] }: WallClock, zone: WallZone): number {
  const date = new Date(zone === 'utc' ? Date.UTC(2000, 0, 1) : new Date(2000, 0, 1).getTime());
  if (zone === 'utc') {
    date.setUTCFullYear(year, month, day);
    return date.setUTCHours(hours, minutes, seconds, 0);
  }
  date.setFullYear(year, month, day);
  return date.setHours(hours, minutes, seconds, 0);
}

/** The inverse: the text that a column without a time zone stores for a canonical instant. */
export function wallClockOf(instant: string, zone: WallZone): string {
  const fraction = /\.(\d+)Z$/.exec(instant)?.[1] ?? '000';
  if (zone === 'utc') return instant.replace('T', ' ').replace(/Z$/, '');
  const date = new Date(instant);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${fraction}`;
}
