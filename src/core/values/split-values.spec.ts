import { expect, test } from '@jest/globals';
import { splitValues } from './split-values.js';

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
])('%j is told: %s', (text, message) => {
  expect(splitValues(text)).toEqual({ errors: [message] });
});
