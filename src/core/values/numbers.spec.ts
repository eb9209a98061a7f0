import { describe, expect, test } from '@jest/globals';
import { parseBigint, parseDecimal, parseFloatingPoint, parseInteger } from './numbers.js';

const INT = { kind: 'integer', min: -(2 ** 31), max: 2 ** 31 - 1 } as const;
const UNSIGNED = { kind: 'integer', min: 0, max: 255 } as const;
const BIGINT = { kind: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;
const MONEY = { kind: 'decimal', precision: 10, scale: 2 } as const;
const FREE = { kind: 'decimal' } as const;

const NO_INTEGER = { errors: ['A valid integer is required.'] };
const NO_NUMBER = { errors: ['A valid number is required.'] };
const SEND_AS_STRING = { errors: ['Send this number as a string.'] };
const LONG = 1_000_000;

/** Texts that are not numbers for any type of field. Only ASCII digits are accepted, without separators. */
const NONSENSE: readonly unknown[] = [
  'abc',
  '',
  ' ',
  '.',
  '-',
  '+',
  '+-5',
  '--5',
  '5-',
  '1_000',
  '1,000',
  '1 000',
  '1,5',
  '1.2.3',
  '0x10',
  '0b1',
  '0o7',
  '5n',
  '5\u0000',
  '5\u200b',
  '\u0663',
  '\uff13',
  '\u00b2',
  '\u00bd',
  '\u2166',
  '\u22125',
  'NaN',
  'nan',
  'Infinity',
  '-Infinity',
  'inf',
  'null',
  'true',
  'e5',
  '1e',
  '1e+',
  '\ud800',
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  JSON.parse('1e400'),
  true,
  false,
  [],
  [5],
  ['5'],
  {},
  { value: 5 },
];

describe('parseInteger', () => {
  test.each<[input: unknown, value: number]>([
    [3, 3],
    [-3, -3],
    [0, 0],
    [-0, 0],
    [7.0, 7],
    [1e2, 100],
    ['3', 3],
    ['-3', -3],
    ['+5', 5],
    [' 5 ', 5],
    ['\t5\r\n', 5],
    ['\u00a05\u3000', 5],
    ['0', 0],
    ['-0', 0],
    ['+0', 0],
    ['007', 7],
    ['7.0', 7],
    ['-7.000', -7],
    [2147483647, 2147483647],
    ['2147483647', 2147483647],
    [-2147483648, -2147483648],
    ['-2147483648', -2147483648],
  ])('takes %j for %j', (input, value) => {
    expect(parseInteger(input, INT)).toEqual({ value });
  });

  test('takes a number behind many zeros and many blanks', () => {
    expect(parseInteger(`${' '.repeat(100)}${'0'.repeat(300)}5${' '.repeat(100)}`, INT)).toEqual({
      value: 5,
    });
  });

  test.each([...NONSENSE, 7.5, '7.5', '1e2', '1E2', '.5', '-.5', '7.01', 1e-7, Number.MIN_VALUE])(
    'refuses %j',
    (input) => {
      expect(parseInteger(input, INT)).toEqual(NO_INTEGER);
    },
  );

  test.each<[input: unknown]>([
    [2147483648],
    ['2147483648'],
    ['2147483648.0'],
    ['99999999999999999999'],
    [2 ** 53],
    [1e21],
    [Number.MAX_VALUE],
    ['9'.repeat(400)],
  ])('names the greatest value for %j', (input) => {
    expect(parseInteger(input, INT)).toEqual({
      errors: ['Ensure this value is less than or equal to 2147483647.'],
    });
  });

  test.each<[input: unknown]>([
    [-2147483649],
    ['-2147483649'],
    ['-99999999999999999999'],
    [-1e21],
    [-Number.MAX_VALUE],
  ])('names the least value for %j', (input) => {
    expect(parseInteger(input, INT)).toEqual({
      errors: ['Ensure this value is greater than or equal to -2147483648.'],
    });
  });

  test.each<[input: unknown, outcome: unknown]>([
    [0, { value: 0 }],
    [-0, { value: 0 }],
    ['-0', { value: 0 }],
    [255, { value: 255 }],
    [-1, { errors: ['Ensure this value is greater than or equal to 0.'] }],
    ['256', { errors: ['Ensure this value is less than or equal to 255.'] }],
  ])('keeps an unsigned column in its range: %j', (input, outcome) => {
    expect(parseInteger(input, UNSIGNED)).toEqual(outcome);
  });

  test('judges a number of more digits than any column has by its size', () => {
    expect(parseInteger('9'.repeat(500), INT)).toEqual({
      errors: ['Ensure this value is less than or equal to 2147483647.'],
    });
  });
});

describe('parseBigint', () => {
  test.each<[input: unknown, value: string]>([
    [5, '5'],
    [-5, '-5'],
    [0, '0'],
    [-0, '0'],
    [7.0, '7'],
    [999_999_999_999_999, '999999999999999'],
    ['5', '5'],
    ['+5', '5'],
    [' 5 ', '5'],
    ['-0', '0'],
    ['007', '7'],
    ['7.0', '7'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])('takes %j for the text %j', (input, value) => {
    expect(parseBigint(input, BIGINT)).toEqual({ value });
  });

  test.each([2 ** 53, -(2 ** 53), 2 ** 63, 1e21, Number.MAX_VALUE])(
    'rejects %j, whose last digits are lost, and suggests a string',
    (input) => {
      expect(parseBigint(input, BIGINT)).toEqual(SEND_AS_STRING);
    },
  );

  test.each([...NONSENSE, 7.5, '7.5', '1e2', '.5'])('refuses %j', (input) => {
    expect(parseBigint(input, BIGINT)).toEqual(NO_INTEGER);
  });

  test.each([
    ['9223372036854775808', 'Ensure this value is less than or equal to 9223372036854775807.'],
    ['9'.repeat(100), 'Ensure this value is less than or equal to 9223372036854775807.'],
    ['-9223372036854775809', 'Ensure this value is greater than or equal to -9223372036854775808.'],
  ])('names the limit that %s is beyond', (input, message) => {
    expect(parseBigint(input, BIGINT)).toEqual({ errors: [message] });
  });

  test('takes the whole range of an unsigned column', () => {
    const type = { kind: 'bigint', min: 0n, max: 2n ** 64n - 1n } as const;
    expect(parseBigint('18446744073709551615', type)).toEqual({ value: '18446744073709551615' });
    expect(parseBigint('18446744073709551616', type)).toEqual({
      errors: ['Ensure this value is less than or equal to 18446744073709551615.'],
    });
  });
});

describe('parseDecimal', () => {
  test.each<[input: unknown, value: string]>([
    [3, '3.00'],
    [-3.5, '-3.50'],
    [0.1, '0.10'],
    [-0, '0.00'],
    [12345678.9, '12345678.90'],
    ['3', '3.00'],
    ['3.1', '3.10'],
    ['.5', '0.50'],
    ['-.5', '-0.50'],
    ['5.', '5.00'],
    ['+5', '5.00'],
    [' 5 ', '5.00'],
    ['-0', '0.00'],
    ['-0.00', '0.00'],
    ['007.10', '7.10'],
    ['99999999.99', '99999999.99'],
    ['-99999999.99', '-99999999.99'],
    ['2E+1', '20.00'],
    ['2e1', '20.00'],
    ['-1.25e+1', '-12.50'],
    ['1250e-2', '12.50'],
    ['.5e-1', '0.05'],
    ['5.E1', '50.00'],
    ['1e-2', '0.01'],
    ['100e-4', '0.01'],
    ['0.00001e+3', '0.01'],
    ['+0e399', '0.00'],
    ['-0e-5', '0.00'],
    [' 1e2 ', '100.00'],
  ])('gives %j the digits of its column: %j', (input, value) => {
    expect(parseDecimal(input, MONEY)).toEqual({ value });
  });

  test.each<[input: unknown, value: string]>([
    [
      '123456789012345678901234567890.123456789012345678901234567890',
      '123456789012345678901234567890.12345678901234567890123456789',
    ],
    [1e15, '1000000000000000'],
    [1e-7, '0.0000001'],
    [-1.5e-10, '-0.00000000015'],
    [123456789012345, '123456789012345'],
    [0.123456789012345, '0.123456789012345'],
    ['12345678901234567890e-25', '0.000001234567890123456789'],
    ['1e399', `1${'0'.repeat(399)}`],
    ['1e-399', `0.${'0'.repeat(398)}1`],
  ])('loses no digit of %j where the column has no limits', (input, value) => {
    expect(parseDecimal(input, FREE)).toEqual({ value });
  });

  test.each<[input: number, value: string]>([
    [1.23456789012345e-7, '0.000000123456789012345'],
    [1e-21, '0.000000000000000000001'],
    [-1.5e-30, '-0.0000000000000000000000000000015'],
  ])('loses no digit of the small number %j', (input, value) => {
    expect(parseDecimal(input, FREE)).toEqual({ value });
  });

  test.each([
    9007199254740993,
    1e21,
    0.1 + 0.2,
    1234567890.1234567,
    123456789012345.6,
    1.2345678901234567e-7,
    Number.MAX_VALUE,
  ])('rejects %j and suggests a string', (input) => {
    expect(parseDecimal(input, FREE)).toEqual(SEND_AS_STRING);
  });

  test.each([...NONSENSE, '+.', '-.', 'sNaN', '0x1p3'])('refuses %j', (input) => {
    expect(parseDecimal(input, MONEY)).toEqual(NO_NUMBER);
  });

  test.each(['1e', 'e1', '.e1', '1e1.5', '1e1e1', '1 e1', '1e 1', '1e+-1', '1e400', '1e-401', '1e1000000'])(
    'refuses %j, of no form or beyond its limits, in a column without limits',
    (input) => {
      expect(parseDecimal(input, FREE)).toEqual(NO_NUMBER);
    },
  );

  test.each<[input: unknown, message: string]>([
    ['12345678901', 'Ensure that there are no more than 10 digits in total.'],
    ['123456789.01', 'Ensure that there are no more than 10 digits in total.'],
    ['1.234', 'Ensure that there are no more than 2 decimal places.'],
    [0.001, 'Ensure that there are no more than 2 decimal places.'],
    [1e-7, 'Ensure that there are no more than 2 decimal places.'],
    ['123456789', 'Ensure that there are no more than 8 digits before the decimal point.'],
    [123456789, 'Ensure that there are no more than 8 digits before the decimal point.'],
    ['9'.repeat(400), 'Ensure that there are no more than 10 digits in total.'],
    ['1e11', 'Ensure that there are no more than 10 digits in total.'],
    ['1e9', 'Ensure that there are no more than 8 digits before the decimal point.'],
    ['1e-3', 'Ensure that there are no more than 2 decimal places.'],
  ])('names the limit that %j is beyond', (input, message) => {
    expect(parseDecimal(input, MONEY)).toEqual({ errors: [message] });
  });

  test.each([1e-21, 1e-25, 5e-324])('does not take %j, which the column cannot hold, for 0', (input) => {
    expect(parseDecimal(input, MONEY)).toEqual({
      errors: ['Ensure that there are no more than 10 digits in total.'],
    });
  });

  test.each([
    ['0.01', { value: '0.01' }],
    ['.99', { value: '0.99' }],
    ['1', { errors: ['Ensure that there are no more than 0 digits before the decimal point.'] }],
    ['0.001', { errors: ['Ensure that there are no more than 2 digits in total.'] }],
  ])('counts no digit for the zero before the point: %s', (input, outcome) => {
    expect(parseDecimal(input, { kind: 'decimal', precision: 2, scale: 2 })).toEqual(outcome);
  });

  test('takes no fraction where the column has a precision and no scale', () => {
    const type = { kind: 'decimal', precision: 5 } as const;
    expect(parseDecimal('12.0', type)).toEqual({ value: '12' });
    expect(parseDecimal('12.5', type)).toEqual({
      errors: ['Ensure that there are no more than 0 decimal places.'],
    });
  });
});

describe('parseFloatingPoint', () => {
  test.each<[input: unknown, value: number]>([
    [1.5, 1.5],
    [-3, -3],
    [1e308, 1e308],
    [5e-324, 5e-324],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['5.', 5],
    ['+5', 5],
    [' 5 ', 5],
    ['1e2', 100],
    ['1E+2', 100],
    ['1e-2', 0.01],
    ['007', 7],
    ['1e-400', 0],
  ])('takes %j for %j', (input, value) => {
    expect(parseFloatingPoint(input)).toEqual({ value });
  });

  test.each([...NONSENSE, '1e400', '-1e400', '1e99999', '9'.repeat(400), '1.5f', '0x1p3'])(
    'refuses %j',
    (input) => {
      expect(parseFloatingPoint(input)).toEqual(NO_NUMBER);
    },
  );
});

describe('texts of a million characters', () => {
  const TRAPS: readonly (readonly [name: string, text: string])[] = [
    ['digits and a letter', `${'9'.repeat(LONG)}x`],
    ['zeros and a letter', `${'0'.repeat(LONG)}x`],
    ['a fraction of zeros and a letter', `1.${'0'.repeat(LONG)}x`],
    ['zeros between ones', `1.${'0'.repeat(LONG)}1`],
    ['points', '.'.repeat(LONG)],
    ['signs', '-'.repeat(LONG)],
    ['blanks and a letter', `${' '.repeat(LONG)}x`],
    ['blanks between digits', `1${' '.repeat(LONG)}1`],
    ['an exponent', `1e${'9'.repeat(LONG)}`],
  ];

  test.each(TRAPS)('are no number: %s', (_name, text) => {
    const refused = { errors: [expect.any(String)] };
    expect(parseInteger(text, INT)).toEqual(refused);
    expect(parseBigint(text, BIGINT)).toEqual(refused);
    expect(parseDecimal(text, FREE)).toEqual(refused);
    expect(parseFloatingPoint(text)).toEqual(refused);
  });

  test('are refused in the words of Django REST Framework, from 1001 characters on', () => {
    const tooLarge = { errors: ['String value too large.'] };
    const digits = '9'.repeat(1001);
    expect([
      parseInteger(digits, INT),
      parseBigint(digits, BIGINT),
      parseDecimal(digits, FREE),
      parseFloatingPoint(digits),
    ]).toEqual([tooLarge, tooLarge, tooLarge, tooLarge]);
  });
});
