import type { PageConfig } from '../../../src/http/browsable/browsable-page.js';

/** The configuration that the server has written into the page. */
export function readConfig(page: Document): PageConfig {
  const content = page.querySelector<HTMLMetaElement>('meta[name="restify"]')?.content ?? '{}';
  const given = JSON.parse(content) as Partial<PageConfig>;
  return { index: './', root: '/', headers: {}, login: {}, documents: {}, ...given };
}
