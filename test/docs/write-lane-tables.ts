// Writes the generated tables of docs/reference/performance.md: npm run docs:lanes
import { readFileSync, writeFileSync } from 'node:fs';
import { LANES_DOCUMENT, withLaneTables } from './lane-tables.js';

const path = new URL(`../../${LANES_DOCUMENT}`, import.meta.url);
writeFileSync(path, withLaneTables(readFileSync(path, 'utf8')));
