// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { onEachServer } from '../support/each-database.js';
import { AWAY } from './domain.js';
import { until } from './faulty-server.js';
import { AUTHORS, Book, BOOKS, Replicated } from './replicated-app.js';

onEachServer('replication', (database) => {
  const copies = new Replicated(database);
  beforeAll(() => copies.start());
  beforeEach(() => copies.clear());
  afterAll(() => copies.stop());

  const get = async (path: string): Promise<readonly [number, unknown]> => {
    const { status, json } = await copies.started.client.get(path);
    return [status, json];
  };
  const book = (id: number, title: string, server: string, author: number | null = null): object => ({
    id,
    title,
    server,
    author,
    labels: `${BOOKS}${id}/labels/`,
  });

  test('reads lists, objects, searches, nested lists and entities of a replica', async () => {
    await copies.put('primary', 'copies_author', { id: 1, server: 'primary' });
    await copies.put('replica', 'copies_author', { id: 1, server: 'replica' });
    await copies.put('primary', 'copies_book', { id: 1, title: 'a', server: 'primary', authorId: 1 });
    await copies.put('replica', 'copies_book', { id: 1, title: 'a', server: 'replica', authorId: 1 });
    const seen = book(1, 'a', 'replica', 1);
    expect(await get(BOOKS)).toEqual([200, [seen]]);
    expect(await get(`${BOOKS}1/`)).toEqual([200, seen]);
    expect(await get(`${BOOKS}?search=A&title=a&author=1`)).toEqual([200, [seen]]);
    expect(await get(`${AUTHORS}1/books/`)).toEqual([200, [seen]]);
    const author = { id: 1, server: 'replica', books: `${AUTHORS}1/books/`, told: 'replica' };
    expect(await get(`${AUTHORS}1/`)).toEqual([200, author]);
    expect(await get(AUTHORS)).toEqual([200, [author]]);
  });

  test('writes to the primary, and answers with what it has written', async () => {
    const { client } = copies.started;
    const made = await client.post(BOOKS, { title: 'new' });
    const { id } = made.json as { id: number };
    expect([made.status, made.json]).toEqual([201, book(id, 'new', 'primary')]);
    expect(await get(`${BOOKS}${id}/`)).toEqual([404, { detail: 'Not found.' }]);
    const changed = await client.patch(`${BOOKS}${id}/`, { title: 'newer' });
    expect([changed.status, changed.json]).toEqual([200, book(id, 'newer', 'primary')]);
    const put = await client.put(`${BOOKS}${id}/`, { title: 'newest' });
    expect([put.status, put.json]).toEqual([200, book(id, 'newest', 'primary')]);
    expect(await copies.primary.getRepository(Book).find()).toEqual([
      { id, title: 'newest', server: 'primary' },
    ]);
    expect((await client.delete(`${BOOKS}${id}/`)).status).toBe(204);
    expect(await copies.primary.getRepository(Book).count()).toBe(0);
    expect(await copies.replica.getRepository(Book).count()).toBe(0);
  });

  test('finds what the client has just written: keys in a body, parents, objects behind a wrong body, what restricts a deletion', async () => {
    const { client } = copies.started;
    const author = (await client.post(AUTHORS, {})).json as { id: number; told: string };
    expect(author.told).toBe('primary');
    const label = (await client.post('/rest/v1/copies/label/', {})).json as { id: number };
    const made = await client.post(BOOKS, { title: 't', author: author.id });
    expect([made.status, (made.json as { author: number }).author]).toEqual([201, author.id]);
    const { id } = made.json as { id: number };
    expect((await client.patch(`${BOOKS}${id}/`, { author: author.id })).status).toBe(200);
    const through = `${BOOKS}${id}/labels/`;
    const pair = await client.post(through, { label: label.id });
    expect([pair.status, pair.json]).toEqual([201, { id: label.id, book: id, label: label.id }]);
    expect((await client.patch(`${through}${label.id}/`, { label: label.id })).status).toBe(200);
    expect((await client.delete(`${through}${label.id}/`)).status).toBe(204);
    const wrong = await client.patch(`${BOOKS}${id}/`, undefined, {
      raw: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(wrong.status).toBe(400);
    const restricted = await client.delete(`${AUTHORS}${author.id}/`);
    expect([restricted.status, restricted.json]).toEqual([
      409,
      { detail: 'This object cannot be deleted: objects of "copies.book" still refer to it.' },
    ]);
    const twice = await client.post(BOOKS, { title: 't' });
    expect([twice.status, twice.json]).toEqual([400, { title: ['This field must be unique.'] }]);
  });

  test('does not take rows of a replica for rows of the primary when it writes', async () => {
    await copies.put('replica', 'copies_author', { id: 5, server: 'replica' });
    await copies.put('replica', 'copies_book', { id: 7, title: 'gone', server: 'replica' });
    const { client } = copies.started;
    expect((await client.post(BOOKS, { title: 'x', author: 5 })).json).toEqual({
      author: ['Invalid pk "5" - object does not exist.'],
    });
    expect((await client.patch(`${BOOKS}7/`, { title: 'y' })).status).toBe(404);
    expect((await client.delete(`${BOOKS}7/`)).status).toBe(404);
    expect((await client.post(`${BOOKS}7/labels/`, { label: 1 })).status).toBe(404);
  });

  test('reads the object of an action at the server of its method: GET at a replica', async () => {
    await copies.put('replica', 'copies_book', { id: 7, title: 'there', server: 'replica' });
    expect(await get(`${BOOKS}7/look/`)).toEqual([200, { looked: true }]);
  });

  test('continues with the available server, and recovers by itself', async () => {
    await copies.put('replica', 'copies_book', { id: 1, title: 'a', server: 'replica' });
    const { client } = copies.started;
    await copies.primaryLine.cut();
    for (let round = 0; round < 8; round += 1) {
      const refused = await client.post(BOOKS, { title: `lost${round}` });
      expect([refused.status, refused.json]).toEqual([503, AWAY]);
      expect(await get(`${BOOKS}1/`)).toEqual([200, book(1, 'a', 'replica')]);
    }
    await copies.primaryLine.mend();
    await until(async () => (await client.post(BOOKS, { title: `back${Math.random()}` })).status === 201);
    await copies.replicaLine.cut();
    for (let round = 0; round < 8; round += 1) {
      expect(await get(`${BOOKS}1/`)).toEqual([503, AWAY]);
      expect((await client.post(BOOKS, { title: `kept${round}` })).status).toBe(201);
    }
    await copies.replicaLine.mend();
    await until(async () => (await get(`${BOOKS}1/`))[0] === 200);
    expect(copies.warnings.filter((text) => text.includes('replication'))).toEqual([]);
  });

  test('that would not recover by itself is warned of at start', async () => {
    const bare = new Replicated(database, {});
    await bare.start();
    try {
      const warned = bare.warnings.filter((text) => text.includes('without `restoreNodeTimeout`'));
      expect(warned).toHaveLength(database.name === 'mariadb' ? 1 : 0);
      const { client } = bare.started;
      const post = async (): Promise<number> =>
        (await client.post(BOOKS, { title: `t${Math.random()}` })).status;
      await bare.primaryLine.cut();
      expect(await post()).toBe(503);
      await bare.primaryLine.mend();
      // That is so: a warning that is not true any more should go.
      if (database.name === 'mariadb')
        for (let round = 0; round < 5; round += 1) expect(await post()).toBe(503);
      else await until(async () => (await post()) === 201);
    } finally {
      await bare.stop();
    }
  });
});
