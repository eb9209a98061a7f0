import type { TypeOf } from '../schema/data-type.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME_TEXT = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/;
const DATETIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

const WRONG_DATE = 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.';
const WRONG_TIME = 'Time has wrong format. Use one of these formats instead: hh:mm[:ss[.uuuuuu]].';
const WRONG_DATETIME =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';

/** Parses an existing date of the years 0001 to 9999: `2022-10-02`. */
export function parseDate(input: unknown): Outcome<string> {
  if (typeof input !== 'string') return invalid(WRONG_DATE);
  const text = input.trim();
  if (DATETIME.test(text)) return invalid('Expected a date but got a datetime.');
  return dayNumber(text) === undefined ? invalid(WRONG_DATE) : valid(text);
}

/** Parses a time to `HH:MM:SS[.ffffff]`; digits beyond the column's are truncated. */
export function parseTime(input: unknown, type: TypeOf<'time'>): Outcome<string> {
  const clock = typeof input === 'string' ? parseClock(input.trim()) : undefined;
  if (clock === undefined) return invalid(WRONG_TIME);
  const fraction = clock.micros.slice(0, type.digits).replace(/0+$/, '');
  return valid(fraction === '' ? clock.text : `${clock.text}.${fraction}`);
}

/**
 * Parses an instant to its canonical form, `2022-10-02T09:23:28.297Z` with the type's digits (contract 2.5 and contract 5.6).
 * Accepts any offset, a blank instead of the T, and a time without seconds; the default zone is UTC.
 */
export function parseDatetime(input: unknown, type: TypeOf<'datetime'>): Outcome<string> {
  if (typeof input !== 'string') return invalid(WRONG_DATETIME);
  const text = input.trim();
  if (DATE.test(text)) return invalid('Expected a datetime but got a date.');
  const [, dayText = '', clockText = '', offsetText] = DATETIME.exec(text) ?? [];
  const day = dayNumber(dayText);
  const clock = parseClock(clockText);
  const offset = offsetMinutes(offsetText);
  if (day === undefined || clock === undefined || offset === undefined) return invalid(WRONG_DATETIME);
  const instant = day + clock.seconds * 1000 - offset * 60_000;
  const year = new Date(instant).getUTCFullYear();
  if (year < 1 || year > 9999) return invalid(WRONG_DATETIME);
  return valid(formatInstant(instant, clock.micros.slice(0, type.kept), type.digits));
}

/** Formats an instant: `instant` in epoch milliseconds of a whole second, `micros` with up to six digits of the fraction. */
export function formatInstant(instant: number, micros: string, digits: number): string {
  const whole = new Date(instant).toISOString().slice(0, 19);
  return `${whole}.${formatFraction(micros, digits)}Z`;
}

/** The given number of digits of a fraction, at most six. */
export function formatFraction(fraction: string, digits: number): string {
  return fraction.padEnd(6, '0').slice(0, digits);
}

function dayNumber(text: string): number | undefined {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() : undefined;
}

function parseClock(text: string): { text: string; seconds: number; micros: string } | undefined {
  const match = TIME_TEXT.exec(text);
  if (!match) return undefined;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? '0')];
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const micros = (match[4] ?? '').slice(0, 6).padEnd(6, '0');
  return {
    text: `${match[1]}:${match[2]}:${match[3] ?? '00'}`,
    seconds: hours * 3600 + minutes * 60 + seconds,
    micros,
  };
}

function offsetMinutes(text: string | undefined): number | undefined {
  if (text === undefined || text === 'Z' || text === 'z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
