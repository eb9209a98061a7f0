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

/** The time zone of a column without one: that of this process, or minutes east of UTC. */
export type WallZone = 'local' | number;

export const UTC = 0;

/** An instant in UTC whose parts are valid in any month. */
const VALID_DATETIME_TEXT =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d{1,9}))?Z?$/;

/** Converts a database's `2022-10-02 09:23:28.297` to the canonical instant. Values without an ISO 8601 form are returned unchanged. */
export function instantOf(text: string, zone: WallZone, digits: number): string {
  const valid = zone === UTC ? VALID_DATETIME_TEXT.exec(text) : null;
  // Most values need no calculation with dates, which takes several times as long.
  if (valid) return `${text.slice(0, 10)}T${text.slice(11, 19)}.${formatFraction(valid[1] ?? '', digits)}Z`;
  const clock = parse(text);
  if (!clock || !isDay(clock)) return text;
  const time = timeOf(clock, zone);
  const year = new Date(time).getUTCFullYear();
  return year < 1 || year > 9999 ? text : formatInstant(time, clock.micros, digits);
}

/** Excludes zero dates, which MySQL and MariaDB can store. */
function isDay({ parts: [, month, day] }: WallClock): boolean {
  return month >= 0 && day > 0;
}

/** Avoids the constructor of Date, which maps years below 100 to the 20th century. */
function timeOf({ parts: [year, month, day, hours, minutes, seconds] }: WallClock, zone: WallZone): number {
  const date = zone === 'local' ? new Date(2000, 0, 1) : new Date(0);
  if (zone === 'local') {
    date.setFullYear(year, month, day);
    return date.setHours(hours, minutes, seconds, 0);
  }
  date.setUTCFullYear(year, month, day);
  return date.setUTCHours(hours, minutes - zone, seconds, 0);
}

/** The inverse: the text that a column without a time zone stores for a canonical instant. */
export function wallClockOf(instant: string, zone: WallZone): string {
  if (zone === UTC) return instant.replace('T', ' ').replace(/Z$/, '');
  const [year, ...rest] = zone === 'local' ? localParts(new Date(instant)) : partsAt(new Date(instant), zone);
  const [month, day, hours, minutes, seconds] = rest.map((part) => String(part).padStart(2, '0'));
  const fraction = /\.(\d+)Z$/.exec(instant)?.[1] ?? '000';
  return `${String(year).padStart(4, '0')}-${month}-${day} ${hours}:${minutes}:${seconds}.${fraction}`;
}

type Parts = readonly [year: number, ...rest: number[]];

function localParts(date: Date): Parts {
  return [
    date.getFullYear(),
    date.getMonth() + 1,
    date.getDate(),
    date.getHours(),
    date.getMinutes(),
    date.getSeconds(),
  ];
}

function partsAt(date: Date, zone: number): Parts {
  date.setUTCMinutes(date.getUTCMinutes() + zone);
  return [
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ];
}

/** Whether the time zone of this process is UTC, under any of its names. */
export function runsInUtc(): boolean {
  return ['UTC', 'Etc/UTC', 'Etc/UCT', 'UCT', 'Zulu', 'Etc/Zulu', 'Universal', 'Etc/Universal'].includes(
    Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
}
