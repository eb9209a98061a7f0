// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { basicOf, clientPackage, startSample } from './sample-with-clients.js';
import type { RunningSample } from './sample-with-clients.js';

type Identifier = number | string;
type Fields = Readonly<Record<string, unknown>>;

interface ListQuestion {
  readonly filter: Fields;
  readonly pagination: { readonly page: number; readonly perPage: number };
  readonly sort: { readonly field: string; readonly order: 'ASC' | 'DESC' };
}

/** What react-admin 3 asks of its data providers. */
interface DataProvider {
  getList(resource: string, question: ListQuestion): Promise<{ data: Fields[]; total: number }>;
  getOne(resource: string, question: { id: Identifier }): Promise<{ data: Fields }>;
  getMany(resource: string, question: { ids: readonly Identifier[] }): Promise<{ data: Fields[] }>;
  getManyReference(
    resource: string,
    question: ListQuestion & { target: string; id: Identifier },
  ): Promise<{ data: Fields[]; total: number }>;
  create(resource: string, question: { data: Fields }): Promise<{ data: Fields }>;
  update(
    resource: string,
    question: { id: Identifier; data: Fields; previousData: Fields },
  ): Promise<{ data: Fields }>;
  updateMany(
    resource: string,
    question: { ids: readonly Identifier[]; data: Fields },
  ): Promise<{ data: Identifier[] }>;
  delete(resource: string, question: { id: Identifier; previousData: Fields }): Promise<{ data: Fields }>;
  deleteMany(resource: string, question: { ids: readonly Identifier[] }): Promise<{ data: Identifier[] }>;
}

type FetchJson = (url: string, options?: object) => Promise<{ json: unknown }>;

const { default: drfProvider } = clientPackage('ra-data-django-rest-framework') as {
  default: (apiUrl: string, httpClient?: FetchJson) => DataProvider;
};
const { fetchUtils } = clientPackage('ra-core') as { fetchUtils: { fetchJson: FetchJson } };

const REVIEW = 'library/review';
const TEXTS = ['Short and clear', 'A classic', 'Clouds', 'Rain', 'Sun'];

let sample: RunningSample;
let provider: DataProvider;
beforeAll(async () => {
  sample = await startSample();
  // The whole of what an application writes.
  provider = drfProvider(`${sample.url}/admin/v1`);
  const { data: book } = await provider.create('library/book', { data: { title: 'The Sky' } });
  for (const [index, text] of TEXTS.slice(2).entries())
    await provider.create(REVIEW, { data: { text, stars: index, book: book.id } });
});
afterAll(() => sample.close());

function list(asked: Partial<ListQuestion> = {}): ReturnType<DataProvider['getList']> {
  return provider.getList(REVIEW, {
    filter: {},
    pagination: { page: 1, perPage: 25 },
    sort: { field: 'id', order: 'ASC' },
    ...asked,
  });
}

function texts({ data }: { readonly data: readonly Fields[] }): readonly unknown[] {
  return data.map(({ text }) => text);
}

/** As somebody of the help desk: react-admin's own way to send a header. */
function providerOf(user: string): DataProvider {
  return drfProvider(`${sample.url}/admin/v1`, (url, options) =>
    fetchUtils.fetchJson(url, { ...options, user: { authenticated: true, token: basicOf(user) } }),
  );
}

test('lists with the total', async () => {
  const listed = await list();
  expect(listed.data[0]).toEqual({ id: 1, text: 'Short and clear', stars: 4, book: 1 });
  expect([texts(listed), listed.total]).toEqual([TEXTS, 5]);
});

test('reads page 2, with the number of rows of all pages', async () => {
  const second = await list({ pagination: { page: 2, perPage: 2 } });
  expect([texts(second), second.total]).toEqual([['Clouds', 'Rain'], 5]);
  expect(texts(await list({ pagination: { page: 3, perPage: 2 } }))).toEqual(['Sun']);
});

test('sorts both ways', async () => {
  expect(texts(await list({ sort: { field: 'text', order: 'ASC' } }))).toEqual([...TEXTS].sort());
  expect(
    texts(await list({ sort: { field: 'stars', order: 'DESC' }, pagination: { page: 1, perPage: 2 } })),
  ).toEqual(['A classic', 'Short and clear']);
});

test('filters by fields and lookups, and searches by q', async () => {
  expect(texts(await list({ filter: { book: 1 } }))).toEqual(['Short and clear', 'A classic']);
  const many = await list({ filter: { stars__gte: 2, book: 2 } });
  expect([texts(many), many.total]).toEqual([['Sun'], 1]);
  expect(texts(await list({ filter: { q: 'CLASSIC' } }))).toEqual(['A classic']);
});

test('reads one, many, and many by a reference', async () => {
  expect(await provider.getOne(REVIEW, { id: 2 })).toEqual({
    data: { id: 2, text: 'A classic', stars: 5, book: 1 },
  });
  expect(texts(await provider.getMany(REVIEW, { ids: [3, 1] }))).toEqual(['Clouds', 'Short and clear']);
  const referring = await provider.getManyReference(REVIEW, {
    target: 'book',
    id: 2,
    filter: {},
    pagination: { page: 1, perPage: 2 },
    sort: { field: 'stars', order: 'DESC' },
  });
  expect([texts(referring), referring.total]).toEqual([['Sun', 'Rain'], 3]);
});

test('creates, edits and deletes, one and many', async () => {
  const { data: made } = await provider.create('library/author', { data: { name: 'Knuth' } });
  expect(made).toMatchObject({ id: expect.any(Number), name: 'Knuth' });
  const id = made.id as number;
  expect(
    (await provider.update('library/author', { id, data: { ...made, name: 'D. Knuth' }, previousData: made }))
      .data,
  ).toEqual({ ...made, name: 'D. Knuth' });
  expect(await provider.updateMany('library/author', { ids: [id, 1], data: { name: 'Both' } })).toEqual({
    data: [id, 1],
  });
  expect((await provider.getMany('library/author', { ids: [id, 1] })).data.map(({ name }) => name)).toEqual([
    'Both',
    'Both',
  ]);
  expect(await provider.delete('library/author', { id, previousData: made })).toEqual({ data: made });
  await expect(provider.getOne('library/author', { id })).rejects.toMatchObject({
    status: 404,
    body: { detail: 'Not found.' },
  });
  const { data: others } = await provider.getList('library/author', {
    filter: {},
    pagination: { page: 1, perPage: 100 },
    sort: { field: 'id', order: 'ASC' },
  });
  expect(others.map((author) => author.id)).toEqual([1, 2]);
  const { data: last } = await provider.create('library/author', { data: { name: 'Last' } });
  expect(await provider.deleteMany('library/author', { ids: [last.id as number] })).toEqual({ data: [] });
  await expect(provider.getOne('library/author', { id: last.id as number })).rejects.toMatchObject({
    status: 404,
  });
});

test('gets an error instead of all rows for an unknown filter', async () => {
  await expect(list({ filter: { stars__gt: 1 } })).rejects.toMatchObject({
    status: 400,
    body: { stars__gt: ['Unknown parameter.'] },
  });
});

test('gets the errors of each field, and an error for a missing page', async () => {
  await expect(provider.create(REVIEW, { data: { stars: 'many', book: 99 } })).rejects.toMatchObject({
    status: 400,
    body: {
      text: ['This field is required.'],
      stars: ['A valid integer is required.'],
      book: ['Invalid pk "99" - object does not exist.'],
    },
  });
  await expect(list({ pagination: { page: 9, perPage: 10 } })).rejects.toMatchObject({
    status: 404,
    body: { detail: 'Invalid page.' },
  });
});

test('has the rights of the user whose credentials it sends', async () => {
  const clerk = providerOf('clerk');
  const { data: ticket } = await clerk.create('desk/ticket', { data: { subject: 'No paper' } });
  expect((await clerk.getOne('desk/ticket', { id: ticket.id as number })).data).toEqual(ticket);
  await expect(providerOf('guest').getOne('desk/ticket', { id: ticket.id as number })).rejects.toMatchObject({
    status: 403,
    body: { detail: 'You do not have permission to perform this action.' },
  });
  await expect(provider.getOne('desk/ticket', { id: ticket.id as number })).rejects.toMatchObject({
    status: 401,
  });
});
