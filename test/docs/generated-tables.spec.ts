// @tags core
import { describe, expect, test } from '@jest/globals';
import { readDocument } from './document.js';
import { DOCUMENTS_WITH_TABLES, tableNames, withTables } from './generated-tables.js';

describe.each(DOCUMENTS_WITH_TABLES)('%s', (path) => {
  const { text } = readDocument(path);

  test('has each generated table', () => {
    const { found, expected } = tableNames(path, text);
    expect(found).toEqual(expected);
  });

  test('has the tables of the source: npm run docs:tables writes them', () => {
    expect(text).toBe(withTables(path, text));
  });
});
