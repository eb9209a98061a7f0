import { describe, expect, test } from '@jest/globals';
import { formatInterval, parseInterval } from './intervals.js';

const MICROS = { kind: 'interval', digits: 6 } as const;
const WRONG = {
  errors: [
    'Duration has wrong format. Use one of these formats instead: P[n]Y[n]M[n]W[n]DT[n]H[n]M[n]S, [DD] [HH:[MM:]]ss[.uuuuuu].',
  ],
};
const LONG = 1_000_000;

describe('an interval', () => {
  test.each<[input: unknown, value: string]>([
    ['P1Y2M3DT4H5M6.789S', 'P1Y2M3DT4H5M6.789S'],
    ['P14M', 'P1Y2M'],
    ['-P1DT2H', 'P-1DT-2H'],
    ['P-1DT2H', 'P-1DT2H'],
    ['PT-0.5S', 'PT-0.5S'],
    ['PT0.5S', 'PT0.5S'],
    ['PT3600S', 'PT1H'],
    ['P2W', 'P14D'],
    ['P0D', 'PT0S'],
    ['PT1,5S', 'PT1.5S'],
    ['30', 'PT30S'],
    [30, 'PT30S'],
    [-1.5, 'PT-1.5S'],
    ['05:06', 'PT5M6S'],
    ['3 04:05:06', 'P3DT4H5M6S'],
    ['3 days, 04:05:06', 'P3DT4H5M6S'],
    ['-1 23:59:30', 'P-1DT23H59M30S'],
    ['-00:00:30', 'PT-30S'],
    ['100:00:00', 'PT100H'],
    ['1 day', 'P1D'],
    ['1 year 2 mons 3 days 04:05:06', 'P1Y2M3DT4H5M6S'],
    ['-1 year +2 mons -03:04:05.678', 'P-10MT-3H-4M-5.678S'],
    [' P1D ', 'P1D'],
    ['P178956970Y7M', 'P178956970Y7M'],
    ['P2147483647D', 'P2147483647D'],
    ['PT2562047788H54.775807S', 'PT2562047788H54.775807S'],
  ])('takes %j for %s', (input, value) => {
    expect(parseInterval(input, MICROS)).toEqual({ value });
  });

  test.each([
    [0, 'PT1S'],
    [3, 'PT1.987S'],
    [6, 'PT1.987654S'],
  ])('cuts a fraction to the %d digits of the column', (digits, value) => {
    expect(parseInterval('PT1.9876549S', { kind: 'interval', digits })).toEqual({ value });
  });

  test.each([
    '',
    'P',
    'PT',
    'P1',
    'P1DT',
    'P1H',
    'P1.5D',
    'PT1.5H',
    'P1D2Y',
    'p1d',
    "1 day'",
    '1;2',
    '1 day\u0000',
    '\u0661 day',
    '1 fortnight',
    '5 minutes',
    'infinity',
    '1:2:3:4',
    'P178956971Y',
    'P2147483648D',
    'PT9223372036855S',
    '1 day'.repeat(1000),
    ' '.repeat(LONG),
    '1'.repeat(LONG),
    `P${'1'.repeat(LONG)}Y`,
    '1 '.repeat(LONG),
    true,
    [],
    {},
    Infinity,
    NaN,
    1e21,
  ])('is none: %#', (input) => {
    expect(parseInterval(input, MICROS)).toEqual(WRONG);
  });

  test.each([
    [{ months: 0n, days: 0n, micros: 0n }, 'PT0S'],
    [{ months: -13n, days: 0n, micros: 60_000_000n }, 'P-1Y-1MT1M'],
    [{ months: 0n, days: -1n, micros: -1n }, 'P-1DT-0.000001S'],
    [{ months: 0n, days: 0n, micros: -3_661_500_000n }, 'PT-1H-1M-1.5S'],
  ])('%# is written in ISO 8601', (interval, text) => {
    expect(formatInterval(interval)).toBe(text);
    expect(parseInterval(text, MICROS)).toEqual({ value: text });
  });
});
