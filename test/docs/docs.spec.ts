// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { WORLD } from '../support/world.js';
import { PROJECT, projectDocuments } from './document.js';
import type { Example, ProjectDocument, Refused, ShownCall } from './document.js';
import { ExampleFiles, expectShownAnswers, startExample } from './examples.js';
import { runProgram } from './run-program.js';
import { runSpec } from './run-spec.js';

const DOCUMENTS = projectDocuments();
// What docs/reference/tour.md shows is answered by the sample application: readme.spec.ts.
const GUIDES = DOCUMENTS.filter(({ path }) => path.startsWith('docs/') && path !== 'docs/reference/tour.md');
const files = new ExampleFiles('docs-examples');
/** Its packages are not those of the project: test/clients/s3-store.spec.ts runs it, and `npm run test:documents` compiles it. */
const SEPARATE = /\bdocs-recipes-uploads-md\/s3-store\.ts$/;
let examplePaths: readonly string[] = [];

beforeAll(() => {
  examplePaths = DOCUMENTS.flatMap((document) => files.write(document)).filter(
    (path) => !SEPARATE.test(path),
  );
});
afterAll(async () => {
  files.remove();
  // A data source that cannot be built is tried again, as the example says, after the application has been refused.
  await new Promise((resolve) => setTimeout(resolve, 1500));
});

test('every example of the documents type-checks against the source', async () => {
  const config = join(files.directory, 'tsconfig.json');
  // A part of an application leaves imports unused.
  const compilerOptions = { noUnusedLocals: false, rootDir: PROJECT };
  const settings = { extends: WORLD.tsconfig, compilerOptions, include: [], files: examplePaths };
  writeFileSync(config, JSON.stringify(settings));
  // By a process of its own: a program holds several hundred MiB.
  const compiler = join(PROJECT, 'node_modules/typescript/bin/tsc');
  const problems = await promisify(execFile)(process.execPath, [compiler, '--noEmit', '-p', config]).then(
    () => '',
    (error: unknown) => (error as { stdout: string }).stdout.replaceAll(files.directory, ''),
  );
  expect(problems).toBe('');
  expect(examplePaths.length).toBeGreaterThan(20);
});

describe.each(
  GUIDES.filter(({ parts }) => parts.length > 0).map((document) => ({ document, path: document.path })),
)('$path', ({ document }) => {
  for (const { example, calls } of applicationsOf(document)) {
    if (example.file.endsWith('.spec.ts')) {
      if (calls.length > 0)
        throw new Error(`${document.path}:${example.line} is no application, and answers are shown below it`);
      test(`the spec ${example.file} passes`, async () => {
        const { passed, failures } = await runSpec(files.pathOf(document, example));
        expect(failures).toEqual([]);
        expect(passed).toBeGreaterThan(0);
      });
      continue;
    }
    if (isProgram(example)) {
      test(`the program ${example.file} starts, answers what is shown, and ends after SIGTERM`, async () => {
        const program = await runProgram(files.pathOf(document, example));
        try {
          await expectShownAnswers(calls, program.client, document);
          expect(await program.stop()).toBe(0);
        } finally {
          await program.kill();
        }
      });
      continue;
    }
    if (isOnlyImported(example)) continue;
    test(`the example ${example.file} starts and answers what is shown`, async () => {
      const running = await startExample(files.pathOf(document, example));
      try {
        if (calls.length > 0 && !running)
          throw new Error(
            `${document.path}:${example.line} is no application, and answers are shown below it`,
          );
        if (running) await expectShownAnswers(calls, running.client, document);
      } finally {
        await running?.close();
      }
    });
  }
  for (const refused of document.parts.filter((part): part is Refused => part.kind === 'refused')) {
    test(`the example ${refused.file} is refused with the message that is shown`, async () => {
      const error = await startExample(files.pathOf(document, refused)).then(
        async (running) => {
          await running?.close();
          return 'It starts';
        },
        (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
      );
      expect({ at: `${document.path}:${refused.line}`, error }).toEqual({
        at: `${document.path}:${refused.line}`,
        error: refused.message,
      });
    });
  }
});

/** A `main.ts` that is shown whole: it starts the application itself. */
function isProgram({ file }: Example): boolean {
  return file === 'main.ts';
}

/** A file that needs another one is tried by the module that has both. */
function isOnlyImported({ source }: Example): boolean {
  return /from '\.\//.test(source) && !source.includes('class AppModule');
}

/** Each example with the calls that are shown below it. Those below the module of a program are sent to the program. */
function applicationsOf({
  path,
  parts,
}: ProjectDocument): readonly { readonly example: Example; readonly calls: readonly ShownCall[] }[] {
  const found: { example: Example; calls: ShownCall[] }[] = [];
  for (const part of parts) {
    if (part.kind === 'example') found.push({ example: part, calls: [] });
    if (part.kind !== 'call') continue;
    const last = found.at(-1);
    if (!last) throw new Error(`${path}:${part.line} shows an answer of no application`);
    const program = found.find(({ example }) => isProgram(example) && startsModuleOf(example, last.example));
    (program ?? last).calls.push(part);
  }
  return found;
}

function startsModuleOf({ source }: Example, { file }: Example): boolean {
  return source.includes(`import { AppModule } from './${file.replace(/\.ts$/, '.js')}'`);
}

describe('links between the documents', () => {
  test.each(DOCUMENTS.map((document) => ({ document, path: document.path })))(
    '$path leads to files and headings that exist',
    ({ document }) => {
      const broken = linksOf(document).filter((link) => !leadsSomewhere(link, document));
      expect(broken).toEqual([]);
    },
  );

  test('every guide and every decision can be reached from README.md', () => {
    const reached = new Set(['README.md']);
    for (const path of reached) {
      const document = DOCUMENTS.find((each) => each.path === path);
      for (const link of document ? linksOf(document) : [])
        reached.add(normalize(join(dirname(path), link.split('#')[0] ?? '')));
    }
    expect(DOCUMENTS.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

const { repository, branch } = JSON.parse(
  readFileSync(join(PROJECT, 'scripts/publication.json'), 'utf8'),
) as Readonly<Record<'repository' | 'branch', string>>;

/** Targets of links that stay within the project, in README.md as URLs of the repository, too; code is no link. */
function linksOf({ text }: ProjectDocument): readonly string[] {
  const prose = text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => (match[1] ?? '').replace(`${repository}/blob/${branch}/`, ''))
    .filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(link: string, document: ProjectDocument): boolean {
  const [file = '', heading] = link.split('#');
  const path = file === '' ? document.path : normalize(join(dirname(document.path), file));
  if (!existsSync(join(PROJECT, path))) return false;
  if (heading === undefined) return true;
  return path.endsWith('.md') && headingsOf(readFileSync(join(PROJECT, path), 'utf8')).includes(heading);
}

/** As GitHub makes anchors of headings. */
function headingsOf(text: string): readonly string[] {
  const prose = text.replace(/^```[^]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
