import type { TypeOf } from '../schema/data-type.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';

/** A duration with separate months and days, as databases store it: a month has no fixed number of days, and a day none of hours. */
export interface Interval {
  readonly months: bigint;
  readonly days: bigint;
  readonly micros: bigint;
}

const WHOLE = '([+-]?\\d{1,18})';
const ISO = new RegExp(
  `^([+-]?)P(?=[^T]|T.)(?:${WHOLE}Y)?(?:${WHOLE}M)?(?:${WHOLE}W)?(?:${WHOLE}D)?(?:T(?=.)(?:${WHOLE}H)?(?:${WHOLE}M)?(?:([+-]?)(\\d{1,18})(?:[.,](\\d{1,9}))?S)?)?$`,
);
/** Django's format, `[DD] [HH:[MM:]]ss[.uuuuuu]`: with a single colon, minutes precede it. */
const CLOCK =
  /^(?:([+-]?\d{1,18})\s+(?:days?,?\s+)?)?([+-]?)(?:(?:(\d{1,18}):)?(\d{1,18}):)?(\d{1,18})(?:[.,](\d{1,9}))?$/;
/** PostgreSQL's format: `1 year 2 mons -3 days +04:05:06.789`. */
const WORDS = new RegExp(
  `^(?:${WHOLE} years?(?: |$))?(?:${WHOLE} mon(?:th)?s?(?: |$))?(?:${WHOLE} days?(?: |$))?(?:([+-]?)(\\d{1,18}):(\\d{2}):(\\d{2})(?:\\.(\\d{1,9}))?)?$`,
);

const WRONG =
  'Duration has wrong format. Use one of these formats instead: P[n]Y[n]M[n]W[n]DT[n]H[n]M[n]S, [DD] [HH:[MM:]]ss[.uuuuuu].';

const MAX_32 = 2n ** 31n - 1n;
const MAX_64 = 2n ** 63n - 1n;

/** Parses an interval to its canonical form, `P1Y2M3DT4H5M6.789S`; digits of a second beyond the column's are truncated. */
export function parseInterval(input: unknown, type: TypeOf<'interval'>): Outcome<string> {
  const interval =
    typeof input === 'string' || typeof input === 'number' ? intervalOf(String(input).trim()) : undefined;
  if (!interval || !fits(interval)) return invalid(WRONG);
  const unit = 10n ** BigInt(6 - type.digits);
  return valid(formatInterval({ ...interval, micros: (interval.micros / unit) * unit }));
}

export function formatInterval({ months, days, micros }: Interval): string {
  const seconds = secondsText(micros % 60_000_000n);
  const day = part(months / 12n, 'Y') + part(months % 12n, 'M') + part(days, 'D');
  const clock =
    part(micros / 3_600_000_000n, 'H') +
    part((micros / 60_000_000n) % 60n, 'M') +
    (seconds === '0' ? '' : `${seconds}S`);
  if (day + clock === '') return 'PT0S';
  return clock === '' ? `P${day}` : `P${day}T${clock}`;
}

function part(value: bigint, unit: string): string {
  return value === 0n ? '' : `${value}${unit}`;
}

function secondsText(micros: bigint): string {
  const size = micros < 0n ? -micros : micros;
  const fraction = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micros < 0n ? '-' : ''}${size / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}

function fits({ months, days, micros }: Interval): boolean {
  return within(months, MAX_32) && within(days, MAX_32) && within(micros, MAX_64);
}

function within(value: bigint, most: bigint): boolean {
  return value <= most && value >= -most;
}

function intervalOf(text: string): Interval | undefined {
  return fromIso(text) ?? fromClock(text) ?? fromWords(text);
}

function fromIso(text: string): Interval | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, sign, years, months, weeks, days, hours, minutes, secondsSign, seconds, fraction] = match;
  const clock =
    whole(hours) * 3_600_000_000n +
    whole(minutes) * 60_000_000n +
    signed(secondsSign, microsOf(seconds, fraction));
  const turn = sign === '-' ? -1n : 1n;
  return {
    months: turn * (whole(years) * 12n + whole(months)),
    days: turn * (whole(weeks) * 7n + whole(days)),
    micros: turn * clock,
  };
}

function fromClock(text: string): Interval | undefined {
  const match = CLOCK.exec(text);
  if (!match) return undefined;
  const [, days, sign, hours, minutes, seconds, fraction] = match;
  return {
    months: 0n,
    days: whole(days),
    micros: signed(sign, clockMicros([hours, minutes, seconds], fraction)),
  };
}

function fromWords(text: string): Interval | undefined {
  const match = text === '' ? null : WORDS.exec(text);
  if (!match) return undefined;
  const [, years, months, days, sign, hours, minutes, seconds, fraction] = match;
  return {
    months: whole(years) * 12n + whole(months),
    days: whole(days),
    micros: signed(sign, clockMicros([hours, minutes, seconds], fraction)),
  };
}

function clockMicros(
  [hours, minutes, seconds]: readonly (string | undefined)[],
  fraction: string | undefined,
): bigint {
  return whole(hours) * 3_600_000_000n + whole(minutes) * 60_000_000n + microsOf(seconds, fraction);
}

function microsOf(seconds: string | undefined, fraction = ''): bigint {
  return whole(seconds) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

function whole(text = '0'): bigint {
  return BigInt(text.replace(/^\+/, ''));
}

function signed(sign: string | undefined, value: bigint): bigint {
  return sign === '-' ? -value : value;
}
