import { describe, expect, test } from '@jest/globals';
import { parseFilterGroup } from './filter-groups.js';
import type { Expression } from './filter-groups.js';

const LIMITS = { groupTerms: 5, groupDepth: 3, groupLength: 200 };

function term(name: string, text: string, place: number): Expression {
  return { kind: 'term', name, text, place };
}

test.each<[text: string, expression: Expression]>([
  ['a=1', term('a', '1', 1)],
  ['a!=1', term('a!', '1', 1)],
  ['a="x, (y)"', term('a', 'x, (y)', 1)],
  ['a="say \\"hi\\" \\\\ there"', term('a', 'say "hi" \\ there', 1)],
  ['a=""', term('a', '', 1)],
  ['a=b=c!"', term('a', 'b=c!"', 1)],
  ['or(a=1)', { kind: 'or', parts: [term('a', '1', 4)] }],
  ['or(a=1,b!=2)', { kind: 'or', parts: [term('a', '1', 4), term('b!', '2', 8)] }],
  [
    'and(a= 1 ,or(b=2))',
    { kind: 'and', parts: [term('a', ' 1 ', 5), { kind: 'or', parts: [term('b', '2', 14)] }] },
  ],
  [
    'not(and(a=1,b=2))',
    { kind: 'not', part: { kind: 'and', parts: [term('a', '1', 9), term('b', '2', 13)] } },
  ],
  ['or(a=1,  b=2 )', { kind: 'or', parts: [term('a', '1', 4), term('b', '2 ', 10)] }],
  ['__proto__=1', term('__proto__', '1', 1)],
  ['or=1', term('or', '1', 1)],
])('%s is read', (text, expression) => {
  expect(parseFilterGroup(text, LIMITS)).toEqual(expression);
});

describe('errors name the position in the text', () => {
  test.each<[text: string, message: string]>([
    ['', 'Position 1: Write a filter with its value here, or a group.'],
    ['a', 'Position 1: Write a filter with its value here, or a group.'],
    ['a!1', 'Position 1: Write a filter with its value here, or a group.'],
    ['=1', 'Position 1: Write a filter with its value here, or a group.'],
    ['a=', 'Position 3: Write a value here; "" is the empty text.'],
    ['or(a=,b=1)', 'Position 6: Write a value here; "" is the empty text.'],
    ['a="x', 'Position 3: A quote is not closed.'],
    ['a="x"y', 'Position 6: The group ends here, and the text goes on.'],
    ['or(a=1', 'Position 7: Write "," or ")" here.'],
    ['or(a="1"b=2)', 'Position 9: Write "," or ")" here.'],
    ['or(a=1))', 'Position 8: The group ends here, and the text goes on.'],
    ['or()', 'Position 4: Write a filter with its value here, or a group.'],
    ['or(a=1,)', 'Position 8: Write a filter with its value here, or a group.'],
    ['a=1,b=2', 'Position 4: The group ends here, and the text goes on.'],
    ['xor(a=1)', 'Position 1: "xor" is no group. Write and, or or not.'],
    ['OR(a=1)', 'Position 1: "OR" is no group. Write and, or or not.'],
    ['or(a=1, b=2,(c=3))', 'Position 13: "" is no group. Write and, or or not.'],
    ['not(a=1,b=2)', 'Position 1: not takes one part. Write not(or(…)) or not(and(…)).'],
    ['not(not(not(not(a=1))))', 'Position 13: Ensure groups stand no more than 3 deep in one another.'],
    ['or(a=1,a=1,a=1,a=1,a=1,a=1)', 'Position 24: Ensure there are no more than 5 filters.'],
    [`a=${'x'.repeat(199)}`, 'Position 201: Ensure the text has no more than 200 characters.'],
    ['or("a"=1)', 'Position 4: Write a filter with its value here, or a group.'],
  ])('%s', (text, message) => {
    expect(() => parseFilterGroup(text, LIMITS)).toThrow(message);
  });
});
