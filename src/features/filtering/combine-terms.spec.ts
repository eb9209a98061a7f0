import { describe, expect, test } from '@jest/globals';
import type { TermMatch } from '../../core/query/condition.js';
import { combineTerms } from './combine-terms.js';

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
