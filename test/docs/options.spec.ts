// @tags core
import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_OPTIONS, PREFIX_OPTIONS } from '../../src/compiler/rules/option-schema.js';
import { resolveOptions } from '../../src/restify.options.js';
import { PROJECT, readDocument } from './document.js';
import { optionsInTables } from './option-names.js';
import { describeOptions, describePrefixOptions } from './option-tables.js';

test.each([
  { path: 'docs/reference/declaring.md', heading: '## All options', options: MODEL_OPTIONS },
  { path: 'docs/reference/configuration.md', heading: '## Options of `forRoot`', options: PREFIX_OPTIONS },
])('the tables of $path have each option that is verified at start', ({ path, heading, options }) => {
  expect([...optionsInTables(readDocument(path).text, heading)].sort()).toEqual(Object.keys(options).sort());
});

describe('the docstring of each option has a description and a default', () => {
  const models = readFileSync(join(PROJECT, 'src/decorators/model-options.ts'), 'utf8');
  const options = [...describeOptions(models, 'RestifyOptions'), ...describePrefixOptions()];

  test.each(options)('$name', ({ type, meaning, otherwise }) => {
    expect(type).not.toBe('');
    expect(meaning).not.toBe('');
    expect(otherwise).not.toBe('');
  });
});

describe('the default in the docstring of an option of forRoot is that of the source', () => {
  const resolved = new Map<string, unknown>(Object.entries(resolveOptions('', {})));
  const options = describePrefixOptions().flatMap(({ name, otherwise }) => {
    // Without its slash: the root.
    const value = name === 'index' ? `/${String(resolved.get(name))}` : resolved.get(name);
    return ['number', 'string', 'boolean'].includes(typeof value) ? [{ name, value, otherwise }] : [];
  });

  test.each(options)('$name: $value', ({ value, otherwise }) => {
    const text =
      typeof value === 'string' ? `\`${value}\`` : (value as number | boolean).toLocaleString('en');
    expect(otherwise).toBe(text);
  });
});
