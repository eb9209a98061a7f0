// @tags core
import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT } from '../docs/document.js';
import { describeOptions } from '../docs/option-tables.js';
import { SourceCopy, stepsOf } from './source-copy.js';

const DECLARATION = 'src/decorators/model-options.ts';
const SCHEMA = 'src/compiler/rules/option-schema.ts';
const BUILDER = 'src/compiler/resource-builder.ts';
const RESOURCE = 'src/core/schema/resource.ts';

/** The recipe in docs/internals/extending.md: its steps, as a `diff` block. */
const [, RECIPE = ''] =
  /## Add an option\n[^#]*?```diff\n([^`].*?)```/s.exec(
    readFileSync(join(PROJECT, 'docs/internals/extending.md'), 'utf8'),
  ) ?? [];
const STEPS = stepsOf(RECIPE).flatMap(({ lines, ...place }) =>
  lines.length > 0 ? [{ ...place, lines }] : [],
);

const SOURCE = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .map((path) => `src/${path}`);
/** Where an option becomes part of a resource, and where a request reads the resource. */
const COMPILED_IN = SOURCE.filter(
  (file) => /^src\/(compiler|nest)\//.test(file) && file !== SCHEMA && file !== BUILDER,
);
const READ_IN = SOURCE.filter((file) =>
  /^src\/(request|features|pipeline|openapi|http|adapters|sql|nest)\//.test(file),
);

/** What is missing for the options of models in a copy, as far as its texts tell. */
function findMissing(copy: SourceCopy): readonly string[] {
  const described = describeOptions(copy.read(DECLARATION), 'RestifyOptions');
  const options = described.map(({ name }) => name);
  const compiled = wordsOf(copy, COMPILED_IN);
  const read = wordsOf(copy, READ_IN);
  return [
    ...described
      .filter(({ meaning, otherwise }) => meaning === '' || otherwise === '')
      .map(({ name }) => `${DECLARATION} does not say what ${name} does, and its default`),
    ...options.filter((name) => !compiled.has(name)).map((name) => `src/compiler does not read ${name}`),
    ...membersOf(copy.read(RESOURCE), 'Resource')
      .filter((name) => !read.has(name))
      .map((name) => `no request reads Resource.${name}`),
  ];
}

/** The same, and what the compiler reports where nothing is missing. */
function findProblems(copy: SourceCopy): readonly string[] {
  const missing = findMissing(copy);
  return missing.length > 0 ? missing : copy.findTypeErrors([SCHEMA, BUILDER]);
}

function membersOf(text: string, name: string): readonly string[] {
  const tree = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest);
  const found = tree.statements.find(
    (each): each is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(each) && each.name.text === name,
  );
  return (found?.members ?? []).map((member) => member.name?.getText(tree) ?? '');
}

/** The words of files, without those of comments. */
function wordsOf(copy: SourceCopy, files: readonly string[]): ReadonlySet<string> {
  return new Set(
    files.flatMap(
      (file) =>
        copy
          .read(file)
          .replace(/\/\*\*.*?\*\//gs, '')
          .match(/\w+/g) ?? [],
    ),
  );
}

test('each option of models is documented, compiled and used', () => {
  expect(findMissing(new SourceCopy([]))).toEqual([]);
});

describe('the steps to add an option', () => {
  test('are enough', () => {
    expect(STEPS.length).toBeGreaterThan(5);
    expect(findProblems(new SourceCopy(STEPS))).toEqual([]);
  });

  test.each(STEPS.map((step) => ({ ...step, added: step.lines.at(-1)?.trim() ?? '' })))(
    'are reported if one is left out: $file, $added',
    ({ file, behind }) => {
      const others = STEPS.filter((step) => step.file !== file || step.behind !== behind);
      expect(findProblems(new SourceCopy(others)).join('\n')).toMatch(/deprecated/);
    },
  );
});
