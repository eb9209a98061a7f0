// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { basicOf, clientPackage, startSample } from './sample-with-clients.js';
import type { RunningSample } from './sample-with-clients.js';

type Identifier = number | string;
type Fields = Readonly<Record<string, unknown>>;

interface Asked {
  readonly resource: string;
  readonly meta?: { readonly headers: Readonly<Record<string, string>> };
}

interface ListQuestion extends Asked {
  readonly pagination?: {
    readonly currentPage?: number;
    readonly pageSize?: number;
    readonly mode?: 'server' | 'off';
  };
  readonly sorters?: readonly { readonly field: string; readonly order: 'asc' | 'desc' }[];
  readonly filters?: readonly {
    readonly field: string;
    readonly operator: string;
    readonly value: unknown;
  }[];
}

/** What refine 5 asks of its data providers. */
interface DataProvider {
  getList(question: ListQuestion): Promise<{ data: Fields[]; total: number }>;
  getOne(question: Asked & { id: Identifier }): Promise<{ data: Fields }>;
  getMany(question: Asked & { ids: readonly Identifier[] }): Promise<{ data: Fields[] }>;
  create(question: Asked & { variables: Fields }): Promise<{ data: Fields }>;
  update(question: Asked & { id: Identifier; variables: Fields }): Promise<{ data: Fields }>;
  deleteOne(question: Asked & { id: Identifier; variables?: Fields }): Promise<{ data: unknown }>;
}

const { default: dataProvider } = clientPackage('@refinedev/simple-rest') as {
  default: (apiUrl: string) => DataProvider;
};

const REVIEW = { resource: 'library/review' };
const TEXTS = ['Short and clear', 'A classic', 'Clouds', 'Rain', 'Sun'];
const BY_KEY = [{ field: 'id', order: 'asc' }] as const;

let sample: RunningSample;
let provider: DataProvider;
beforeAll(async () => {
  sample = await startSample();
  // The whole of what an application writes.
  provider = dataProvider(`${sample.url}/json/v1`);
  const { data: book } = await provider.create({ resource: 'library/book', variables: { title: 'The Sky' } });
  for (const [index, text] of TEXTS.slice(2).entries())
    await provider.create({ ...REVIEW, variables: { text, stars: index, book: book.id } });
});
afterAll(() => sample.close());

async function texts(listed: Promise<{ readonly data: readonly Fields[] }>): Promise<readonly unknown[]> {
  return (await listed).data.map(({ text }) => text);
}

/** By the key, those that one filter keeps. */
function kept(field: string, operator: string, value: unknown): Promise<readonly unknown[]> {
  return texts(provider.getList({ ...REVIEW, sorters: BY_KEY, filters: [{ field, operator, value }] }));
}

function as(user: string): Pick<Required<Asked>, 'meta'> {
  return { meta: { headers: { authorization: basicOf(user) } } };
}

test('lists with the total', async () => {
  const listed = await provider.getList(REVIEW);
  expect(listed.data[0]).toEqual({ id: 2, text: 'A classic', stars: 5, book: 1 });
  expect([listed.data.length, listed.total]).toEqual([5, 5]);
  expect((await provider.getList({ ...REVIEW, pagination: { mode: 'off' } })).data).toHaveLength(5);
});

test('reads page 2, with the number of rows of all pages', async () => {
  const asked = { ...REVIEW, sorters: BY_KEY, pagination: { currentPage: 2, pageSize: 2 } };
  expect([await texts(provider.getList(asked)), (await provider.getList(asked)).total]).toEqual([
    ['Clouds', 'Rain'],
    5,
  ]);
  expect(await texts(provider.getList({ ...asked, pagination: { currentPage: 3, pageSize: 2 } }))).toEqual([
    'Sun',
  ]);
  expect(await texts(provider.getList({ ...asked, pagination: { currentPage: 9, pageSize: 2 } }))).toEqual(
    [],
  );
});

test('sorts by several fields, each in its direction', async () => {
  expect(
    await texts(
      provider.getList({
        ...REVIEW,
        sorters: [
          { field: 'book', order: 'desc' },
          { field: 'text', order: 'asc' },
        ],
      }),
    ),
  ).toEqual(['Clouds', 'Rain', 'Sun', 'A classic', 'Short and clear']);
  expect(
    await texts(
      provider.getList({
        ...REVIEW,
        sorters: [
          { field: 'book', order: 'asc' },
          { field: 'stars', order: 'desc' },
        ],
      }),
    ),
  ).toEqual(['A classic', 'Short and clear', 'Sun', 'Rain', 'Clouds']);
});

test('filters by every operator that the provider sends, and searches by q', async () => {
  expect(await kept('stars', 'eq', 5)).toEqual(['A classic']);
  expect(await kept('stars', 'ne', 5)).toEqual(['Short and clear', 'Clouds', 'Rain', 'Sun']);
  expect(await kept('stars', 'gte', 3)).toEqual(['Short and clear', 'A classic']);
  expect(await kept('stars', 'lte', 1)).toEqual(['Clouds', 'Rain']);
  expect(await kept('text', 'contains', 'CLASSIC')).toEqual(['A classic']);
  expect(await kept('book', 'in', [1, 9])).toEqual(['Short and clear', 'A classic']);
  expect(await kept('q', 'eq', 'clouds')).toEqual(['Clouds']);
  const both = await provider.getList({
    ...REVIEW,
    pagination: { pageSize: 1 },
    filters: [
      { field: 'book', operator: 'eq', value: 2 },
      { field: 'stars', operator: 'gte', value: 1 },
    ],
  });
  expect([both.data.length, both.total]).toEqual([1, 2]);
});

test('reads one, many, and many by a reference', async () => {
  expect(await provider.getOne({ ...REVIEW, id: 2 })).toEqual({
    data: { id: 2, text: 'A classic', stars: 5, book: 1 },
  });
  expect([...(await texts(provider.getMany({ ...REVIEW, ids: [4, 2, 99] })))].sort()).toEqual([
    'A classic',
    'Rain',
  ]);
  expect(await kept('book', 'eq', 2)).toEqual(['Clouds', 'Rain', 'Sun']);
});

test('creates, edits and deletes', async () => {
  const author = { resource: 'library/author' };
  const { data: made } = await provider.create({ ...author, variables: { name: 'Knuth' } });
  expect(made).toMatchObject({ id: expect.any(Number), name: 'Knuth' });
  const id = made.id as number;
  expect((await provider.update({ ...author, id, variables: { name: 'D. Knuth' } })).data).toEqual({
    ...made,
    name: 'D. Knuth',
  });
  await provider.deleteOne({ ...author, id });
  await expect(provider.getOne({ ...author, id })).rejects.toMatchObject({
    statusCode: 404,
    response: { data: { detail: 'Not found.' } },
  });
  const { data: other } = await provider.create({ ...author, variables: { name: 'Other' } });
  await provider.deleteOne({ ...author, id: other.id as number, variables: {} });
  expect((await provider.getList(author)).data.map((each) => each.id)).toEqual([1, 2]);
});

test('gets an error instead of all rows for an unknown filter', async () => {
  await expect(kept('ids[0]', 'eq', 1)).rejects.toMatchObject({
    statusCode: 400,
    response: { data: { 'ids[0]': ['Unknown parameter.'] } },
  });
  await expect(kept('nothing', 'gte', 1)).rejects.toMatchObject({
    statusCode: 400,
    response: { data: { nothing_gte: ['Unknown parameter.'] } },
  });
});

test('gets the errors of each field and of a filter', async () => {
  await expect(provider.create({ ...REVIEW, variables: { stars: 'many', book: 99 } })).rejects.toMatchObject({
    statusCode: 400,
    response: {
      data: {
        text: ['This field is required.'],
        stars: ['A valid integer is required.'],
        book: ['Invalid pk "99" - object does not exist.'],
      },
    },
  });
  await expect(kept('stars', 'gte', 'many')).rejects.toMatchObject({
    statusCode: 400,
    response: { data: { stars_gte: ['Enter a number.'] } },
  });
});

test('has the rights of the user whose credentials it sends', async () => {
  const ticket = { resource: 'desk/ticket' };
  const { data: made } = await provider.create({
    ...ticket,
    ...as('clerk'),
    variables: { subject: 'No paper' },
  });
  const id = made.id as number;
  expect((await provider.getOne({ ...ticket, ...as('clerk'), id })).data).toEqual(made);
  await expect(provider.getOne({ ...ticket, ...as('guest'), id })).rejects.toMatchObject({
    statusCode: 403,
    response: { data: { detail: 'You do not have permission to perform this action.' } },
  });
  await expect(provider.getOne({ ...ticket, id })).rejects.toMatchObject({ statusCode: 401 });
});
