import { readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scaffoldingOf, wholeExample } from './scaffolding.cjs';

const { repository, branch } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../scripts/publication.json', import.meta.url)), 'utf8'),
);
const BLOB = `${repository}/blob/${branch}`;

/** The documents in the root of the project that are pages of the site, beside its first page, README.md. */
export const ROOT_PAGES = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** The groups of pages that are read, with their limits in words; the others are for looking things up. */
export const EVERYDAY = {
  Start: 5500,
  Guides: 15_000,
  Recipes: 3000,
  'Opt-in': 3500,
  Operate: 2800,
  FAQ: 900,
};

/** The words of all of them. */
export const EVERYDAY_WORDS = 30_000;

/** The page with all decisions, and the document of one of them. */
export const DECISIONS = 'docs/decisions/README.md';
export const DECISION = /^docs\/decisions\/(\d{4})-[\w-]+\.md$/;

/** One page of the list of decisions and the text of each: a page for each would be forty with hardly more than a side bar. */
export function joinDecisions(list, decisions) {
  const texts = decisions.map(([path, text]) => {
    const [, number] = DECISION.exec(path) ?? [];
    return text.replace(/^(#+ .*)$/gm, '#$1').replace(/^(## .*)$/m, `$1 {#decision-${number}}`);
  });
  return [list, ...texts].join('\n');
}

/** Where the reference of all exports is. */
export const API_PAGE = 'api/index.md';

/** The text of a page: what the repository alone has is linked there, and pages are linked in the site. */
export function linkPages(path, text, documents) {
  const toTarget = (link) => {
    const own = link.startsWith(`${BLOB}/`) ? link.slice(BLOB.length + 1) : undefined;
    if (own === undefined && /^(?:[a-z]+:|#)/.test(link)) return link;
    const [file, hash] = (own ?? link).split('#');
    const target = own === undefined ? normalize(join(dirname(path), file)) : file;
    const anchor = hash === undefined ? '' : `#${hash}`;
    const [, decision] = DECISION.exec(target) ?? [];
    if (decision !== undefined) return `${relativeTo(path, DECISIONS)}#decision-${decision}`;
    const found = target === 'README.md' ? 'index.md' : target;
    return documents.includes(target) ? `${relativeTo(path, found)}${anchor}` : `${BLOB}/${target}${anchor}`;
  };
  return outsideOfCode(text, (prose) =>
    prose.replace(/\]\(([^)\s]+)\)/g, (_, link) => `](${toTarget(link)})`),
  );
}

/** Shows the name of a file as the title of its example. On pages that are read, a second tab has what it leaves out, or the form for Jest. */
export function nameExamples(text, isRead) {
  return joinCommands(text).replace(
    /^```ts\n\/\/ (?:example|refused): (\S+)\n([^]*?)^```/gm,
    (_, file, code) => {
      const tabs = [[file, code], ...(isRead ? moreTabs(code) : [])];
      return `::: code-group\n\n${tabs.map(toTab).join('\n\n')}\n\n:::`;
    },
  );
}

/** The text for readers without tabs, such as programs: each example is a whole file. */
export function completeExamples(text) {
  return text.replace(
    /^(```ts\n\/\/ (?:example|refused): \S+\n)([^]*?)^```/gm,
    (_, head, code) => `${head}${wholeExample(code.trimEnd())}\n\`\`\``,
  );
}

/** Commands for one version or another, one block behind the other, each with a comment in its first line, are tabs. */
function joinCommands(text) {
  return text.replace(/(?:^```sh\n# [^\n]+\n(?:(?!```)[^\n]*\n)+```\n\n?){2,}/gm, (blocks) => {
    const tabs = blocks.replace(/```sh\n# ([^\n]+)\n/g, '```sh [$1]\n').trimEnd();
    return `::: code-group\n\n${tabs}\n\n:::\n\n`;
  });
}

function toTab([title, code]) {
  return `\`\`\`ts [${title}]\n${code}\`\`\``;
}

function moreTabs(code) {
  if (code.includes("from 'vitest'"))
    return [['with Jest', code.replace("from 'vitest'", "from '@jest/globals'")]];
  const { before, behind } = scaffoldingOf(code);
  const lines = [...before, ...(behind.length > 0 ? ['', '// …', ...behind] : [])];
  return lines.length > 0 ? [['imports and module', `${lines.join('\n')}\n`]] : [];
}

function relativeTo(path, target) {
  const link = relative(dirname(path), target);
  return link.startsWith('.') ? link : `./${link}`;
}

/** Applies a change to the text outside of fenced blocks and of code within lines. */
function outsideOfCode(text, change) {
  return text
    .split(/(^```[^]*?^```|`[^`\n]*`)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

/** The title of the site, its first sentences, and its pages: the list of documents in README.md, with the reference of all exports. */
export function navigationOf(readme) {
  const title = /^# (.*)$/m.exec(readme)?.[1] ?? '';
  const about = /^# .*\n\n([^]*?)\n\n/.exec(readme)?.[1]?.replace(/\s+/g, ' ') ?? '';
  const list = readme.slice(readme.indexOf('\n## Documentation'));
  const groups = [...list.matchAll(/^\*\*(.+)\*\*\n\n((?:- .*\n(?: {2}.*\n)*)+)/gm)].map(
    ([, text, items]) => ({
      text,
      items: items.split(/^- /m).filter(Boolean).flatMap(pagesOf),
    }),
  );
  groups
    .find(({ text }) => text === 'Reference')
    ?.items.unshift({ text: 'API reference', path: API_PAGE, about: 'each export of the package' });
  return { title, about, groups };
}

/** An item names one page with what it is about, or several pages. */
function pagesOf(item) {
  const links = [...item.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
  const [, about = ''] = /\): ([^]*)$/.exec(item) ?? [];
  return links.map(([, text, link]) => ({
    text,
    path: link.replace(`${BLOB}/`, ''),
    about: links.length === 1 ? about.replace(/\s+/g, ' ').trim() : '',
  }));
}

/** The words of a text, its code included: what stands between spaces and has a letter or a digit. */
export function countWords(text) {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
