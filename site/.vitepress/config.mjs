import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createCssVariablesTheme } from 'shiki';
import { defineConfig } from 'vitepress';
import { EVERYDAY, navigationOf } from '../pages.mjs';

const { title, groups } = navigationOf(
  readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8'),
);

function linkOf(path) {
  return `/${path.replace(/(?:index)?\.md$/, '')}`;
}

function isEveryday({ text }) {
  return text in EVERYDAY;
}

/** The pages for looking things up have a side bar of their own. */
const LOOKED_UP = [
  '/docs/reference/',
  '/docs/contract',
  '/docs/internals/',
  '/docs/decisions/',
  '/docs/glossary',
  '/api/',
  '/ARCHITECTURE',
  '/CHANGELOG',
  '/CONTRIBUTING',
  '/SECURITY',
];

function itemsOf(isShown) {
  return groups.filter(isShown).map(({ text, items }) => ({
    text,
    items: items.map(({ text: name, path }) => ({ text: name, link: linkOf(path) })),
  }));
}

/** The anchor that a heading has on GitHub, so that links lead to it in both places. */
function toAnchor(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

export default defineConfig({
  title,
  description: 'REST interfaces from decorated TypeORM entities',
  srcDir: '.pages',
  cacheDir: '.vitepress/cache',
  cleanUrls: false,
  lastUpdated: false,
  // The data of all pages once, and not in each.
  metaChunk: true,
  // One colour for each token, which theme/style.css has for the light and the dark page.
  markdown: {
    theme: createCssVariablesTheme({ variablePrefix: '--code-' }),
    anchor: { slugify: toAnchor },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // Decisions are for those who change the package.
        _render: (source, env, markdown) =>
          env.relativePath.startsWith('docs/decisions/') ? '' : markdown.render(source, env),
        // What is read before what is looked up. The browser gets the text of this function, which therefore uses nothing else.
        miniSearch: {
          searchOptions: {
            boostDocument: (id) =>
              /^\/(?:docs\/(?:reference|internals|contract|glossary)|api|[A-Z])/.test(id) ? 0.5 : 1,
          },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/docs/quick-start' },
      { text: 'Reference', link: '/docs/reference/declaring' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: {
      '/': [...itemsOf(isEveryday), { text: 'Reference', link: '/docs/reference/declaring' }],
      ...Object.fromEntries(LOOKED_UP.map((path) => [path, itemsOf((group) => !isEveryday(group))])),
    },
  },
});
