import { describe, expect, test } from '@jest/globals';
import { formatInstant, parseDate, parseDatetime, parseTime } from './dates.js';

const MILLIS = { kind: 'datetime', digits: 3, zoned: true } as const;
const MICROS = { kind: 'datetime', digits: 6, zoned: true } as const;
const TIME = { kind: 'time', digits: 6 } as const;

const NO_DATE = { errors: ['Date has wrong format. Use one of these formats instead: YYYY-MM-DD.'] };
const NO_TIME = { errors: ['Time has wrong format. Use one of these formats instead: hh:mm[:ss[.uuuuuu]].'] };
const NO_DATETIME = {
  errors: [
    'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
  ],
};
const LONG = 1_000_000;

const NO_TEXTS: readonly unknown[] = [
  0,
  20221002,
  1664702608,
  1.5,
  true,
  false,
  [],
  ['2022-10-02'],
  {},
  { date: '2022-10-02' },
];

describe('parseDate', () => {
  test.each([
    '2022-10-02',
    '0001-01-01',
    '0099-12-31',
    '9999-12-31',
    '2024-02-29',
    '2000-02-29',
    '0004-02-29',
    '1969-12-31',
  ])('takes %s', (text) => {
    expect(parseDate(text)).toEqual({ value: text });
  });

  test('gives the canonical text without the blanks around it', () => {
    expect(parseDate(' 2022-10-02\n')).toEqual({ value: '2022-10-02' });
  });

  test.each([
    ...NO_TEXTS,
    '2023-02-29',
    '1900-02-29',
    '2100-02-29',
    '2022-02-30',
    '2022-04-31',
    '2022-13-01',
    '2022-00-10',
    '2022-01-00',
    '2022-01-32',
    '0000-01-01',
    '10000-01-01',
    '-0001-01-01',
    '+2022-10-02',
    '2022-1-2',
    '22-10-02',
    '20221002',
    '2022/10/02',
    '02.10.2022',
    '2022-10',
    '2022',
    '2022-W40-7',
    '2022-275',
    '2022-10-02-',
    '2022-10-02x',
    '2022-10-02Z',
    '2022-10-02\u0000',
    '\u0662\u0660\u0662\u0662-\u0661\u0660-\u0660\u0662',
    '\uff12\uff10\uff12\uff12-10-02',
    '2022\u201010\u201002',
    '2 022-10-02',
    '1_00-10-02',
    'today',
    '',
    ' ',
    'null',
  ])('refuses %j', (input) => {
    expect(parseDate(input)).toEqual(NO_DATE);
  });

  test.each(['2022-10-02T09:23:28Z', '2022-10-02 09:23', '2022-10-02T00:00:00.000Z'])(
    'refuses the date-time %s',
    (text) => {
      expect(parseDate(text)).toEqual({ errors: [expect.any(String)] });
    },
  );
});

describe('parseTime', () => {
  test.each([
    ['09:23', '09:23:00'],
    ['09:23:28', '09:23:28'],
    ['00:00:00', '00:00:00'],
    ['23:59:59.999999', '23:59:59.999999'],
    [' 09:23:28 ', '09:23:28'],
    ['09:23:28.297', '09:23:28.297'],
    ['09:23:28.297000', '09:23:28.297'],
    ['09:23:28.000000', '09:23:28'],
    ['09:23:28.000001', '09:23:28.000001'],
    ['09:23:28.123456789', '09:23:28.123456'],
  ])('takes %s for %s', (input, value) => {
    expect(parseTime(input, TIME)).toEqual({ value });
  });

  test.each([
    [0, '09:23:28'],
    [1, '09:23:28.9'],
    [3, '09:23:28.987'],
    [6, '09:23:28.987654'],
  ])('cuts a fraction to the %d digits of the column', (digits, value) => {
    expect(parseTime('09:23:28.987654', { kind: 'time', digits })).toEqual({ value });
  });

  test.each([
    ...NO_TEXTS,
    '24:00',
    '24:00:00',
    '23:60',
    '23:59:60',
    '99:99',
    '9:23',
    '09:2',
    '09',
    '0923',
    '092328',
    '09:23:',
    '09:23:2',
    '09:23:28.',
    '09:23.5',
    '09:23:28.1234567890',
    '09:23:28Z',
    '09:23:28+02:00',
    '09:23 PM',
    '-09:23',
    '+09:23',
    '09:23:28\u0000',
    '\u0660\u0669:\u0662\u0663',
    '\uff10\uff19:23',
    '2022-10-02T09:23:28Z',
    'noon',
    '',
    ' ',
  ])('refuses %j', (input) => {
    expect(parseTime(input, TIME)).toEqual(NO_TIME);
  });
});

describe('parseDatetime', () => {
  test.each([
    ['2022-10-02T09:23:28.297Z', '2022-10-02T09:23:28.297Z'],
    ['2022-10-02T09:23:28Z', '2022-10-02T09:23:28.000Z'],
    ['2022-10-02T09:23Z', '2022-10-02T09:23:00.000Z'],
    ['2022-10-02t09:23:28z', '2022-10-02T09:23:28.000Z'],
    ['2022-10-02 09:23:28', '2022-10-02T09:23:28.000Z'],
    ['2022-10-02 09:23', '2022-10-02T09:23:00.000Z'],
    ['2022-10-02T09:23:28', '2022-10-02T09:23:28.000Z'],
    [' 2022-10-02T09:23:28Z ', '2022-10-02T09:23:28.000Z'],
    ['2022-10-02T09:23:28.5Z', '2022-10-02T09:23:28.500Z'],
    ['2022-10-02T09:23:28.297999999Z', '2022-10-02T09:23:28.297Z'],
    ['2022-10-02T09:23:28+02:00', '2022-10-02T07:23:28.000Z'],
    ['2022-10-02T09:23:28+0200', '2022-10-02T07:23:28.000Z'],
    ['2022-10-02T09:23:28+02', '2022-10-02T07:23:28.000Z'],
    ['2022-10-02T09:23:28-00:00', '2022-10-02T09:23:28.000Z'],
    ['2022-10-02T09:23:28+05:45', '2022-10-02T03:38:28.000Z'],
    ['2022-10-02T09:23:28+14:00', '2022-10-01T19:23:28.000Z'],
    ['2022-10-02T09:23:28-12:00', '2022-10-02T21:23:28.000Z'],
    ['2022-10-02T09:23:28+23:59', '2022-10-01T09:24:28.000Z'],
    ['2022-01-01T00:30:00+01:00', '2021-12-31T23:30:00.000Z'],
    ['2024-02-29T23:30:00-01:00', '2024-03-01T00:30:00.000Z'],
    ['1969-12-31T23:59:59.500Z', '1969-12-31T23:59:59.500Z'],
    ['1969-12-31T23:59:59.999+00:01', '1969-12-31T23:58:59.999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0050-06-01T00:00:00Z', '0050-06-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('takes %s for the instant %s', (input, value) => {
    expect(parseDatetime(input, MILLIS)).toEqual({ value });
  });

  test.each([
    ['2022-10-02T09:23:28.297123Z', '2022-10-02T09:23:28.297123Z'],
    ['2022-10-02T09:23:28.297Z', '2022-10-02T09:23:28.297000Z'],
    ['2022-10-02T09:23:28Z', '2022-10-02T09:23:28.000000Z'],
    ['1969-12-31T23:59:59.000001+02:00', '1969-12-31T21:59:59.000001Z'],
    ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('keeps the microseconds of %s: %s', (input, value) => {
    expect(parseDatetime(input, MICROS)).toEqual({ value });
  });

  test.each([
    ...NO_TEXTS,
    '2022-10-02T24:00',
    '2022-10-02T24:00:00Z',
    '2022-10-02T23:60:00Z',
    '2016-12-31T23:59:60Z',
    '2022-13-02T09:23:28Z',
    '2022-00-02T09:23:28Z',
    '2023-02-29T09:23:28Z',
    '2022-10-32T09:23:28Z',
    '0000-12-31T23:59:59Z',
    '10000-01-01T00:00:00Z',
    '-0001-01-01T00:00:00Z',
    '+002022-10-02T09:23:28Z',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-12:00',
    '2022-10-02T09:23:28+24:00',
    '2022-10-02T09:23:28-24:00',
    '2022-10-02T09:23:28+05:60',
    '2022-10-02T09:23:28+5:00',
    '2022-10-02T09:23:28+2',
    '2022-10-02T09:23:28+020',
    '2022-10-02T09:23:28+',
    '2022-10-02T9:23',
    '2022-10-02T09',
    '2022-10-02T',
    '2022-10-0209:23',
    '2022-10-02  09:23',
    '2022-10-02_09:23',
    '2022-10-02T09:23:28.Z',
    '2022-10-02T09:23:28ZZ',
    '2022-10-02T09:23:28 UTC',
    '2022-10-02T09:23:28[Europe/Berlin]',
    '20221002T092328Z',
    '2022-W40-7T09:23:28Z',
    'Sun Oct 02 2022 09:23:28 GMT',
    '1664702608',
    '2022-10-02T09:23:28Z\u0000',
    '2022-10-02T09:23:28.1234567890Z',
    '\uff12\uff10\uff12\uff12-10-02T09:23:28Z',
    '2022-10-02T\u0660\u0669:23',
    '2022-10-02T09:23:28\u22120200',
    'now',
    '',
    ' ',
    'Z',
  ])('refuses %j', (input) => {
    expect(parseDatetime(input, MILLIS)).toEqual(NO_DATETIME);
  });

  test('refuses a date alone', () => {
    expect(parseDatetime('2022-10-02', MILLIS)).toEqual({ errors: [expect.any(String)] });
  });
});

test.each([
  ['digits', '1'.repeat(LONG)],
  ['digits of a fraction', `2022-10-02T09:23:28.${'1'.repeat(LONG)}`],
  ['blanks in the middle', `2022-10-02${' '.repeat(LONG)}09:23`],
  ['blanks before the zone', `2022-10-02T09:23${' '.repeat(LONG)}Z`],
  ['colons', `09${':00'.repeat(LONG / 2)}`],
  ['hyphens', `2022${'-10'.repeat(LONG / 2)}`],
])('a text of a million %s is neither a date nor a time', (_name, text) => {
  expect([parseDate(text), parseTime(text, TIME), parseDatetime(text, MILLIS)]).toEqual([
    NO_DATE,
    NO_TIME,
    NO_DATETIME,
  ]);
});

const SECOND = Date.UTC(2022, 9, 2, 9, 23, 28);

describe('formatInstant', () => {
  test.each([
    { instant: 0, micros: '', digits: 3, text: '1970-01-01T00:00:00.000Z' },
    { instant: 0, micros: '5', digits: 3, text: '1970-01-01T00:00:00.500Z' },
    { instant: -1000, micros: '999999', digits: 6, text: '1969-12-31T23:59:59.999999Z' },
    { instant: SECOND, micros: '297123', digits: 3, text: '2022-10-02T09:23:28.297Z' },
    { instant: SECOND, micros: '297123', digits: 4, text: '2022-10-02T09:23:28.2971Z' },
    { instant: SECOND, micros: '297', digits: 6, text: '2022-10-02T09:23:28.297000Z' },
  ])('writes $instant and $micros with $digits digits as $text', ({ instant, micros, digits, text }) => {
    expect(formatInstant(instant, micros, digits)).toBe(text);
  });
});
