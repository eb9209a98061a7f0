// @tags core
import { expect, test } from '@jest/globals';
import { MODEL_OPTIONS, PREFIX_OPTIONS } from '../../src/compiler/rules/option-schema.js';
import { readDocument } from './document.js';
import { optionsInTables } from './option-names.js';

test.each([
  { path: 'docs/reference/declaring.md', heading: '## All options', options: MODEL_OPTIONS },
  { path: 'docs/reference/configuration.md', heading: '## Options of `forRoot`', options: PREFIX_OPTIONS },
])('the table of $path names each option', ({ path, heading, options }) => {
  expect([...optionsInTables(readDocument(path).text, heading)].sort()).toEqual(Object.keys(options).sort());
});
