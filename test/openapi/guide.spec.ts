// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readDocument } from '../docs/document.js';
import { ExampleFiles, startExample } from '../docs/examples.js';
import type { RunningExample } from '../docs/examples.js';

const GUIDE = readDocument('docs/reference/openapi.md');
const files = new ExampleFiles('openapi-examples');
let running: RunningExample | undefined;
let document: unknown;

beforeAll(async () => {
  files.write(GUIDE);
  const [example] = GUIDE.parts;
  if (example?.kind !== 'example') throw new Error('docs/reference/openapi.md begins with no example');
  running = await startExample(files.pathOf(GUIDE, example));
  document = (await running?.client.get('/docs-json'))?.json;
});

afterAll(async () => {
  await running?.close();
  files.remove();
});

/** What a pointer leads to: `#/paths/~1rest` */
function at(pointer: string): unknown {
  const names = pointer
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>(
    (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
    document,
  );
}

test('the parts of the document that docs/reference/openapi.md shows are those that the application serves', () => {
  const shown = [...GUIDE.text.matchAll(/`(#\/[^`]+)`:\n\n```json\n([^]*?)```/g)].map(
    ([, pointer = '', json = '']) => ({ pointer, json: JSON.parse(json) as unknown }),
  );
  expect(shown.length).toBe(3);
  for (const { pointer, json } of shown) expect({ pointer, json: at(pointer) }).toEqual({ pointer, json });
});

test('Swagger UI stands beside it', async () => {
  const answer = await running?.client.get('/docs');
  expect(answer?.status).toBe(200);
  expect(answer?.text).toContain('swagger-ui');
});
