// @tags core
import { describe, expect, test } from '@jest/globals';
import { countWords, EVERYDAY, EVERYDAY_WORDS, navigationOf } from '../../site/pages.mjs';
import { readDocument } from './document.js';

const { groups } = navigationOf(readDocument('README.md').text);

function wordsIn(name: string): number {
  const items = groups.find(({ text }) => text === name)?.items ?? [];
  return items.reduce((sum, { path }) => sum + countWords(readDocument(path).text), 0);
}

describe('the pages that are read, by the list of documents in README.md', () => {
  test.each(Object.entries(EVERYDAY))('%s has at most %i words', (name, limit) => {
    expect(wordsIn(name)).toBeGreaterThan(0);
    expect(wordsIn(name)).toBeLessThanOrEqual(limit);
  });

  test('have few enough words together', () => {
    const words = Object.keys(EVERYDAY).reduce((sum, name) => sum + wordsIn(name), 0);
    expect(words).toBeLessThanOrEqual(EVERYDAY_WORDS);
  });

  test('are the first groups; the others are for looking things up', () => {
    expect(groups.map(({ text }) => text)).toEqual([...Object.keys(EVERYDAY), 'Reference', 'Internals']);
  });
});

test('CONTRIBUTING.md has at most 1,500 words', () => {
  expect(countWords(readDocument('CONTRIBUTING.md').text)).toBeLessThanOrEqual(1500);
});

test.each([
  ['one two', 2],
  ['`a.b` | — { } => 3', 2],
  ['', 0],
])('the words of %j are %i', (text, words) => {
  expect(countWords(text)).toBe(words);
});
