import { expect, test } from '@jest/globals';
import { parseEntityTags, httpDate, parseHttpDate } from './validators.js';

const NOW = Date.UTC(2026, 0, 1);
const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37);

test.each([
  ['Sun, 06 Nov 1994 08:49:37 GMT', EXAMPLE],
  ['Sunday, 06-Nov-94 08:49:37 GMT', EXAMPLE],
  ['Sun Nov  6 08:49:37 1994', EXAMPLE],
  [' Sun, 06 Nov 1994 08:49:37 GMT ', EXAMPLE],
  ['Monday, 01-Jan-76 00:00:00 GMT', Date.UTC(2076, 0, 1)],
  ['Monday, 01-Jan-77 00:00:00 GMT', Date.UTC(1977, 0, 1)],
])('%j is a date', (text, instant) => {
  expect(parseHttpDate(text, NOW)).toBe(instant);
});

test.each([
  '',
  'now',
  '1994-11-06T08:49:37Z',
  '784111777',
  'Sun, 06 Nov 1994 08:49:37 CET',
  'Sun, 06 Nov 1994 24:49:37 GMT',
  'Sun, 32 Nov 1994 08:49:37 GMT',
  'Sun, 00 Nov 1994 08:49:37 GMT',
  'Sun, 06 Foo 1994 08:49:37 GMT',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:61 GMT',
])('%j is none', (text) => {
  expect(parseHttpDate(text, NOW)).toBeUndefined();
});

test('is written in whole seconds', () => {
  expect(httpDate(EXAMPLE + 999)).toBe('Sun, 06 Nov 1994 08:49:37 GMT');
});

const strong = (opaque: string): object => ({ weak: false, opaque });

test.each([
  ['*', 'any'],
  [' * ', 'any'],
  ['"a"', [strong('a')]],
  ['""', [strong('')]],
  ['W/"a"', [{ weak: true, opaque: 'a' }]],
  ['"a","b" ,\t"c"', [strong('a'), strong('b'), strong('c')]],
  [',, "a",,"b",', [strong('a'), strong('b')]],
  ['"a,b"', [strong('a,b')]],
  ['"\u00e9"', [strong('\u00e9')]],
  [Array.from({ length: 100 }, () => '"a"').join(), Array.from({ length: 100 }, () => strong('a'))],
] as const)('%j names tags', (header, tags) => {
  expect(parseEntityTags(header)).toEqual(tags);
});

test.each([
  '',
  ' ',
  ',',
  'a',
  '"a',
  'a"',
  "'a'",
  '"a" "b"',
  '"a"b',
  'w/"a"',
  'W/ "a"',
  '"a b"',
  '"a"b"',
  '*, "a"',
  '"a", *',
  '"a\u007f"',
  '"\u0100"',
  Array.from({ length: 101 }, () => '"a"').join(),
  `"${'a'.repeat(4000)}"`,
  ' ,'.repeat(1990),
])('%j names none', (header) => {
  expect(parseEntityTags(header)).toBeUndefined();
});
