import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join, sep } from 'node:path';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TAGS = ['core', 'db', 'http', 'nest'];

/**
 * The specs of `test/` with the tags of their first line, `// @tags db nest`, which state where their results can differ:
 * `db` between databases, `http` between Express and Fastify, `nest` between the worlds, `core` nowhere.
 * Paths are relative to the root of the project, with slashes.
 */
export function taggedSpecs() {
  return readdirSync(join(ROOT, 'test'), { recursive: true })
    .map((path) => ['test', ...path.split(sep)].join('/'))
    .filter((path) => path.endsWith('.spec.ts') && !path.includes('/node_modules/'))
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, text, tags: tagsOf(text) };
    });
}

function tagsOf(text) {
  const tags = /^\/\/ @tags ((?:\w+ ?)+)\n/.exec(text)?.[1].split(' ') ?? [];
  return tags.every((tag) => TAGS.includes(tag)) ? tags : [];
}
