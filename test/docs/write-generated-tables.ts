// Writes the tables of documents that are generated from the source: npm run docs:tables
import { readFileSync, writeFileSync } from 'node:fs';
import { DOCUMENTS_WITH_TABLES, withTables } from './generated-tables.js';

for (const path of DOCUMENTS_WITH_TABLES) {
  const file = new URL(`../../${path}`, import.meta.url);
  writeFileSync(file, withTables(path, readFileSync(file, 'utf8')));
}
