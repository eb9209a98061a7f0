import { describe, expect, test } from '@jest/globals';
import type { Json } from '../errors/rest-exception.js';
import type { Key } from '../schema/resource-schema.js';
import type { DataType } from '../schema/data-type.js';
import {
  decodedSegment,
  keyRepresentation,
  keyText,
  noSuchKey,
  parseKeySegment,
  parseKeyValue,
} from './keys.js';

const INT: DataType = { kind: 'integer', min: -(2 ** 31), max: 2 ** 31 - 1 };
const BIGINT: DataType = { kind: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n };
const STRING: DataType = { kind: 'string', trim: true, maxLength: 20 };
const UUID: DataType = { kind: 'uuid' };
const LONG = 1_000_000;
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

function keyOf(...types: readonly DataType[]): Key {
  return {
    columns: types.map((type, index) => ({ id: `c${index}`, path: `c${index}`, type, nullable: false })),
  };
}

describe('keyText', () => {
  test.each<[values: readonly Json[], text: string]>([
    [[1], '1'],
    [['9007199254740993'], '9007199254740993'],
    [['a/b'], 'a%2Fb'],
    [['a,b'], 'a%2Cb'],
    [['100%'], '100%25'],
    [[' ?#&=+'], '%20%3F%23%26%3D%2B'],
    [['\u00e9\u{1f600}'], '%C3%A9%F0%9F%98%80'],
    [['2022-10-02T09:23:28.297Z'], '2022-10-02T09%3A23%3A28.297Z'],
    [[1, 2], '1,2'],
    [['a,b', 'c/d'], 'a%2Cb,c%2Fd'],
    [[1, ID, true], `1,${ID},true`],
  ])('%j stands in a URL as %s', (values, text) => {
    expect(keyText(values)).toBe(text);
  });
});

test.each<[values: readonly Json[], shown: Json]>([
  [[1], 1],
  [['9007199254740993'], '9007199254740993'],
  [['a/b'], 'a/b'],
  [[1, 2], '1,2'],
  [['a,b', 'c'], 'a%2Cb,c'],
])('the key %j stands in a body as %j', (values, shown) => {
  expect(keyRepresentation(values)).toEqual(shown);
});

describe('parseKeySegment', () => {
  test.each<[segment: string, type: DataType, value: Json]>([
    ['1', INT, 1],
    ['-1', INT, -1],
    ['0', INT, 0],
    ['2147483647', INT, 2147483647],
    ['%31', INT, 1],
    ['9007199254740993', BIGINT, '9007199254740993'],
    [ID, UUID, ID],
    [ID.toUpperCase(), UUID, ID],
    ['a', STRING, 'a'],
    ['a%2Fb', STRING, 'a/b'],
    ['a,b', STRING, 'a,b'],
    ['a%2Cb', STRING, 'a,b'],
    ['+', STRING, '+'],
    ['%20a%20', STRING, ' a '],
    ['%F0%9F%98%80', STRING, '\u{1f600}'],
    ['__proto__', STRING, '__proto__'],
    ['longer%20than%20the%20column%20can%20hold', STRING, 'longer than the column can hold'],
    ['a', { kind: 'enum', values: ['a', 'b'] }, 'a'],
    ['1', { kind: 'enum', values: [1, 2] }, 1],
    ['true', { kind: 'boolean' }, true],
    ['2022-10-02', { kind: 'date' }, '2022-10-02'],
    [
      '2022-10-02T09%3A23%3A28.297Z',
      { kind: 'datetime', digits: 3, zoned: true },
      '2022-10-02T09:23:28.297Z',
    ],
  ])('%s is a key of %j: %j', (segment, type, value) => {
    expect(parseKeySegment(segment, keyOf(type))).toEqual([value]);
  });

  test.each<[segment: string, type: DataType]>([
    ['abc', INT],
    ['1.5', INT],
    ['1.0', INT],
    ['01', INT],
    ['+1', INT],
    ['-0', INT],
    ['%201', INT],
    ['1%20', INT],
    ['1%0A', INT],
    ['1e2', INT],
    ['1_0', INT],
    ['0x1', INT],
    ['%D9%A3', INT],
    ['1,2', INT],
    ['1%2C2', INT],
    ['2147483648', INT],
    ['-2147483649', INT],
    ['9'.repeat(LONG), INT],
    ['NaN', INT],
    ['null', INT],
    ['true', INT],
    ['', INT],
    ['9223372036854775808', BIGINT],
    ['007', BIGINT],
    ['1.5', BIGINT],
    ['', BIGINT],
    ['abc', UUID],
    [`${ID}0`, UUID],
    ['', UUID],
    ['%00', STRING],
    ['a%00', STRING],
    ['%', STRING],
    ['%zz', STRING],
    ['%E0%A4%A', STRING],
    ['%ED%A0%80', STRING],
    ['%C0%80', STRING],
    ['%FF', STRING],
    ['', STRING],
    ['c', { kind: 'enum', values: ['a', 'b'] }],
    ['A', { kind: 'enum', values: ['a', 'b'] }],
    ['01', { kind: 'enum', values: [1, 2] }],
    ['1', { kind: 'boolean' }],
    ['2022-02-30', { kind: 'date' }],
  ])('%# names no row of %j', (segment, type) => {
    expect(parseKeySegment(segment, keyOf(type))).toBeUndefined();
  });

  test.each<[segment: string, values: readonly Json[]]>([
    ['1,a', [1, 'a']],
    ['1,a%2Cb', [1, 'a,b']],
    ['-1,%2F', [-1, '/']],
  ])('%s is a composite key: %j', (segment, values) => {
    expect(parseKeySegment(segment, keyOf(INT, STRING))).toEqual(values);
  });

  test.each([
    '1',
    '1,',
    ',a',
    ',',
    '1,a,b',
    'a,1',
    '01,a',
    '1%2Ca',
    '1,%00',
    '1,%',
    ','.repeat(LONG),
    '1,a,',
  ])('%# is no key of two columns', (segment) => {
    expect(parseKeySegment(segment, keyOf(INT, STRING))).toBeUndefined();
  });

  test.each([
    'a',
    'a/b',
    'a,b',
    '%',
    '%2F',
    ' ',
    '.',
    '..',
    '?#&=+;@',
    "!'()*~",
    '\u00e9',
    '\u{1f600}',
    '\u2028',
    '\\',
    '"',
    '<b>',
    'constructor',
  ])('reads back the text key %j that keyText wrote', (text) => {
    expect(parseKeySegment(keyText([text]), keyOf(STRING))).toEqual([text]);
    expect(parseKeySegment(keyText([text, text]), keyOf(STRING, STRING))).toEqual([text, text]);
  });
});

test.each([
  ['a%2Fb', 'a/b'],
  ['a+b', 'a+b'],
  ['%25', '%'],
  ['%2525', '%25'],
  ['', ''],
])('the segment %j says %j', (segment, text) => {
  expect(decodedSegment(segment)).toBe(text);
});

test.each(['%', '%1', '%zz', '%FF', '%C3', '%ED%A0%80', '%C0%AF', '%F8%88%80%80%80', `${'a'.repeat(LONG)}%`])(
  'the escapes of %# are broken',
  (segment) => {
    expect(decodedSegment(segment)).toBeUndefined();
  },
);

describe('parseKeyValue', () => {
  test.each<[input: unknown, type: DataType, value: Json]>([
    [1, INT, 1],
    ['1', INT, 1],
    [7.0, INT, 7],
    [-0, INT, 0],
    [5, BIGINT, '5'],
    ['9007199254740993', BIGINT, '9007199254740993'],
    ['a', STRING, 'a'],
    [5, STRING, '5'],
    ['a,b', STRING, 'a,b'],
    ['a%2Fb', STRING, 'a%2Fb'],
    [ID.toUpperCase(), UUID, ID],
  ])('%j is a key of %j: %j', (input, type, value) => {
    expect(parseKeyValue(input, keyOf(type))).toEqual({ value: [value] });
  });

  test.each<[input: unknown, name: string]>([
    ['abc', 'str'],
    ['1.5', 'str'],
    ['1e2', 'str'],
    ['', 'str'],
    ['1_0', 'str'],
    [1.5, 'float'],
    [true, 'bool'],
    [false, 'bool'],
    [[], 'list'],
    [[1], 'list'],
    [{}, 'dict'],
    [{ id: 1 }, 'dict'],
  ])('%j is of a wrong type: %s', (input, name) => {
    expect(parseKeyValue(input, keyOf(INT))).toEqual({
      errors: [`Incorrect type. Expected pk value, received ${name}.`],
    });
  });

  test.each<[input: unknown, name: string]>([
    [true, 'bool'],
    [['a'], 'list'],
    [{ id: 'a' }, 'dict'],
  ])('%j is no key of text', (input, name) => {
    expect(parseKeyValue(input, keyOf(STRING))).toEqual({
      errors: [`Incorrect type. Expected pk value, received ${name}.`],
    });
  });

  test.each<[input: unknown, shown: string]>([
    [2147483648, '2147483648'],
    ['2147483648', '2147483648'],
    ['-9999999999', '-9999999999'],
  ])('%j, which no row can have, is a key of no row', (input, shown) => {
    expect(parseKeyValue(input, keyOf(INT))).toEqual({
      errors: [`Invalid pk "${shown}" - object does not exist.`],
    });
  });

  test.each(['\u0000', 'a\u0000', '\ud800'])('%# is a key of no row, because no column holds it', (input) => {
    expect(parseKeyValue(input, keyOf(STRING))).toEqual({ errors: [noSuchKey(input)] });
  });

  test('takes a composite key as the text that stands in its URL', () => {
    expect(parseKeyValue('1,a%2Cb', keyOf(INT, STRING))).toEqual({ value: [1, 'a,b'] });
    expect(parseKeyValue(keyRepresentation([1, 'a,b']), keyOf(INT, STRING))).toEqual({ value: [1, 'a,b'] });
  });

  test.each<[input: unknown, name: string]>([
    ['1', 'str'],
    ['x,a', 'str'],
    [1, 'int'],
    [[1, 'a'], 'list'],
    [{ c0: 1, c1: 'a' }, 'dict'],
  ])('%j is no composite key', (input, name) => {
    expect(parseKeyValue(input, keyOf(INT, STRING))).toEqual({
      errors: [`Incorrect type. Expected pk value, received ${name}.`],
    });
  });
});

test('a key of no row is not sent back whole when it is long', () => {
  expect(noSuchKey('9'.repeat(LONG))).toBe(`Invalid pk "${'9'.repeat(200)}" - object does not exist.`);
});
