import { describe, expect, test } from '@jest/globals';
import { codePoints, pythonTypeName, unstorableText } from './texts.js';

const LONG = 1_000_000;

describe('unstorableText', () => {
  test.each([
    '',
    ' ',
    'plain',
    '\u00e9',
    '\u{1f600}',
    '\ufeff',
    '\ufffd',
    '\uffff',
    '\u0001\u0007\u001b\u007f',
    '\u2028\u2029',
    '\u202e',
    '<script>',
    'a'.repeat(LONG),
    '\u{1f600}'.repeat(LONG),
  ])('finds nothing wrong with %#', (text) => {
    expect(unstorableText(text)).toBeUndefined();
  });

  test.each(['\u0000', 'a\u0000b', `${'a'.repeat(LONG)}\u0000`])('refuses NUL: %#', (text) => {
    expect(unstorableText(text)).toBe('Null characters are not allowed.');
  });

  test.each([
    ['\ud800', 'D800'],
    ['\udfff', 'DFFF'],
    ['a\ud83d', 'D83D'],
    ['\ude00\ud83d', 'DE00'],
    ['\u{1f600}\ud83d', 'D83D'],
    [`${'\u{1f600}'.repeat(1000)}\udc00`, 'DC00'],
  ])('names a lone surrogate: %#', (text, code) => {
    expect(unstorableText(text)).toBe(`Surrogate characters are not allowed: U+${code}.`);
  });
});

test.each<[text: string, length: number]>([
  ['', 0],
  ['abc', 3],
  ['\u00e9', 1],
  ['e\u0301', 2],
  ['\u{1f600}', 1],
  ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', 5],
  ['\u{1f1e9}\u{1f1ea}', 2],
  ['\r\n', 2],
  ['\u{1f600}'.repeat(LONG), LONG],
])('a text has its length in code points: %#', (text, length) => {
  expect(codePoints(text)).toBe(length);
});

test.each<[value: unknown, name: string]>([
  ['a', 'str'],
  ['', 'str'],
  [5, 'int'],
  [-0, 'int'],
  [1.5, 'float'],
  [1e400, 'float'],
  [true, 'bool'],
  [false, 'bool'],
  [null, 'NoneType'],
  [[], 'list'],
  [[1], 'list'],
  [{}, 'dict'],
  [Object.create(null), 'dict'],
])('%j has the type name that Python has for it: %s', (value, name) => {
  expect(pythonTypeName(value)).toBe(name);
});
