import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './document.js';

/** A file whose text may cite docs/contract.md or name other files. */
export interface CitingFile {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
}

const FOLDERS = ['src', 'test', 'docs', 'sample-app', 'bench', 'scripts'];
const SKIPPED = new Set(['node_modules', 'dist']);
const TEXT = /\.(?:[cm]?[jt]s|md|json)$/;
/** This folder's own examples of wrong citations. */
const OWN = 'test/docs/citations.spec.ts';

/** All texts below the folders of source, tests and documents, and those of the project's root. */
export function citingFiles(): readonly CitingFile[] {
  return ['', ...FOLDERS]
    .flatMap((folder) => (folder === '' ? filesIn('') : filesBelow(folder)))
    .filter((path) => TEXT.test(path) && path !== OWN)
    .map((path) => ({ path, text: readFileSync(join(PROJECT, path), 'utf8') }));
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(PROJECT, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(folder, name));
}

function filesBelow(folder: string): readonly string[] {
  const folders = readdirSync(join(PROJECT, folder), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !SKIPPED.has(entry.name),
  );
  return [...filesIn(folder), ...folders.flatMap(({ name }) => filesBelow(join(folder, name)))];
}

/** The numbers of sections and rules, in the order in which they stand. */
export function numbersOf(contract: string): readonly string[] {
  return [...contract.matchAll(/^(?:## (\d+)\. \S|\*\*(\d+\.\d+)\*\* \S)/gm)].map(
    ([, section, rule]) => section ?? rule ?? '',
  );
}

/** Citations of docs/contract.md: a section or a rule after the word. A line that is broken between the two words is one text. */
export function citedNumbers(text: string): readonly string[] {
  return [...asOneText(text).matchAll(/\bcontract (\d+(?:\.\d+)?)/gi)].map(([, number]) => number ?? '');
}

/** Vague mentions of docs/contract.md: without a number in code, without a link in a document. */
export function vagueMentions({ path, text }: CitingFile): readonly string[] {
  const prose = path.endsWith('.md') ? text.replace(/\[[^\]]*\]\([^)\s]*contract\.md[^)\s]*\)/g, '') : text;
  const vague =
    /\bthe contract\b(?! \d)|\bcontract (?:says|section)\b|\bcontract \d[\d.]*(?:,| and| or) \d/gi;
  return [...asOneText(prose).matchAll(vague)].map(([mention]) => mention);
}

function asOneText(text: string): string {
  return text.replace(/\s*\n\s*(?:\*(?!\*)|\/\/)?\s*/g, ' ');
}

/** Attack classes at the beginning of a test's name or of a comment: both of `S2 S15 a hidden field answers …`. */
export function attackClasses(text: string): readonly string[] {
  return [...text.matchAll(/(?:['"`]|\/\/ )(S\d+(?: S\d+)*)[ :]/g)].flatMap(([, classes]) =>
    (classes ?? '').split(' '),
  );
}

/** Paths below the project's folders that a text names, without those that have wildcards. */
export function namedPaths(text: string): readonly string[] {
  const path =
    /(?<![\w./@<>*…-])(?:src|test|docs|sample-app|bench|scripts)\/[\w./-]*\w\.(?:[cm]?ts|[cm]js|md|json)\b/g;
  return [...text.matchAll(path)].map(([each]) => each);
}

const SOURCE_FOLDERS =
  'src|test|docs|bench|scripts|sample-app|core|decorators|compiler|request|features|pipeline|sql|adapters|openapi|http|nest';
/** What stands between backticks and is a path: a file, a folder with its slash, or something below a known folder. */
const PATH = new RegExp(
  String.raw`^(?:(?:[\w.-]+/)*[a-z.][\w.-]*\.(?:[cm]?[jt]s|md|json)|(?:[\w-]+/)+|(?:${SOURCE_FOLDERS})/[\w./-]+)$`,
);

/** Files and folders that a document names between backticks (`sql/select-query.ts`, `openapi/`), and in trees of files. */
export function pathsIn(document: string): readonly string[] {
  const trees = [...document.matchAll(/^[│├└─ ]*[├└]── +([\w./-]+(?: [\w-]+\/)*)/gm)].flatMap(([, names]) =>
    (names ?? '').split(' '),
  );
  const prose = document.replace(/^```[^]*?^```/gm, '');
  const quoted = [...prose.matchAll(/`([^`\s]+)`/g)].map(([, word]) => word ?? '');
  return [...trees, ...quoted.filter((word) => PATH.test(word))];
}

/** Names of code between backticks: `RestServer.admit`, `Grant`, `locateList`. */
export function identifiersIn(document: string): readonly string[] {
  const prose = document.replace(/^```[^]*?^```/gm, '');
  return [...prose.matchAll(/`([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)`/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => /[a-z][A-Z]|^[A-Z][a-z]/.test(name) && !/\.(?:[cm]?[jt]s|md)$/.test(name));
}

/** The words of code without its comments. */
export function wordsOf(files: readonly CitingFile[]): ReadonlySet<string> {
  return new Set(
    files
      .filter(({ path }) => !path.endsWith('.md'))
      .flatMap(({ text }) => text.replace(/\/\*\*[^]*?\*\/|(?<!:)\/\/ .*/g, '').match(/\w+/g) ?? []),
  );
}

/** Whether a path leads to a file or folder of the project, named from its root or by the end of its path. */
export function leadsToFile(path: string, files: readonly CitingFile[]): boolean {
  if (existsSync(join(PROJECT, path))) return true;
  const end = `/${path}`;
  return files.some(
    (file) => `/${file.path}`.includes(end.endsWith('/') ? end : `${end}/`) || file.path.endsWith(end),
  );
}
