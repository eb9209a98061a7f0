import { readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const { repository, branch } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../scripts/publication.json', import.meta.url)), 'utf8'),
);
const BLOB = `${repository}/blob/${branch}`;

/** The documents in the root of the project that are pages of the site, beside its first page, README.md. */
export const ROOT_PAGES = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

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
    const found = target === 'README.md' ? 'index.md' : target;
    return documents.includes(target) ? `${relativeTo(path, found)}${anchor}` : `${BLOB}/${target}${anchor}`;
  };
  return outsideOfCode(text, (prose) =>
    prose.replace(/\]\(([^)\s]+)\)/g, (_, link) => `](${toTarget(link)})`),
  );
}

/** Shows the name of a file as the title of its example, and not as a comment in it. */
export function nameExamples(text) {
  return text.replace(
    /^```ts\n\/\/ (?:example|refused): (\S+)\n([^]*?^```)/gm,
    (_, file, code) => `::: code-group\n\n\`\`\`ts [${file}]\n${code}\n\n:::`,
  );
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

/** The title of the site, and its pages: the list of documents in README.md, with the reference of all exports. */
export function navigationOf(readme) {
  const title = /^# (.*)$/m.exec(readme)?.[1] ?? '';
  const list = readme.slice(readme.indexOf('\n## Documentation'));
  const groups = [...list.matchAll(/^\*\*(.+)\*\*\n\n((?:- .*\n(?: {2}.*\n)*)+)/gm)].map(
    ([, text, items]) => ({
      text,
      items: items.split(/^- /m).filter(Boolean).flatMap(pagesOf),
    }),
  );
  groups
    .at(-1)
    ?.items.unshift({ text: 'API reference', path: API_PAGE, about: 'each export of the package' });
  return { title, groups };
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
