// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { RestifyModule } from 'nestjs-restify';
import { onEachServer } from '../support/each-database.js';
import { AUTHORS, BOOKS, Replicated } from './replicated-app.js';

const LABELS = '/rest/v1/copies/label/';

/** Each way twice: what comes again runs prepared. */
const ROUNDS = [1, 2];

onEachServer('each kind of request, with the primary or the replica unavailable', (database) => {
  const copies = new Replicated(database);
  beforeAll(() => copies.start());
  beforeEach(() => copies.clear());
  afterAll(() => copies.stop());

  test('sends no statement of a read to the primary', async () => {
    await copies.put('replica', 'copies_author', { id: 1, server: 'replica' });
    await copies.put('replica', 'copies_book', { id: 1, title: 'a', server: 'replica', authorId: 1 });
    await copies.put('replica', 'copies_label', { id: 1 });
    await copies.put('replica', 'copies_book_labels', { copiesBookId: 1, copiesLabelId: 1 });
    const { client } = copies.started;
    await copies.primaryLine.cut();
    try {
      expect((await client.post(LABELS, {})).status).toBe(503);
      for (const round of ROUNDS) {
        const paths = [
          '',
          '?title=a',
          '?author=1',
          '?search=A',
          '?ordering=-title',
          '1/',
          '1/labels/',
          '1/labels/1/',
          '1/look/',
        ].map((path) => BOOKS + path);
        const readable = [
          ...paths,
          AUTHORS,
          `${AUTHORS}1/`,
          `${AUTHORS}1/books/`,
          `${AUTHORS}1/books/?title=a`,
          LABELS,
          '/',
        ].flatMap((path) =>
          ['GET', 'HEAD', 'OPTIONS'].map((method) => ({ round, method, path, status: 200 })),
        );
        for (const read of readable)
          expect({ ...read, status: (await client.send(read.method, read.path)).status }).toEqual(read);
        for (const path of [
          `${BOOKS}2/`,
          `${BOOKS}2/labels/`,
          `${BOOKS}2/labels/1/`,
          `${BOOKS}1/labels/2/`,
          `${BOOKS}2/look/`,
          `${AUTHORS}2/books/`,
        ])
          expect([path, (await client.get(path)).status]).toEqual([path, 404]);
      }
    } finally {
      await copies.primaryLine.mend();
    }
  });

  test('sends no statement of a write to a replica', async () => {
    const { client } = copies.started;
    const made = async (path: string, body: object): Promise<number> => {
      const { status, json } = await client.post(path, body);
      expect([path, status]).toEqual([path, 201]);
      return (json as { id: number }).id;
    };
    const status = async (method: string, path: string, body?: object): Promise<number> =>
      (await client.send(method, path, body ? { body } : {})).status;
    await copies.replicaLine.cut();
    try {
      for (const round of ROUNDS) {
        const author = await made(AUTHORS, {});
        const [label, other] = [await made(LABELS, {}), await made(LABELS, {})];
        const book = await made(BOOKS, { title: `t${round}`, author });
        const url = `${BOOKS}${book}/`;
        expect(await status('GET', url)).toBe(503);
        expect(await status('PUT', url, { title: `u${round}` })).toBe(200);
        expect(await status('PATCH', url, { author })).toBe(200);
        expect(await status('PATCH', url, {})).toBe(200);
        expect(await status('POST', `${url}stamp/`)).toBe(200);
        expect(await made(`${url}labels/`, { label })).toBe(label);
        expect(await status('PUT', `${url}labels/${label}/`, { label: other })).toBe(200);
        expect(await status('PATCH', `${url}labels/${other}/`, { label })).toBe(200);
        expect(await status('DELETE', `${url}labels/${label}/`)).toBe(204);
        // What is refused is refused by the primary.
        expect(await status('POST', BOOKS, { title: `u${round}` })).toBe(400);
        expect(await status('POST', BOOKS, { title: 'x', author: author + 1000 })).toBe(400);
        expect(await status('POST', `${BOOKS}${book + 1000}/labels/`, { label })).toBe(404);
        expect(await status('POST', `${BOOKS}${book + 1000}/stamp/`)).toBe(404);
        expect(await status('PATCH', `${BOOKS}${book + 1000}/`, { title: 'x' })).toBe(404);
        expect(await status('DELETE', `${AUTHORS}${author}/`)).toBe(409);
        expect(await status('DELETE', url)).toBe(204);
        expect(await status('DELETE', url)).toBe(404);
      }
    } finally {
      await copies.replicaLine.mend();
    }
  });
});

onEachServer('a prefix on a data source without the replica', (database) => {
  const copies = new Replicated(database, undefined, [
    RestifyModule.forRoot('rest/v1'),
    RestifyModule.forRoot('fresh/v1', { dataSource: 'primary' }),
  ]);
  beforeAll(() => copies.start());
  afterAll(() => copies.stop());

  test('reads what was just written, beside a prefix that reads the replica', async () => {
    const { client } = copies.started;
    const made = await client.post(BOOKS, { title: 'new' });
    const { id } = made.json as { id: number };
    expect((await client.get(`${BOOKS}${id}/`)).status).toBe(404);
    const fresh = await client.get(`/fresh/v1/copies/book/${id}/`);
    expect([fresh.status, fresh.json]).toEqual([
      200,
      { ...(made.json as object), labels: `/fresh/v1/copies/book/${id}/labels/` },
    ]);
  });
});

onEachServer('conditional requests, with the replica away', (database) => {
  const copies = new Replicated(database, undefined, [
    RestifyModule.forRoot('rest/v1', { conditional: { require: true } }),
  ]);
  beforeAll(() => copies.start());
  afterAll(() => copies.stop());

  test('are compared on the primary for a write', async () => {
    const { client } = copies.started;
    for (const path of [BOOKS, AUTHORS]) {
      const made = await client.post(path, { title: 'new' });
      const url = `${path}${(made.json as { id: number }).id}/`;
      const tag = made.headers.etag ?? '';
      expect((await client.get(url)).status).toBe(404);
      await copies.replicaLine.cut();
      try {
        const status = async (
          method: string,
          headers: Record<string, string>,
          body: object = { title: 'x' },
        ): Promise<number> =>
          (await client.send(method, url, { ...(method === 'DELETE' ? {} : { body }), headers })).status;
        for (const method of ['PUT', 'PATCH', 'DELETE'])
          expect([method, await status(method, {}), await status(method, { 'if-match': '"x"' })]).toEqual([
            method,
            428,
            412,
          ]);
        expect(await status('PATCH', { 'if-match': '"x"' }, { server: [] })).toBe(412);
        expect(await status('PATCH', { 'if-match': tag }, { server: [] })).toBe(400);
        const patched = await client.patch(url, { server: 'changed' }, { headers: { 'if-match': tag } });
        expect(patched.status).toBe(200);
        expect(await status('DELETE', { 'if-match': tag })).toBe(412);
        expect(await status('DELETE', { 'if-match': patched.headers.etag ?? '' })).toBe(204);
      } finally {
        await copies.replicaLine.mend();
      }
    }
  });
});
