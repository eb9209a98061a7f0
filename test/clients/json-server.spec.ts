// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { clientPackage, startSample } from './sample-with-clients.js';
import type { RunningSample } from './sample-with-clients.js';

type Fields = Readonly<Record<string, unknown>>;

/** What react-admin 3 asks of `ra-data-json-server`. */
interface DataProvider {
  getList(resource: string, question: object): Promise<{ data: Fields[]; total: number }>;
  getMany(resource: string, question: { ids: readonly unknown[] }): Promise<{ data: Fields[] }>;
  create(resource: string, question: { data: Fields }): Promise<{ data: Fields }>;
  delete(resource: string, question: { id: unknown; previousData?: Fields }): Promise<{ data: Fields }>;
  deleteMany(resource: string, question: { ids: readonly unknown[] }): Promise<{ data: unknown[] }>;
}

/** What refine 5 asks of `@refinedev/rest`. */
interface RefineProvider {
  create(question: { resource: string; variables: Fields }): Promise<{ data: Fields }>;
  deleteOne(question: { resource: string; id: unknown }): Promise<{ data: Fields }>;
}

const AUTHOR = 'library/author';

let sample: RunningSample;
beforeAll(async () => {
  sample = await startSample();
});
afterAll(() => sample.close());

async function names(provider: DataProvider): Promise<readonly unknown[]> {
  const { data } = await provider.getList(AUTHOR, {
    filter: {},
    pagination: { page: 1, perPage: 50 },
    sort: { field: 'id', order: 'ASC' },
  });
  return data.map(({ name }) => name);
}

describe('react-admin with ra-data-json-server', () => {
  let provider: DataProvider;
  beforeAll(() => {
    const { default: jsonServerProvider } = clientPackage('ra-data-json-server') as {
      default: (apiUrl: string) => DataProvider;
    };
    provider = jsonServerProvider(`${sample.url}/json/v1`);
  });

  test('lists, reads many, and deletes one and many', async () => {
    const made: Fields[] = [];
    for (const name of ['Knuth', 'Wirth', 'Dijkstra'])
      made.push((await provider.create(AUTHOR, { data: { name } })).data);
    const [first, second, third] = made.map(({ id }) => id);
    expect((await provider.getMany(AUTHOR, { ids: [first, third] })).data.map(({ name }) => name)).toEqual([
      'Knuth',
      'Dijkstra',
    ]);
    expect(await provider.delete(AUTHOR, { id: first })).toEqual({
      data: { ...made[0], books: `/json/v1/library/author/${String(first)}/books/` },
    });
    expect(await provider.deleteMany(AUTHOR, { ids: [second, third] })).toEqual({ data: [second, third] });
    expect(await names(provider)).toEqual(['Kernighan', 'Ritchie']);
  });

  test('gets an error for a filter that the model does not have', async () => {
    const asked = {
      filter: { 'ids[0]': 1 },
      pagination: { page: 1, perPage: 50 },
      sort: { field: 'id', order: 'ASC' },
    };
    await expect(provider.getList(AUTHOR, asked)).rejects.toMatchObject({
      status: 400,
      body: { 'ids[0]': ['Unknown parameter.'] },
    });
  });
});

test('refine with @refinedev/rest deletes, and reads what it has deleted', async () => {
  const { createSimpleRestDataProvider } = (await importClient('@refinedev/rest')) as {
    createSimpleRestDataProvider: (options: { apiURL: string }) => { dataProvider: RefineProvider };
  };
  const { dataProvider } = createSimpleRestDataProvider({ apiURL: `${sample.url}/json/v1` });
  const { data: made } = await dataProvider.create({ resource: AUTHOR, variables: { name: 'Hoare' } });
  expect(made).toMatchObject({ id: expect.any(Number), name: 'Hoare' });
  expect(await dataProvider.deleteOne({ resource: AUTHOR, id: made.id })).toEqual({ data: made });
});

/** That for json-server's dialect, which needs packages of ES modules. */
async function importClient(name: string): Promise<unknown> {
  const here = createRequire(new URL('packages/package.json', import.meta.url));
  return import(pathToFileURL(join(dirname(here.resolve(name)), 'simple-rest.mjs')).href);
}
