import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { navigationOf } from '../pages.mjs';

const { title, groups } = navigationOf(
  readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8'),
);

function linkOf(path) {
  return `/${path.replace(/(?:index)?\.md$/, '')}`;
}

export default defineConfig({
  title,
  description: 'REST interfaces from decorated TypeORM entities',
  srcDir: '.pages',
  cacheDir: '.vitepress/cache',
  cleanUrls: false,
  lastUpdated: false,
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // Guides before the reference of exports, which has every name.
        miniSearch: { searchOptions: { boostDocument: (id) => (id.startsWith('/api/') ? 0.3 : 1) } },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/docs/quick-start' },
      { text: 'Contract', link: '/docs/contract' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: groups.map(({ text, items }) => ({
      text,
      items: items.map(({ text: name, path }) => ({ text: name, link: linkOf(path) })),
    })),
  },
});
