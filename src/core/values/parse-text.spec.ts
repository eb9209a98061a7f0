import { describe, expect, test } from '@jest/globals';
import type { DataType } from '../schema/data-type.js';
import { parseText, splitValues } from './parse-text.js';

const INT: DataType = { kind: 'integer', min: -100, max: 100 };
const BIGINT: DataType = { kind: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n };
const DECIMAL: DataType = { kind: 'decimal', precision: 6, scale: 2 };
const FLOAT: DataType = { kind: 'float' };
const DATE: DataType = { kind: 'date' };
const TIME: DataType = { kind: 'time', digits: 6 };
const DATETIME: DataType = { kind: 'datetime', digits: 3, zoned: true };
const STRING: DataType = { kind: 'string', trim: true, maxLength: 5 };
const BOOLEAN: DataType = { kind: 'boolean' };

test.each<[text: string, type: DataType, value: unknown]>([
  ['3', INT, 3],
  [' 3 ', INT, 3],
  ['-0', INT, 0],
  ['9007199254740993', BIGINT, '9007199254740993'],
  ['1.5', DECIMAL, '1.50'],
  ['1e2', FLOAT, 100],
  ['2022-10-02', DATE, '2022-10-02'],
  ['09:23', TIME, '09:23:00'],
  ['true', BOOLEAN, true],
  ['0', BOOLEAN, false],
  ['0F8FAD5BD9CB469FA16570867728950E', { kind: 'uuid' }, '0f8fad5b-d9cb-469f-a165-70867728950e'],
  ['1', { kind: 'enum', values: [1, 2] }, 1],
])('%j of a URL is canonical as %j: %j', (text, type, value) => {
  expect(parseText(text, type)).toEqual({ value });
});

test.each([
  '2022-10-02T09:23:28Z',
  '2022-10-02 09:23:28',
  '2022-10-02t11:23:28+02:00',
  '2022-10-02T09:23:28.000000Z',
])('takes %s for its instant', (text) => {
  expect(parseText(text, DATETIME)).toEqual({ value: '2022-10-02T09:23:28.000Z' });
});

describe('texts', () => {
  test.each(['a', ' a ', '', '   ', '%', '_', '\\', "'", 'longer than the column', '\u{1f600}'])(
    'are taken as they are: %j',
    (text) => {
      expect(parseText(text, STRING)).toEqual({ value: text });
    },
  );

  test.each([
    STRING,
    INT,
    DATE,
    BOOLEAN,
    { kind: 'uuid' } as const,
    { kind: 'enum', values: ['a'] } as const,
  ])('hold no NUL and no lone surrogate, for %j', (type) => {
    expect(parseText('1\u0000', type)).toEqual({ errors: ['Null characters are not allowed.'] });
    expect(parseText('\ud83d', type)).toEqual({
      errors: [expect.stringContaining('Surrogate characters are not allowed')],
    });
  });
});

test.each<[text: string, type: DataType]>([
  ['abc', INT],
  ['1.5', INT],
  ['1_0', INT],
  ['0x10', INT],
  ['\u0663', INT],
  ['1e400', INT],
  ['NaN', INT],
  ["1' OR '1'='1", INT],
  ['abc', BIGINT],
  ['1.5', BIGINT],
  ['abc', DECIMAL],
  ['NaN', DECIMAL],
  ['Infinity', DECIMAL],
  ['.', DECIMAL],
  ['abc', FLOAT],
  ['1e400', FLOAT],
  ['NaN', FLOAT],
])('%j is no number: %j', (text, type) => {
  expect(parseText(text, type)).toEqual({ errors: ['Enter a number.'] });
});

test.each(['yesterday', '2023-02-29', '2022-10-02T09:23:28Z', '0000-01-01'])('%j is no date', (text) => {
  expect(parseText(text, DATE)).toEqual({ errors: ['Enter a valid date.'] });
});

test.each(['noon', '24:00', '09:23Z'])('%j is no time', (text) => {
  expect(parseText(text, TIME)).toEqual({ errors: ['Enter a valid time.'] });
});

test.each(['now', '2022-10-02', '1664702608', '2022-10-02T24:00Z', '2022-10-02T09:23:28 02:00'])(
  '%j is no date-time',
  (text) => {
    expect(parseText(text, DATETIME)).toEqual({ errors: ['Enter a valid date/time.'] });
  },
);

test.each<[text: string, type: DataType, message: string]>([
  ['101', INT, 'Ensure this value is less than or equal to 100.'],
  ['-101', INT, 'Ensure this value is greater than or equal to -100.'],
  ['1.234', DECIMAL, 'Ensure that there are no more than 2 decimal places.'],
  ['yes', BOOLEAN, 'Must be a valid boolean.'],
  ['x', { kind: 'enum', values: ['a'] }, '"x" is not a valid choice.'],
])('returns an error for the value %j of the type %j', (text, type, message) => {
  expect(parseText(text, type)).toEqual({ errors: [message] });
});

test.each<[text: string, values: readonly string[]]>([
  ['', ['']],
  ['a', ['a']],
  ['a,b', ['a', 'b']],
  ['a,,b,', ['a', '', 'b', '']],
  [' a , b', [' a ', ' b']],
  ['"a,b",c', ['a,b', 'c']],
  ['c,"a,b"', ['c', 'a,b']],
  ['"",""', ['', '']],
  ['5",6"', ['5"', '6"']],
  ['"a\\"b"', ['a"b']],
  ['"a\\\\"', ['a\\']],
  ['"a\\n"', ['a\\n']],
  ['a\\,b', ['a\\', 'b']],
])('%j holds %j', (text, values) => {
  expect(splitValues(text)).toEqual({ value: values });
});

test.each<[text: string, message: string]>([
  ['"', 'A quote is not closed.'],
  ['"a,b', 'A quote is not closed.'],
  ['"a\\"', 'A quote is not closed.'],
  ['"a"b', 'Write a comma behind a quoted value.'],
  ['x,"a" ,b', 'Write a comma behind a quoted value.'],
])('%j returns the error: %s', (text, message) => {
  expect(splitValues(text)).toEqual({ errors: [message] });
});
