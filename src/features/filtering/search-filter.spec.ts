import { describe, expect, test } from '@jest/globals';
import type { TermMatch } from '../../core/query/condition.js';
import { searchTerms, combineTerms } from './search-filter.js';

describe('terms of a search', () => {
  test.each<[string, [matches: readonly TermMatch[], terms: readonly string[]], kept: readonly string[]]>([
    ['that are equal are one', [['contains'], ['a', 'a', 'b', 'a']], ['a', 'b']],
    [
      'that differ in the case of ASCII letters alone are one',
      [
        ['contains', 'exact', 'startswith'],
        ['Blue', 'bLUE'],
      ],
      ['Blue'],
    ],
    [
      'that another one contains are left out, wherever they stand',
      [['contains'], ['e', 'whale', 'ale', 'sea']],
      ['whale', 'sea'],
    ],
    [
      'that begin another one are left out where texts are compared from the start',
      [['startswith'], ['wh', 'whale', 'ale']],
      ['whale', 'ale'],
    ],
    [
      'that another one contains stay where a field is compared as a whole',
      [
        ['contains', 'exact'],
        ['a', 'whale'],
      ],
      ['a', 'whale'],
    ],
    [
      'that another one contains stay where a field is compared from the start',
      [
        ['contains', 'startswith'],
        ['ale', 'whale', 'wh'],
      ],
      ['ale', 'whale'],
    ],
    [
      'of regular expressions are one where they are the same text',
      [['regex'], ['a', 'A', 'ab', 'a']],
      ['a', 'A', 'ab'],
    ],
    [
      'of full text are one where they are the same text',
      [
        ['fulltext', 'contains'],
        ['a', 'A', 'ab', 'ab'],
      ],
      ['a', 'A', 'ab'],
    ],
    [
      'beyond ASCII stay inside of others, since what their capital is may depend on the letters around',
      [['contains'], ['σ', 'ας', 'σ', 'Σ']],
      ['σ', 'ας', 'Σ'],
    ],
    ['of ASCII inside of others are left out', [['contains'], ['traß', 'straße', 's']], ['traß', 'straße']],
    [
      'are all left out but one',
      [['contains'], [...Array.from({ length: 19 }, () => 'a'), 'zzaz']],
      ['zzaz'],
    ],
    ['of one are it', [['contains'], ['a']], ['a']],
    ['of none are none', [['contains'], []], []],
  ])('%s', (_title, [matches, terms], kept) => {
    expect(combineTerms(terms, matches)).toEqual(kept);
  });
});

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
  ])('of %s has the expected terms', (_name, text, count) => {
    expect(searchTerms(text)).toHaveLength(count);
  });
});
