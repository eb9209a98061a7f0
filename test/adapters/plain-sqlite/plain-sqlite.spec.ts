// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ActorPermissionSource } from '../../../src/core/contracts/permission.js';
import { Authenticator } from '../../../src/features/authentication/authenticate.stage.js';
import { buildApi } from '../../../src/http/build-routes.js';
import { getExpressExchange } from '../../../src/http/express/express-exchange.js';
import { RestServer } from '../../../src/http/rest-server.js';
import { ApplicationOperations } from '../../../src/pipeline/application-operations.js';
import { pipelineServices } from '../../../src/pipeline/pipeline-services.js';
import { RestPipeline } from '../../../src/pipeline/rest-pipeline.js';
import { compileModels } from '../../support/compile-models.js';
import { DESCRIPTION, TABLES } from './described-models.js';
import { openDatabase, PlainSqliteAdapter } from './plain-sqlite-port.js';

const PREFIX = 'rest/v1';
const database = openDatabase();
let server: Server;
let url: string;

/** Serves the models over the port, without Nest's router and without an ORM. */
function createRestServer(adapter: PlainSqliteAdapter): RestServer {
  const { all, resources } = compileModels(DESCRIPTION);
  for (const resource of all) adapter.prepare(resource);
  const services = pipelineServices({
    adapter,
    permissions: { source: new ActorPermissionSource(), refusalsHide: 'nothing', failed: () => undefined },
    authenticator: new Authenticator({ timeout: 5000, refused: undefined, trustedOrigins: new Set() }),
    routesOf: () => [],
    readsPreferences: false,
  });
  const rest = new RestServer(console, getExpressExchange as never, {
    isEnhanced: () => false,
    runGuard: () => () => true,
  });
  rest.add({
    api: buildApi(PREFIX, resources),
    pipeline: new RestPipeline(services),
    operations: new ApplicationOperations(services),
    resourceOf: () => undefined,
    errorFormat: 'drf',
    errorListener: undefined,
    shutdownGrace: 0,
    unknownEntities: 'warn',
    findMissingIndexes: () => Promise.resolve([]),
    missingIndexRows: undefined,
    index: undefined,
    page: undefined,
    mapError: (error) => error,
    findUnauthenticated: () => [],
    findDeferredProblems: () => [],
    order: 0,
  });
  rest.mounts.add('');
  return rest;
}

beforeAll(async () => {
  database.exec(TABLES);
  const rest = createRestServer(new PlainSqliteAdapter(database, DESCRIPTION));
  server = createServer((request, response) => {
    // What Express adds to a request.
    Object.assign(request, { originalUrl: request.url, baseUrl: '', protocol: 'http' });
    const exchange = getExpressExchange(request, response);
    rest.setInitialHeaders(exchange);
    void rest.handle(exchange);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${PREFIX}/plain/`;
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  database.close();
});

async function get(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(url + path);
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text.replaceAll(url, '/')) as unknown };
}

const LAMP = { id: 1, name: 'lamp', inStock: true, made: '2026-01-02T03:04:05.678Z', maker: 1 };
const LIFT = { id: 2, name: 'lift', inStock: false, made: null, maker: 1 };
const SAW = { id: 3, name: 'saw', inStock: true, made: null, maker: 2 };

test.each([
  [
    'a list that the database writes',
    'maker/?fields=id,name',
    [
      { id: 1, name: 'Acme' },
      { id: 2, name: 'Bolt' },
    ],
  ],
  [
    'a list of values',
    'reading/',
    [
      { id: 1, degrees: 20.5 },
      { id: 2, degrees: -3.25 },
    ],
  ],
  ['one object', 'gadget/1/', LAMP],
  [
    'one object with an expanded relation',
    'gadget/3/?expand=maker&omit=maker.gadgets',
    { ...SAW, maker: { id: 2, name: 'Bolt' } },
  ],
  [
    'objects with an expanded list',
    'maker/?expand=gadgets&fields=id,gadgets.id',
    [
      { id: 1, gadgets: [{ id: 1 }, { id: 2 }] },
      { id: 2, gadgets: [{ id: 3 }] },
    ],
  ],
  ['a list below its parent', 'maker/2/gadgets/', { count: 1, next: null, previous: null, results: [SAW] }],
])('reads %s', async (_, path, body) => {
  expect(await get(path)).toEqual({ status: 200, body });
});

test.each([
  ['a column', 'inStock=true', [LAMP, SAW]],
  ['a lookup', 'name__startswith=l', [LAMP, LIFT]],
  ['a related row', 'maker__name=Bolt', [SAW]],
  ['null', 'made__isnull=true', [LIFT, SAW]],
  ['a search', 'search=AW', [SAW]],
])('filters by %s', async (_, query, results) => {
  expect(await get(`gadget/?${query}`)).toMatchObject({
    status: 200,
    body: { count: results.length, results },
  });
});

test('reads one page after the other', async () => {
  const first = await get('gadget/?ordering=-id');
  expect(first).toMatchObject({
    status: 200,
    body: { count: 3, next: '/gadget/?ordering=-id&page=2', previous: null, results: [SAW, LIFT] },
  });
  expect(await get('gadget/?ordering=-id&page=2')).toMatchObject({
    body: { next: null, previous: '/gadget/?ordering=-id', results: [LAMP] },
  });
});

test.each(['gadget/9/', 'maker/9/gadgets/', 'gadget/?page=9'])('responds with 404 to %s', async (path) => {
  expect(await get(path)).toMatchObject({ status: 404 });
});

/** The packages that a file loads, with all files that it loads itself. */
function packagesOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, specifier = ''] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)';/gm))
    if (specifier.startsWith('.')) packagesOf(join(dirname(file), specifier.replace(/\.js$/, '.ts')), seen);
    else seen.add(specifier);
  return seen;
}

test('loads no ORM', () => {
  const loaded = packagesOf(fileURLToPath(import.meta.url));
  expect([...loaded].some((each) => each.endsWith('src/execution/read/plan-reader.ts'))).toBe(true);
  expect([...loaded].filter((each) => /typeorm/.test(each))).toEqual([]);
});
