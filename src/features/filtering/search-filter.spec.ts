import { describe, expect, test } from '@jest/globals';
import { searchTerms } from './search-filter.js';

const LONG = 200_000;

describe('terms', () => {
  test.each<[text: string, terms: readonly string[]]>([
    ['', []],
    [' ', []],
    [' ,,\t, \n', []],
    ['a', ['a']],
    ['a b', ['a', 'b']],
    ['a,b', ['a', 'b']],
    [' a ,, b\tc\nd ', ['a', 'b', 'c', 'd']],
    ['a\u00a0b\u3000c\u2028d', ['a', 'b', 'c', 'd']],
    ['a a', ['a', 'a']],
    ['%', ['%']],
    ['50%_off\\', ['50%_off\\']],
    ['a;b|c.d', ['a;b|c.d']],
    ['^a =b $c @d', ['^a', '=b', '$c', '@d']],
    ["' OR 1=1 --", ["'", 'OR', '1=1', '--']],
    ['\u00c9T\u00c9 stra\u00dfe', ['\u00c9T\u00c9', 'stra\u00dfe']],
    ['\u{1f600} \u{1f600}\u{1f601}', ['\u{1f600}', '\u{1f600}\u{1f601}']],
    ['a\u200bb', ['a\u200bb']],
  ])('of %j are %j', (text, terms) => {
    expect(searchTerms(text)).toEqual(terms);
  });
});

describe('quotes', () => {
  test.each<[text: string, terms: readonly string[]]>([
    ['"a b"', ['a b']],
    ["'a b'", ['a b']],
    ['x "a b" y', ['x', 'a b', 'y']],
    ['"a, b",c', ['a, b', 'c']],
    ['"a b","c d"', ['a b', 'c d']],
    ['  "  a  "  ', ['  a  ']],
    ['"it\'s fine"', ["it's fine"]],
    ['\'say "a b"\'', ['say "a b"']],
    ['"\u{1f600} a"', ['\u{1f600} a']],
    ['"%_"', ['%_']],
  ])('keep a phrase: %j is %j', (text, terms) => {
    expect(searchTerms(text)).toEqual(terms);
  });

  test.each(['""', "''", '"" \'\'', '"",""'])('around nothing are no term: %j', (text) => {
    expect(searchTerms(text)).toEqual([]);
  });

  test.each<[text: string, terms: readonly string[]]>([
    ['"', ['"']],
    ["'", ["'"]],
    ['"a b', ['"a', 'b']],
    ["it's", ["it's"]],
    ["o'neill o'hara", ["o'neill", "o'hara"]],
    ['5" 6"', ['5"', '6"']],
    ['"a b\'', ['"a', "b'"]],
    ['a b"', ['a', 'b"']],
    ['\u201ca b\u201d', ['\u201ca', 'b\u201d']],
  ])('that open no phrase are letters: %j is %j', (text, terms) => {
    expect(searchTerms(text)).toEqual(terms);
  });
});

describe('a long text', () => {
  test.each<[name: string, text: string, count: number]>([
    ['blanks', ' '.repeat(LONG), 0],
    ['commas', ','.repeat(LONG), 0],
    ['letters', 'a'.repeat(LONG), 1],
    ['words', 'a '.repeat(LONG), LONG],
    ['pairs of quotes', '""'.repeat(LONG), 0],
    ['quotes, an odd number', '"'.repeat(2 * LONG + 1), 1],
    ['quotes of both kinds', '"\''.repeat(3 * LONG), 2 * LONG],
    ['words behind a quote that never closes', `"${'a '.repeat(LONG)}`, LONG],
    ['a phrase', `"${'a '.repeat(LONG)}"`, 1],
    ['emoji', '\u{1f600} '.repeat(LONG), LONG],
  ])('of %s has the terms that it says', (_name, text, count) => {
    expect(searchTerms(text)).toHaveLength(count);
  });
});
