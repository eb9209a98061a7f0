import { expect, test } from '@jest/globals';
import { parseEntityTags } from './validators.js';

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
