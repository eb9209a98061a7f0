// @tags core
import { expect, test } from '@jest/globals';
import { readDocument } from './document.js';
import { countLaneTables, LANES_DOCUMENT, withLaneTables } from './lane-tables.js';

const { text } = readDocument(LANES_DOCUMENT);

test('docs/reference/performance.md has the generated tables of lanes', () => {
  const { found, expected } = countLaneTables(text);
  expect(found).toBe(expected);
});

test('the tables of lanes are those of the source: npm run docs:lanes writes them', () => {
  expect(text).toBe(withLaneTables(text));
});
