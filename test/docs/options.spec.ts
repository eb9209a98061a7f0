// @tags core
import { expect, test } from '@jest/globals';
import { MODEL_OPTIONS, PREFIX_OPTIONS } from '../../src/compiler/rules/option-kinds.js';
import { readDocument } from './document.js';

test.each([
  { path: 'docs/declaring.md', heading: '## All options', options: MODEL_OPTIONS },
  { path: 'docs/configuration.md', heading: '## Options of `forRoot`', options: PREFIX_OPTIONS },
])('the table of $path names each option', ({ path, heading, options }) => {
  expect(namesInTables(sectionOf(readDocument(path).text, heading)).sort()).toEqual(
    Object.keys(options).sort(),
  );
});

function sectionOf(text: string, heading: string): string {
  const [, section = ''] = text.split(`\n${heading}\n`);
  return section.split('\n## ')[0] ?? '';
}

/** The names in the first column of the tables. */
function namesInTables(section: string): string[] {
  const cells = [...section.matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
}
