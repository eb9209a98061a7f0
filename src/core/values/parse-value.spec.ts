import { describe, expect, test } from '@jest/globals';
import type { DataType } from '../schema/data-type.js';
import { parseBoolean, parseUuid, parseValue } from './parse-value.js';

const LONG = 1_000_000;
const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';

test.each<[type: DataType, input: unknown, value: unknown]>([
  [{ kind: 'integer', min: 0, max: 9 }, '7.0', 7],
  [{ kind: 'bigint', min: 0n, max: 99n }, 7, '7'],
  [{ kind: 'decimal', precision: 4, scale: 2 }, '1.5', '1.50'],
  [{ kind: 'float' }, '1e2', 100],
  [{ kind: 'boolean' }, '1', true],
  [{ kind: 'string', trim: true }, ' a ', 'a'],
  [{ kind: 'date' }, '2022-10-02', '2022-10-02'],
  [{ kind: 'time', digits: 6 }, '09:23', '09:23:00'],
  [{ kind: 'datetime', digits: 3, zoned: false }, '2022-10-02 09:23', '2022-10-02T09:23:00.000Z'],
  [{ kind: 'interval', digits: 6 }, ' 1 day ', 'P1D'],
  [{ kind: 'uuid' }, UUID.toUpperCase(), UUID],
  [{ kind: 'enum', values: ['draft'] }, 'draft', 'draft'],
  [{ kind: 'set', values: ['a', 'b'] }, ['b'], ['b']],
  [{ kind: 'json' }, { a: [1] }, { a: [1] }],
  [{ kind: 'list', of: { kind: 'string', trim: false }, storage: 'text' }, ['a'], ['a']],
  [{ kind: 'binary' }, 'QUJD', 'QUJD'],
])('a value of the type %j: %j is %j', (type, input, value) => {
  expect(parseValue(input, type)).toEqual({ value });
});

describe('a boolean', () => {
  test.each<[input: unknown, value: boolean]>([
    [true, true],
    [1, true],
    [1.0, true],
    ['true', true],
    ['1', true],
    [false, false],
    [0, false],
    [-0, false],
    ['false', false],
    ['0', false],
  ])('%j is %j', (input, value) => {
    expect(parseBoolean(input)).toEqual({ value });
  });

  test.each([
    '',
    ' ',
    'yes',
    'no',
    'on',
    't',
    '2',
    '-1',
    '01',
    '1.0',
    '\uff11',
    'true\u0000',
    2,
    -1,
    0.5,
    Number.NaN,
    [],
    [true],
    {},
  ])('%j is none', (input) => {
    expect(parseBoolean(input)).toEqual({ errors: ['Must be a valid boolean.'] });
  });
});

describe('a string', () => {
  const TRIMMED = { kind: 'string', trim: true } as const;
  const KEPT = { kind: 'string', trim: false } as const;

  test.each<[input: unknown, value: string]>([
    ['a', 'a'],
    ['  a b\t', 'a b'],
    ['\u00a0\u3000a\u2003', 'a'],
    ['', ''],
    ['   ', ''],
    ['\n\r\n', ''],
    ['<b>', '<b>'],
    ['\u200ba', '\u200ba'],
    [5, '5'],
    [-7.5, '-7.5'],
    [0, '0'],
    [-0, '0'],
    ['5.0', '5.0'],
    [1e21, '1e+21'],
  ])('%j is kept without the blanks around it: %j', (input, value) => {
    expect(parseValue(input, TRIMMED)).toEqual({ value });
  });

  test.each(['  a ', ' ', '\t', '\u00a0', ''])('%j is kept as it is where the field keeps blanks', (text) => {
    expect(parseValue(text, KEPT)).toEqual({ value: text });
  });

  test.each<unknown>([true, false, [], ['a'], {}, { toString: 'a' }])('%j is none', (input) => {
    expect(parseValue(input, TRIMMED)).toEqual({ errors: ['Not a valid string.'] });
  });

  test.each(['\u0000', ' \u0000 ', 'a\u0000'])('holds no NUL: %j', (text) => {
    expect(parseValue(text, TRIMMED)).toEqual({ errors: ['Null characters are not allowed.'] });
  });

  test.each(['\ud800', 'a\udfff', '\ude00\ud83d'])('holds no lone surrogate: %j', (text) => {
    expect(parseValue(text, TRIMMED)).toEqual({
      errors: [expect.stringContaining('Surrogate characters are not allowed')],
    });
  });

  test.each([
    ['abcde', 'abcde'],
    ['  abcde  ', 'abcde'],
    ['\u{1f600}'.repeat(5), '\u{1f600}'.repeat(5)],
    [`${' '.repeat(LONG)}abcde`, 'abcde'],
  ])('has its length in code points, without the blanks around it: %#', (text, value) => {
    expect(parseValue(text, { ...TRIMMED, maxLength: 5 })).toEqual({ value });
  });

  test.each([
    'abcdef',
    '\u{1f600}'.repeat(6),
    'e\u0301e\u0301e\u0301',
    123456,
    'a'.repeat(LONG),
    '\u{1f600}'.repeat(LONG),
    `a${' '.repeat(LONG)}b`,
  ])('is too long: %#', (input) => {
    expect(parseValue(input, { ...TRIMMED, maxLength: 5 })).toEqual({
      errors: ['Ensure this field has no more than 5 characters.'],
    });
  });

  test('counts the blanks around it where the field keeps them', () => {
    expect(parseValue('  abcde', { ...KEPT, maxLength: 5 })).toEqual({
      errors: ['Ensure this field has no more than 5 characters.'],
    });
  });
});

describe('a uuid', () => {
  test.each([
    UUID,
    UUID.toUpperCase(),
    UUID.replaceAll('-', ''),
    ` ${UUID}\n`,
    '00000000-0000-0000-0000-000000000000',
  ])('%j is taken, in lower case with hyphens', (text) => {
    expect(parseUuid(text)).toEqual({ value: text.startsWith('0000') ? text : UUID });
  });

  test.each([
    '',
    ' ',
    'abc',
    UUID.slice(1),
    `${UUID}0`,
    UUID.replace('0f', '0g'),
    UUID.replace('-', ''),
    UUID.replaceAll('-', ' '),
    UUID.replaceAll('-', '\u2010'),
    `{${UUID}`,
    `${UUID}\u0000`,
    UUID.replace('0f8fad5b', '\uff10f8fad5b'),
    '0f8f-ad5bd9cb469fa16570867728950e',
    'f'.repeat(LONG),
    '-'.repeat(36),
    5,
    0,
    true,
    [],
    [UUID],
    {},
  ])('is refused: %#', (input) => {
    expect(parseUuid(input)).toEqual({ errors: ['Must be a valid UUID.'] });
  });
});

describe('an enum', () => {
  const WORDS = { kind: 'enum', values: ['draft', 'in print', '', '1'] } as const;
  const NUMBERS = { kind: 'enum', values: [0, 1, 10] } as const;

  test.each<[type: typeof WORDS | typeof NUMBERS, input: unknown, value: string | number]>([
    [WORDS, 'draft', 'draft'],
    [WORDS, 'in print', 'in print'],
    [WORDS, '', ''],
    [WORDS, 1, '1'],
    [NUMBERS, 1, 1],
    [NUMBERS, '1', 1],
    [NUMBERS, 0, 0],
    [NUMBERS, -0, 0],
    [NUMBERS, '10', 10],
  ])('of %j takes %j for %j', (type, input, value) => {
    expect(parseValue(input, type)).toEqual({ value });
  });

  test.each<[input: unknown, shown: string]>([
    ['Draft', 'Draft'],
    [' draft', ' draft'],
    ['01', '01'],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ['length', 'length'],
    [2, '2'],
    [['draft'], '["draft"]'],
    [{}, '{}'],
  ])('refuses %j', (input, shown) => {
    expect(parseValue(input, WORDS)).toEqual({ errors: [`"${shown}" is not a valid choice.`] });
  });

  test.each(['1.0', '01', ' 1', '1 ', '+1', '', '\uff11'])('of numbers refuses the text %j', (text) => {
    expect(parseValue(text, NUMBERS)).toEqual({ errors: [`"${text}" is not a valid choice.`] });
  });

  test.each([true, false])('does not take %j for a number', (input) => {
    expect(parseValue(input, NUMBERS)).toEqual({
      errors: [expect.stringMatching(/^".*" is not a valid choice\.$/)],
    });
  });

  test('does not send a long text back', () => {
    expect(parseValue('x'.repeat(LONG), WORDS)).toEqual({
      errors: [`"${'x'.repeat(100)}" is not a valid choice.`],
    });
  });
});

describe('a set', () => {
  const TYPE = { kind: 'set', values: ['a', 'b', 'c'] } as const;

  test.each<[input: readonly string[], value: readonly string[]]>([
    [[], []],
    [
      ['c', 'a'],
      ['a', 'c'],
    ],
    [['b', 'b', 'b'], ['b']],
  ])('takes %j for %j, each value once, in the order of the column', (input, value) => {
    expect(parseValue(input, TYPE)).toEqual({ value });
  });

  test.each<[input: unknown, type: string]>([
    ['a', 'str'],
    ['a,b', 'str'],
    [{ 0: 'a' }, 'dict'],
    [5, 'int'],
    [true, 'bool'],
  ])('is no %j', (input, type) => {
    expect(parseValue(input, TYPE)).toEqual({ errors: [`Expected a list of items but got type "${type}".`] });
  });

  test('names every value that it has not', () => {
    expect(parseValue(['a', 'x', 1, null, ['a']], TYPE)).toEqual({
      errors: [
        '"x" is not a valid choice.',
        '"1" is not a valid choice.',
        '"null" is not a valid choice.',
        '"["a"]" is not a valid choice.',
      ],
    });
  });
});

describe('a json value', () => {
  test.each<[input: unknown]>([
    [{}],
    [[]],
    ['text'],
    [''],
    [0],
    [1.5],
    [true],
    [{ a: { b: [null, 'c', { d: false }] } }],
    [{ '': '' }],
  ])('%j is kept as it is', (input) => {
    expect(parseValue(input, { kind: 'json' })).toEqual({ value: input });
  });

  test('keeps a member called __proto__', () => {
    const input: unknown = JSON.parse('{"__proto__": {"a": 1}}');
    const outcome = parseValue(input, { kind: 'json' });
    expect(JSON.stringify(outcome)).toBe('{"value":{"__proto__":{"a":1}}}');
  });

  test.each<[input: unknown]>([
    ['\u0000'],
    [['a', '\u0000']],
    [{ a: { b: 'x\u0000' } }],
    [{ '\u0000': 1 }],
    [{ a: [{ 'b\u0000': null }] }],
  ])('holds no NUL anywhere: %j', (input) => {
    expect(parseValue(input, { kind: 'json' })).toEqual({ errors: ['Null characters are not allowed.'] });
  });

  test('is looked through however deep it is', () => {
    const nested = (innermost: unknown): unknown => {
      let value = innermost;
      for (let depth = 0; depth < 100_000; depth++) value = [value];
      return value;
    };
    expect(parseValue(nested('\u0000'), { kind: 'json' })).toEqual({
      errors: ['Null characters are not allowed.'],
    });
    const fine = nested('fine');
    const outcome = parseValue(fine, { kind: 'json' });
    expect('value' in outcome && outcome.value === fine).toBe(true);
  });
});

describe('a list', () => {
  const NUMBERS = { kind: 'list', of: { kind: 'integer', min: 0, max: 9 }, storage: 'array' } as const;
  const TEXTS = { kind: 'list', of: { kind: 'string', trim: false }, storage: 'text' } as const;

  test.each<[input: readonly unknown[], value: readonly number[]]>([
    [[], []],
    [
      [1, '2', 3.0],
      [1, 2, 3],
    ],
  ])('takes %j for %j', (input, value) => {
    expect(parseValue(input, NUMBERS)).toEqual({ value });
  });

  test('names every item that is wrong', () => {
    expect(parseValue([1, 'x', null, 10, [1]], NUMBERS)).toEqual({
      errors: [
        'Item 1: A valid integer is required.',
        'Item 2: This field may not be null.',
        'Item 3: Ensure this value is less than or equal to 9.',
        'Item 4: A valid integer is required.',
      ],
    });
  });

  test.each<[input: unknown, type: string]>([
    ['1,2', 'str'],
    ['', 'str'],
    [{ 0: 1, length: 1 }, 'dict'],
    [5, 'int'],
    [1.5, 'float'],
    [false, 'bool'],
  ])('is no %j', (input, type) => {
    expect(parseValue(input, NUMBERS)).toEqual({
      errors: [`Expected a list of items but got type "${type}".`],
    });
  });

  test('keeps texts of a simple-array with their blanks', () => {
    expect(parseValue([' a ', '"b"', 5], TEXTS)).toEqual({ value: [' a ', '"b"', '5'] });
  });

  test('refuses an item that would come back from a simple-array as two', () => {
    expect(parseValue(['a', 'b,c', '\u0000'], TEXTS)).toEqual({
      errors: ['Item 1: A comma is not allowed here.', 'Item 2: Null characters are not allowed.'],
    });
  });

  test('takes a comma where the column is an array', () => {
    expect(parseValue(['b,c'], { ...TEXTS, storage: 'array' })).toEqual({ value: ['b,c'] });
  });
});

test.each<[type: DataType]>([
  [{ kind: 'set', values: ['a'] }],
  [{ kind: 'list', of: { kind: 'boolean' }, storage: 'array' }],
])('refuses half a million wrong items of %j', (type) => {
  expect(parseValue(new Array<number>(500_000).fill(7), type)).toHaveProperty('errors');
});

describe('a binary value', () => {
  const BYTES = { kind: 'binary' } as const;

  test.each(['', 'QUJD', 'QQ==', 'QUI=', '+/+/', 'AAAA', 'QUJD'.repeat(LONG)])(
    'is taken as base64: %#',
    (text) => {
      expect(parseValue(text, BYTES)).toEqual({ value: text });
    },
  );

  test.each([
    'Q',
    'QQ',
    'QQ=',
    'QUI',
    'Q===',
    '====',
    '=',
    'QQ==QQ==',
    'QUJDRA=',
    'QQ== ',
    ' QUJD',
    'QUJD\n',
    'QU JD',
    '-_-_',
    'QUJ!',
    'QUJ\u0000',
    '\uff31UJD',
    'data:;base64,QUJD',
    `${'QUJD'.repeat(LONG)}!`,
    `${'QUJD'.repeat(LONG)}=`,
    '='.repeat(LONG),
    5,
    true,
    [],
    [81],
    { type: 'Buffer', data: [81] },
  ])('is refused: %#', (input) => {
    expect(parseValue(input, BYTES)).toEqual({ errors: ['Must be valid base64.'] });
  });

  test.each([
    ['QUI=', { value: 'QUI=' }],
    ['QQ==', { value: 'QQ==' }],
    ['', { value: '' }],
    ['QUJD', { errors: ['Ensure this field has no more than 2 bytes.'] }],
    ['QUJDRA==', { errors: ['Ensure this field has no more than 2 bytes.'] }],
  ])('has its length in bytes: %j', (text, outcome) => {
    expect(parseValue(text, { kind: 'binary', maxLength: 2 })).toEqual(outcome);
  });
});
