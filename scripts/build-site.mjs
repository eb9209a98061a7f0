// Builds the documentation site from README.md, docs/ and the public docstrings: `npm run docs [-- --out <folder>]`, by default
// dist/site. Fails on a link that leads nowhere, on a page that the navigation does not have, on a request to another host, and
// beyond 3 MB compressed.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  API_PAGE,
  completeExamples,
  DECISION,
  DECISIONS,
  joinDecisions,
  linkPages,
  nameExamples,
  navigationOf,
  ROOT_PAGES,
} from '../site/pages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = join(root, 'site');
/** The pages as VitePress reads them. */
const pages = join(site, '.pages');
const { out } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist/site') } } }).values;
/** In bytes, compressed as a server sends them. */
const LIMIT = 3_000_000;

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: site, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} has failed`);
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The documents of the project by their paths in the site; links to other files lead to the repository. */
function readDocuments() {
  const names = ['README.md', ...ROOT_PAGES, ...filesIn(join(root, 'docs')).map((name) => `docs/${name}`)];
  const documents = new Map();
  for (const path of names.filter((name) => name.endsWith('.md')))
    documents.set(
      path === 'README.md' ? 'index.md' : path,
      linkPages(path, readFileSync(join(root, path), 'utf8'), names),
    );
  const decisions = [...documents].filter(([path]) => DECISION.test(path)).sort();
  documents.set(DECISIONS, joinDecisions(documents.get(DECISIONS), decisions));
  for (const [path] of decisions) documents.delete(path);
  for (const path of names.filter((name) => !name.endsWith('.md')))
    cpSync(join(root, path), join(pages, path));
  return documents;
}

function describeExports() {
  run(process.execPath, [
    'node_modules/typedoc/bin/typedoc',
    ...['--plugin', 'typedoc-plugin-markdown', '--out', join(pages, 'api')],
    ...['--tsconfig', join(root, 'tsconfig.json'), '--entryPoints', join(root, 'src/index.ts')],
    ...[
      '--readme',
      'none',
      '--name',
      'API reference',
      '--hidePageHeader',
      '--hideBreadcrumbs',
      '--disableSources',
    ],
    ...[
      '--excludeInternal',
      '--excludePrivate',
      '--outputFileStrategy',
      'modules',
      '--entryFileName',
      'index',
    ],
    ...['--skipErrorChecking', '--logLevel', 'Warn', '--sanitizeComments', '--useCodeBlocks'],
    // What exports name and do not export is part of their description.
    ...['--validation.notExported', 'false', '--validation.invalidLink', 'false'],
  ]);
}

/** Every page as Markdown, a list of them, and the text of all but the internal ones, for readers that take texts: https://llmstxt.org. */
function writeTexts(documents) {
  const { title, about, groups } = navigationOf(readFileSync(join(root, 'README.md'), 'utf8'));
  const texts = new Map([...documents].map(([path, text]) => [path, completeExamples(text)]));
  const lines = [
    `# ${title}`,
    '',
    `> ${about}`,
    '',
    'llms-full.txt has the text of all pages but the internal ones.',
    '',
  ];
  const whole = [];
  for (const { text, items } of groups) {
    lines.push(`## ${text}`, '');
    for (const { text: name, path, about: note } of items) {
      lines.push(`- [${name}](${path})${note === '' ? '' : `: ${note}`}`);
      if (text !== 'Internals') whole.push(texts.get(path));
    }
    lines.push('');
  }
  write(join(out, 'llms.txt'), lines.join('\n'));
  write(join(out, 'llms-full.txt'), whole.join('\n\n'));
  for (const [path, text] of texts) write(join(out, path), text);
}

function verifyNavigation() {
  const { groups } = navigationOf(readFileSync(join(root, 'README.md'), 'utf8'));
  const named = new Set(groups.flatMap(({ items }) => items.map(({ path }) => path)));
  const missing = filesIn(pages).filter(
    (path) => path.endsWith('.md') && path !== 'index.md' && !named.has(path),
  );
  if (missing.length > 0)
    throw new Error(
      `Not in the navigation, which is the list of documents in README.md: ${missing.join(', ')}`,
    );
}

/** VitePress verifies that the pages of links exist, and not their anchors. TypeDoc's pages are left out. */
function verifyAnchors() {
  const texts = new Map(
    filesIn(out)
      .filter((name) => name.endsWith('.html') && !name.startsWith('api/'))
      .map((name) => [name, readFileSync(join(out, name), 'utf8')]),
  );
  const dead = new Set();
  for (const [name, text] of texts)
    for (const [, path, anchor] of text.matchAll(/<a [^>]*\bhref="([^"#:]*)#([^"]+)"/g)) {
      const target = path === '' ? name : relative(out, resolve(join(out, dirname(name)), path));
      if (texts.get(target)?.includes(` id="${decodeURIComponent(anchor)}"`) === false)
        dead.add(`${name}: ${path}#${anchor}`);
    }
  if (dead.size > 0) throw new Error(`Links to anchors that do not exist: ${[...dead].join(', ')}`);
}

function verifySite() {
  const files = filesIn(out);
  const size = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(out, name))).length, 0);
  const foreign = files.filter(
    (name) =>
      name.endsWith('.html') &&
      /<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)="(?:https?:)?\/\//.test(
        readFileSync(join(out, name), 'utf8'),
      ),
  );
  if (foreign.length > 0) throw new Error(`Requests to other hosts: ${foreign.join(', ')}`);
  if (size > LIMIT) throw new Error(`The site has ${size} compressed bytes, more than ${LIMIT}`);
  console.log(
    `${files.filter((name) => name.endsWith('.html')).length} pages, ${size} compressed bytes in ${out}`,
  );
}

if (!existsSync(join(site, 'node_modules'))) run('npm', ['ci']);
rmSync(pages, { recursive: true, force: true });
rmSync(out, { recursive: true, force: true });
const documents = readDocuments();
for (const [path, text] of documents)
  write(join(pages, path), nameExamples(text, !path.startsWith('docs/reference/')));
describeExports();
documents.set(API_PAGE, readFileSync(join(pages, API_PAGE), 'utf8'));
verifyNavigation();
run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build', '.', '--outDir', out]);
writeTexts(documents);
verifyAnchors();
verifySite();
