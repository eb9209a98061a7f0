// @tags core
import { describe, expect, test } from '@jest/globals';
import {
  attackClasses,
  citedNumbers,
  citingFiles,
  identifiersIn,
  leadsToFile,
  namedPaths,
  numbersOf,
  pathsIn,
  vagueMentions,
  wordsOf,
} from './citations.js';
import type { CitingFile } from './citations.js';
import { readDocument } from './document.js';

const CONTRACT = 'docs/contract.md';
const FILES = citingFiles();
const NUMBERS = numbersOf(readDocument(CONTRACT).text);

/** Mistakes, each with the file that has it. */
function inFiles(mistakesOf: (file: CitingFile) => readonly string[]): readonly string[] {
  return FILES.flatMap((file) => mistakesOf(file).map((mistake) => `${file.path}: ${mistake}`));
}

function unknownNumbers(text: string): readonly string[] {
  return citedNumbers(text).filter((number) => !NUMBERS.includes(number));
}

describe('the rules of docs/contract.md', () => {
  test('are numbered without a gap, each below the heading of its section', () => {
    const expected: string[] = [];
    for (const number of NUMBERS) {
      const [section, rule] = number.split('.');
      const last = expected.at(-1)?.split('.') ?? ['0'];
      expected.push(
        rule === undefined
          ? String(Number(last[0]) + 1)
          : `${String(last[0])}.${section === last[0] ? Number(last[1] ?? 0) + 1 : 'other section'}`,
      );
    }
    expect(NUMBERS).toEqual(expected);
    expect(NUMBERS.length).toBeGreaterThan(100);
  });
});

describe('citations of the contract', () => {
  test('name a section or a rule that exists', () => {
    expect(inFiles(({ text }) => unknownNumbers(text))).toEqual([]);
    expect(inFiles(({ text }) => citedNumbers(text)).length).toBeGreaterThan(80);
  });

  test('have a number in code, and a link in documents', () => {
    expect(inFiles((file) => (file.path === CONTRACT ? [] : vagueMentions(file)))).toEqual([]);
  });

  test.each([
    ['a section that does not exist', `/** As contract 99 says. */`, ['99']],
    ['a rule that does not exist', `// By contract 6.99.`, ['6.99']],
    ['a citation over two lines', `/**\n * By contract\n * 98.1 it is so.\n */`, ['98.1']],
    ['a citation that is right', `/** By contract 6.3, and contract 7. */`, []],
    ['a name with the word', `contract-headers.ts, /office/contract/1/`, []],
  ])('are followed in %s', (_what, text, unknown) => {
    expect(unknownNumbers(text)).toEqual(unknown);
  });

  test.each([
    [{ path: 'a.ts', text: '/** The headers of the contract. */' }, ['the contract']],
    [{ path: 'a.ts', text: '// contract 5 and 6' }, ['contract 5 and 6']],
    [{ path: 'a.md', text: 'Errors of the contract.' }, ['the contract']],
    [{ path: 'a.md', text: 'Errors of [the contract](../contract.md#6-errors).' }, []],
  ])('are vague in %j: %j', (file, vague) => {
    expect(vagueMentions(file)).toEqual(vague);
  });
});

test('attack classes of tests are those of test/security/README.md, and each has a test', () => {
  const { text } = readDocument('test/security/README.md');
  const described = [...text.matchAll(/^\| (S\d+) \|/gm)].map(([, each]) => each ?? '');
  const tried = new Set(
    FILES.filter(({ path }) => /^test\/.*\.ts$/.test(path)).flatMap((file) => attackClasses(file.text)),
  );
  const ordered = [...tried].sort((one, other) => Number(one.slice(1)) - Number(other.slice(1)));
  expect(ordered).toEqual(described);
  expect(attackClasses("test('S98 S99 a name'")).toEqual(['S98', 'S99']);
});

describe('names of files and of code', () => {
  test('that texts write from the root of the project lead to files', () => {
    expect(inFiles(({ text }) => namedPaths(text).filter((path) => !leadsToFile(path, [])))).toEqual([]);
    expect(inFiles(({ text }) => namedPaths(text)).length).toBeGreaterThan(20);
  });

  test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/internals/extending.md', 'docs/internals/tests.md'])(
    'that %s names lead to files',
    (document) => {
      const paths = pathsIn(readDocument(document).text);
      expect(paths.filter((path) => !leadsToFile(path, FILES))).toEqual([]);
      expect(paths.length).toBeGreaterThan(5);
    },
  );

  test('of code in ARCHITECTURE.md are words of the code', () => {
    const words = wordsOf(FILES);
    const names = identifiersIn(readDocument('ARCHITECTURE.md').text);
    const known = (name: string): boolean => name.split('.').every((word) => words.has(word));
    expect(names.filter((name) => !known(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(40);
    expect(['RestServer.admit', 'RestServer.noSuchMethod'].map(known)).toEqual([true, false]);
  });

  test.each([
    ['`sql/no-such-file.ts`', false],
    ['`no-such-folder/`', false],
    ['`connection/connection-manager.ts`', true],
    ['`adapters/`', true],
    ['`compiler/rules`', true],
    ['`compiler/no-such-folder`', false],
    ['├── no-such-file.ts   what it does', false],
  ])('that are %s lead to a file: %s', (text, leads) => {
    expect(pathsIn(text).map((path) => leadsToFile(path, FILES))).toEqual([leads]);
  });
});
