// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import type { Answer, Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { Cell, Club, ENTITIES, Item, Person, Rack, Shelf, Word } from './bulk-models.js';

const ITEMS = '/rest/v1/bulk/item/';
const WORDS = '/rest/v1/bulk/word/';

const as = (name: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { 'x-name': name },
});

function named(app: INestApplication): void {
  app.use(
    (
      request: { headers: Record<string, string | undefined>; user?: object },
      _: unknown,
      next: () => void,
    ) => {
      const name = request.headers['x-name'];
      if (name !== undefined) request.user = { name };
      next();
    },
  );
}

onEachDatabase('bulk writes', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, configure: named });
    client = started.client;
  });
  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const entity of [Item, Shelf, Rack, Word, Cell])
      await manager.createQueryBuilder().delete().from(entity).execute();
    await started.dataSource.query('DELETE FROM bulk_person_club');
    for (const entity of [Person, Club]) await manager.createQueryBuilder().delete().from(entity).execute();
  });
  afterAll(() => started.close());

  const idOf = async (url: string, name: string): Promise<number> =>
    ((await client.post(url, { name })).json as { id: number }).id;
  const shelfOf = (name: string): Promise<number> => idOf('/rest/v1/bulk/shelf/', name);
  const stored = async (): Promise<readonly string[]> =>
    (await started.dataSource.getRepository(Item).find({ order: { code: 'ASC' } })).map(
      ({ code, votes, owner }) => `${code} ${votes} ${owner}`,
    );
  const make = async (items: readonly object[]): Promise<readonly number[]> =>
    (
      await started.dataSource.getRepository(Item).save(items.map((item) => Object.assign(new Item(), item)))
    ).map(({ id }) => id);
  const codes = ({ json }: Answer): readonly string[] =>
    (json as readonly { code: string }[]).map(({ code }) => code);

  describe('a POST of a list', () => {
    test('makes every object, and answers with all of them in their order', async () => {
      const shelf = await shelfOf('top');
      const answer = await client.post(ITEMS, [
        { code: 'b', shelf },
        { code: 'a', votes: 3, shelf },
        { code: 'c' },
      ]);
      expect([answer.status, codes(answer)]).toEqual([201, ['b', 'a', 'c']]);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.json).toEqual(
        (
          await Promise.all(
            (answer.json as readonly { id: number }[]).map((each) => client.get(`${ITEMS}${each.id}/`)),
          )
        ).map(({ json }) => json),
      );
      expect(await stored()).toEqual(['a 3 all', 'b 0 all', 'c 0 all']);
    });

    test('of nothing makes nothing; of one object it is as ever', async () => {
      expect(await client.post(ITEMS, [])).toMatchObject({ status: 201, json: [] });
      const one = await client.post(ITEMS, { code: 'a' });
      expect([one.status, one.headers.location]).toEqual([
        201,
        expect.stringMatching(/\/rest\/v1\/bulk\/item\/\d+\/$/),
      ]);
    });

    test('reports all errors of all objects, and creates none', async () => {
      const answer = await client.post(ITEMS, [
        { code: 'a' },
        { votes: 'x' },
        7,
        { code: 'b', shelf: 99 },
        null,
        { code: 'much too long' },
      ]);
      expect(answer).toMatchObject({
        status: 400,
        json: [
          {},
          { code: ['This field is required.'], votes: ['A valid integer is required.'] },
          { non_field_errors: ['Invalid data. Expected a dictionary, but got int.'] },
          { shelf: ['Invalid pk "99" - object does not exist.'] },
          { non_field_errors: ['No data provided'] },
          { code: ['Ensure this field has no more than 10 characters.'] },
        ],
      });
      expect(await stored()).toEqual([]);
    });

    test('that the database rejects creates none, and the response names the object', async () => {
      await make([{ code: 'b' }]);
      expect(await client.post(ITEMS, [{ code: 'a' }, { code: 'b' }, { code: 'c' }])).toMatchObject({
        status: 400,
        json: [{}, { code: ['This field must be unique.'] }, {}],
      });
      expect(await client.post(ITEMS, [{ code: 'x' }, { code: 'x' }])).toMatchObject({
        status: 400,
        json: [{}, { code: ['This field must be unique.'] }],
      });
      expect(await stored()).toEqual(['b 0 all']);
    });

    test('holds no more objects than the model lets it', async () => {
      const items = Array.from({ length: 21 }, (_, index) => ({ code: `c${index}` }));
      expect(await client.post(ITEMS, items)).toMatchObject({
        status: 400,
        json: { non_field_errors: ['Ensure this field has no more than 20 elements.'] },
      });
      expect((await client.post(ITEMS, items.slice(1))).status).toBe(201);
    });

    test('that is too large has an error with a repair', async () => {
      const items = Array.from({ length: 20 }, (_, index) => ({ code: `c${index}`, note: 'x'.repeat(6000) }));
      expect(await client.post(ITEMS, items)).toMatchObject({
        status: 413,
        json: {
          detail:
            'Request body is too large. Send fewer objects at once, or raise the limit of the body parser.',
        },
      });
      expect(await stored()).toEqual([]);
    });

    test('under grants: none is made where one may not be', async () => {
      expect(
        (
          await client.post(
            ITEMS,
            [
              { code: 'a', owner: 'eve' },
              { code: 'b', owner: 'all' },
            ],
            as('eve'),
          )
        ).status,
      ).toBe(403);
      expect(await stored()).toEqual([]);
      expect((await client.post(ITEMS, [{ code: 'a', owner: 'eve' }], as('eve'))).status).toBe(201);
    });

    test('has the response fields that the client selects', async () => {
      const shelf = await shelfOf('top');
      expect(
        await client.post(`${ITEMS}?fields=code,shelf&expand=shelf`, [{ code: 'a', shelf }, { code: 'b' }]),
      ).toMatchObject({
        status: 201,
        json: [
          { code: 'a', shelf: { id: shelf, name: 'top' } },
          { code: 'b', shelf: null },
        ],
      });
    });

    test('is rejected by a model without bulk writes, and a strict model rejects unknown fields', async () => {
      expect(await client.post('/rest/v1/bulk/shelf/', [{ name: 'x' }])).toMatchObject({
        status: 400,
        json: { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
      });
      expect(await client.post(WORDS, [{ text: 'a', lenght: 3 }, { text: 'b' }])).toMatchObject({
        status: 400,
        json: [{ lenght: ['Unknown field.'] }, {}],
      });
      expect(await client.post(`${WORDS}?upsert=true`, [{ text: 'a' }])).toMatchObject({
        status: 400,
        json: { upsert: ['Objects of this model can only be created.'] },
      });
      expect(await client.post(WORDS, [{ text: 'a' }, { text: 'b', length: 2 }])).toMatchObject({
        status: 201,
        json: [
          { text: 'a', length: 1 },
          { text: 'b', length: 2 },
        ],
      });
    });

    test('makes through objects of the parent that the URL names', async () => {
      const [person, clubs] = [
        await idOf('/rest/v1/bulk/person/', 'Ann'),
        [await idOf('/rest/v1/bulk/club/', 'x'), await idOf('/rest/v1/bulk/club/', 'y')],
      ];
      const url = `/rest/v1/bulk/person/${person}/clubs/`;
      expect(await client.post(url, [{ club: clubs[0] }, { club: 77 }])).toMatchObject({
        status: 400,
        json: [{}, { club: ['Invalid pk "77" - object does not exist.'] }],
      });
      expect(
        await client.post(
          url,
          clubs.map((club) => ({ club })),
        ),
      ).toMatchObject({ status: 201, json: clubs.map((club) => ({ id: club, person, club })) });
      expect((await client.get(url)).json).toHaveLength(2);
      expect(await client.post(url, [{ club: clubs[0] }])).toMatchObject({
        status: 400,
        json: [{ non_field_errors: ['The fields person, club must make a unique set.'] }],
      });
      expect((await client.post('/rest/v1/bulk/person/987/clubs/', [{ club: clubs[0] }])).status).toBe(404);
    });
  });

  describe('an upsert', () => {
    test('changes what is there and makes what is not', async () => {
      await make([{ code: 'b', votes: 1, secret: 'kept' }]);
      const answer = await client.post(`${ITEMS}?upsert=true`, [
        { code: 'a', votes: 5 },
        { code: 'b', votes: 7 },
      ]);
      expect(answer).toMatchObject({
        status: 201,
        json: [
          { code: 'a', votes: 5 },
          { code: 'b', votes: 7, secret: 'kept' },
        ],
      });
      expect(await stored()).toEqual(['a 5 all', 'b 7 all']);
      expect(
        await client.post(`${ITEMS}?upsert=true`, [{ code: 'a' }, { code: 'b', votes: 8 }]),
      ).toMatchObject({ status: 200, json: [{ votes: 5 }, { votes: 8 }] });
    });

    test('of one object is answered with that', async () => {
      const made = await client.post(`${ITEMS}?upsert=1`, { code: 'a' });
      expect([made.status, made.headers.location !== undefined]).toEqual([201, true]);
      const changed = await client.post(`${ITEMS}?upsert=1`, { code: 'a', votes: 2 });
      expect([changed.status, changed.headers.location, (changed.json as { votes: number }).votes]).toEqual([
        200,
        undefined,
        2,
      ]);
      expect((await client.post(`${ITEMS}?upsert=false`, { code: 'a', votes: 2 })).json).toEqual({
        code: ['This field must be unique.'],
      });
      expect(await client.post(`${ITEMS}?upsert=perhaps`, { code: 'a' })).toMatchObject({
        status: 400,
        json: { upsert: ['Must be a valid boolean.'] },
      });
    });

    test('reports which object has which errors', async () => {
      await make([{ code: 'b' }]);
      expect(
        await client.post(`${ITEMS}?upsert=true`, [
          { code: 'a' },
          { code: 'b', votes: 'x' },
          {},
          { code: 'a' },
        ]),
      ).toMatchObject({
        status: 400,
        json: [
          {},
          { votes: ['A valid integer is required.'] },
          { code: ['This field is required.'] },
          { code: ['This object is in the list already.'] },
        ],
      });
      expect(await stored()).toEqual(['b 0 all']);
    });

    test('requires the right to change, and changes only permitted rows', async () => {
      await make([{ code: 'a', votes: 1, owner: 'all' }]);
      expect((await client.post(`${ITEMS}?upsert=true`, [{ code: 'z' }], as('adder'))).status).toBe(403);
      expect(
        await client.post(
          `${ITEMS}?upsert=true`,
          [
            { code: 'a', votes: 9, owner: 'me' },
            { code: 'n', owner: 'me' },
          ],
          as('narrow'),
        ),
      ).toMatchObject({ status: 201, json: [{ votes: 9, owner: 'all' }, { owner: 'me' }] });
      // A row of somebody else is not there for her, and the index keeps it single.
      expect(
        await client.post(`${ITEMS}?upsert=true`, [{ code: 'a', owner: 'eve' }], as('eve')),
      ).toMatchObject({ status: 400, json: [{ code: ['This field must be unique.'] }] });
    });

    test('at once with others makes one object', async () => {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, votes) =>
          client.post(`${ITEMS}?upsert=true`, [{ code: 'one', votes }, { code: `two${votes % 2}` }]),
        ),
      );
      expect(
        answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 201),
      ).toEqual([]);
      expect((await stored()).map((text) => text.split(' ')[0])).toEqual(['one', 'two0', 'two1']);
    });
  });

  describe('a PATCH of a list', () => {
    test('with a list changes each object that its key names', async () => {
      const [a, b] = await make([{ code: 'a' }, { code: 'b' }]);
      expect(
        await client.patch(ITEMS, [
          { id: b, votes: 2 },
          { id: String(a), votes: 1, owner: 'me' },
        ]),
      ).toMatchObject({
        status: 200,
        json: [
          { id: b, code: 'b', votes: 2 },
          { id: a, code: 'a', votes: 1 },
        ],
      });
      expect(await stored()).toEqual(['a 1 me', 'b 2 all']);
      expect(await client.patch(ITEMS, [])).toMatchObject({ status: 200, json: [] });
    });

    test('does not exchange unique values: its objects are written one after the other', async () => {
      await make([{ code: 'a' }, { code: 'b' }]);
      const [one, other] = (await client.get(ITEMS)).json as { id: number }[];
      expect(
        await client.patch(ITEMS, [
          { id: one?.id, code: 'b' },
          { id: other?.id, code: 'a' },
        ]),
      ).toMatchObject({ status: 400, json: [{ code: ['This field must be unique.'] }, {}] });
      expect(await stored()).toEqual(['a 0 all', 'b 0 all']);
    });

    test('reports which object has which errors, and changes none', async () => {
      const [a, b] = await make([{ code: 'a' }, { code: 'b' }]);
      expect(
        await client.patch(ITEMS, [
          { id: a, votes: 1 },
          { id: 987, votes: 1 },
          { votes: 1 },
          { id: b, votes: 'x', shelf: 99 },
          { id: a, votes: 2 },
          { id: 'x' },
          [],
        ]),
      ).toMatchObject({
        status: 400,
        json: [
          {},
          { id: ['Invalid pk "987" - object does not exist.'] },
          { id: ['This field is required.'] },
          { votes: ['A valid integer is required.'], shelf: ['Invalid pk "99" - object does not exist.'] },
          { id: ['This object is in the list already.'] },
          { id: ['Incorrect type. Expected pk value, received str.'] },
          { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
        ],
      });
      expect(
        await client.patch(ITEMS, [
          { id: a, code: 'z' },
          { id: b, code: 'z' },
        ]),
      ).toMatchObject({ status: 400, json: [{}, { code: ['This field must be unique.'] }] });
      expect(
        await client.patch(ITEMS, [
          { id: a, votes: 4 },
          { id: 988, votes: 1 },
        ]),
      ).toMatchObject({ status: 400, json: [{}, { id: ['Invalid pk "988" - object does not exist.'] }] });
      expect(await client.patch(`${ITEMS}?code=a`, [{ id: a, votes: 4 }])).toMatchObject({
        status: 400,
        json: { code: ['Unknown parameter.'] },
      });
      expect(await stored()).toEqual(['a 0 all', 'b 0 all']);
    });

    test('reports what can be checked before writing, and not what the database refuses of an object before it', async () => {
      const [a, b] = await make([{ code: 'a' }, { code: 'b' }, { code: 'z' }]);
      const taken = { id: a, code: 'z' };
      const noKey = { id: ['Invalid pk "988" - object does not exist.'] };
      const noShelf = { shelf: ['Invalid pk "99" - object does not exist.'] };
      expect(await client.patch(ITEMS, [taken, { id: 988, votes: 1 }])).toMatchObject({
        status: 400,
        json: [{}, noKey],
      });
      expect(await client.patch(ITEMS, [taken, { id: b, shelf: 99 }, { id: 988, shelf: 99 }])).toMatchObject({
        status: 400,
        json: [{}, noShelf, noKey],
      });
      expect(await client.patch(`${ITEMS}?keys=${a},988`, { code: 'z' })).toMatchObject({
        status: 400,
        json: { keys: ['Invalid pk "988" - object does not exist.'] },
      });
      expect(await client.patch(ITEMS, [{ id: b, votes: 1 }, taken])).toMatchObject({
        status: 400,
        json: [{}, { code: ['This field must be unique.'] }],
      });
      expect(await stored()).toEqual(['a 0 all', 'b 0 all', 'z 0 all']);
    });

    test('reports what is wrong with filters before what is wrong with keys', async () => {
      const many = Array.from({ length: 21 }, (_, index) => index).join(',');
      for (const keys of [many, '988', 'x', ''])
        expect(await client.patch(`${ITEMS}?keys=${keys}&nothing=1`, { votes: 1 })).toMatchObject({
          status: 400,
          json: { nothing: ['Unknown parameter.'] },
        });
    });

    test('with an object changes all that the parameters name', async () => {
      const [a, b, c] = await make([
        { code: 'a', votes: 1 },
        { code: 'b', votes: 2 },
        { code: 'c', votes: 3 },
      ]);
      expect(codes(await client.patch(`${ITEMS}?votes__gte=2&ordering=-votes`, { owner: 'x' }))).toEqual([
        'c',
        'b',
      ]);
      expect(await stored()).toEqual(['a 1 all', 'b 2 x', 'c 3 x']);
      expect(codes(await client.patch(`${ITEMS}?keys=${c},${a}`, { votes: 0 }))).toEqual(['c', 'a']);
      expect(await client.patch(`${ITEMS}?keys=${a},${b}&code=b`, { votes: 5 })).toMatchObject({
        status: 400,
        json: { keys: [`Invalid pk "${a}" - object does not exist.`] },
      });
      expect(codes(await client.patch(`${ITEMS}?keys=${b},${b}&code=b`, { votes: 5 }))).toEqual(['b']);
      expect(await stored()).toEqual(['a 0 all', 'b 5 x', 'c 0 x']);
      // What the change makes of the filter does not matter: it says which objects are changed.
      expect(codes(await client.patch(`${ITEMS}?owner=x`, { owner: 'y' }))).toEqual(['b', 'c']);
      expect(await client.patch(`${ITEMS}?code=none`, { votes: 9 })).toMatchObject({ status: 200, json: [] });
    });

    test('needs a filter: without one, with an empty or an unknown one, it changes no object', async () => {
      await make([{ code: 'a' }]);
      for (const [query, json] of [
        ['', { non_field_errors: ['Name the objects: by "keys", or by filters.'] }],
        ['?fields=id', { non_field_errors: ['Name the objects: by "keys", or by filters.'] }],
        ['?vote=3', { vote: ['Unknown parameter.'] }],
        ['?code=', { code: ['This field may not be blank.'] }],
        ['?ordering=code', { non_field_errors: ['These filters leave no object out.'] }],
        ['?search=%20,', { non_field_errors: ['These filters leave no object out.'] }],
        ['?votes__gte=x', { votes__gte: ['Enter a number.'] }],
        ['?keys=', { keys: ['This field may not be blank.'] }],
        [
          '?keys=x,1.5',
          { keys: ['Invalid pk "x" - object does not exist.', 'Invalid pk "1.5" - object does not exist.'] },
        ],
        ['?keys=987', { keys: ['Invalid pk "987" - object does not exist.'] }],
        [
          `?keys=${Array.from({ length: 21 }, (_, index) => index + 1).join(',')}`,
          { keys: ['Ensure this field has no more than 20 elements.'] },
        ],
        ['?limit=1&code=a', { limit: ['Unknown parameter.'] }],
      ] as const) {
        expect([query, await client.patch(ITEMS + query, { votes: 1 })]).toMatchObject([
          query,
          { status: 400, json },
        ]);
        expect([query, await client.delete(ITEMS + query)]).toMatchObject([query, { status: 400, json }]);
      }
      expect(await stored()).toEqual(['a 0 all']);
    });

    test('changes no more objects than the model lets it', async () => {
      await make(Array.from({ length: 21 }, (_, index) => ({ code: `c${index}` })));
      expect(await client.patch(`${ITEMS}?owner=all`, { votes: 1 })).toMatchObject({
        status: 400,
        json: { non_field_errors: ['More than 20 objects fit: name fewer of them at a time.'] },
      });
      expect(await client.delete(`${ITEMS}?owner=all`)).toMatchObject({ status: 400 });
      expect((await client.delete(`${ITEMS}?code=c7`)).status).toBe(204);
      expect((await client.patch(`${ITEMS}?owner=all`, { votes: 1 })).json).toHaveLength(20);
    });

    test('reports errors of its body as a PATCH of one object does', async () => {
      const [a, b] = await make([{ code: 'a' }, { code: 'b' }]);
      expect(await client.patch(`${ITEMS}?owner=all`, { votes: 'x', shelf: 99 })).toMatchObject({
        status: 400,
        json: {
          votes: ['A valid integer is required.'],
          shelf: ['Invalid pk "99" - object does not exist.'],
        },
      });
      expect(await client.patch(`${ITEMS}?code=none`, { votes: 'x' })).toMatchObject({
        status: 400,
        json: { votes: ['A valid integer is required.'] },
      });
      expect(await client.patch(`${ITEMS}?keys=${a},${b}`, { code: 'z' })).toMatchObject({
        status: 400,
        json: { code: ['This field must be unique.'] },
      });
      expect(
        await client.send('PATCH', `${ITEMS}?owner=all`, {
          raw: '{',
          headers: { 'content-type': 'application/json' },
        }),
      ).toMatchObject({ status: 400 });
      expect(
        await client.send('PATCH', `${ITEMS}?owner=all`, {
          raw: '{}',
          headers: { 'content-type': 'text/plain' },
        }),
      ).toMatchObject({ status: 415 });
      expect(await stored()).toEqual(['a 0 all', 'b 0 all']);
      expect((await client.patch(`${ITEMS}?owner=all`)).json).toHaveLength(2);
    });

    test('names objects by composite keys, and by texts', async () => {
      await started.dataSource.getRepository(Cell).save([
        { row: 1, col: 1, value: 'a' },
        { row: 1, col: 2, value: 'b' },
        { row: 2, col: 1, value: 'c' },
      ]);
      expect(await client.patch('/rest/v1/bulk/cell/?keys=1,2;2,1', { value: 'x' })).toMatchObject({
        status: 200,
        json: [
          { row: 1, col: 2, value: 'x' },
          { row: 2, col: 1, value: 'x' },
        ],
      });
      expect(
        await client.patch('/rest/v1/bulk/cell/', [
          { row: 1, col: 1, value: 'y' },
          { row: 9, col: 9, value: 'y' },
        ]),
      ).toMatchObject({
        status: 400,
        json: [{}, { non_field_errors: ['Invalid pk "9,9" - object does not exist.'] }],
      });
      expect(
        await client.patch('/rest/v1/bulk/cell/', [{ row: 1, col: 1, value: 'y' }, { row: 2 }]),
      ).toMatchObject({ status: 400, json: [{}, { col: ['This field is required.'] }] });
      expect(await client.patch('/rest/v1/bulk/cell/', [{ row: 1, col: 1, value: 'y' }])).toMatchObject({
        status: 200,
        json: [{ row: 1, col: 1, value: 'y' }],
      });
      expect((await client.delete('/rest/v1/bulk/cell/?row=1')).status).toBe(204);
      expect((await client.get('/rest/v1/bulk/cell/')).json).toEqual([{ row: 2, col: 1, value: 'x' }]);
      expect((await client.post('/rest/v1/bulk/cell/', [{ row: 1, col: 1, value: 'y' }])).json).toEqual({
        non_field_errors: ['Invalid data. Expected a dictionary, but got list.'],
      });
      await client.post(WORDS, [{ text: 'a,b' }, { text: 'c/d' }, { text: 'e' }]);
      expect(
        await client.patch(`${WORDS}?keys=${encodeURIComponent(encodeURIComponent('a,b'))},e`, { length: 7 }),
      ).toMatchObject({
        status: 200,
        json: [
          { text: 'a,b', length: 7 },
          { text: 'e', length: 7 },
        ],
      });
      expect(await client.patch(WORDS, [{ text: 'c/d', length: 8 }])).toMatchObject({
        status: 200,
        json: [{ text: 'c/d', length: 8 }],
      });
    });

    test('changes and deletes pairs of the parent that the URL names, and of no other', async () => {
      const [ann, bob] = [
        await idOf('/rest/v1/bulk/person/', 'Ann'),
        await idOf('/rest/v1/bulk/person/', 'Bob'),
      ];
      const [x, y, z] = [
        await idOf('/rest/v1/bulk/club/', 'x'),
        await idOf('/rest/v1/bulk/club/', 'y'),
        await idOf('/rest/v1/bulk/club/', 'z'),
      ];
      const url = (person: number): string => `/rest/v1/bulk/person/${person}/clubs/`;
      await client.post(url(ann), [{ club: x }, { club: y }]);
      await client.post(url(bob), [{ club: x }]);
      expect(await client.patch(url(ann), [{ id: x, club: z }])).toMatchObject({
        status: 200,
        json: [{ id: z, person: ann, club: z }],
      });
      expect(await client.patch(url(bob), [{ id: y, club: z }])).toMatchObject({
        status: 400,
        json: [{ id: [`Invalid pk "${y}" - object does not exist.`] }],
      });
      expect(await client.delete(`${url(ann)}?keys=${x}`)).toMatchObject({
        status: 400,
        json: { keys: [`Invalid pk "${x}" - object does not exist.`] },
      });
      expect((await client.delete(`${url(ann)}?keys=${y},${z}`)).status).toBe(204);
      expect([(await client.get(url(ann))).json, (await client.get(url(bob))).json]).toEqual([
        [],
        [{ id: x, person: bob, club: x }],
      ]);
      expect((await client.delete('/rest/v1/bulk/person/987/clubs/?keys=1')).status).toBe(404);
    });
  });

  describe('a DELETE of a list', () => {
    test('deletes all that the parameters name, or none', async () => {
      const [a, b, c, d] = await make([
        { code: 'a' },
        { code: 'b', votes: 2 },
        { code: 'c', votes: 3 },
        { code: 'd' },
      ]);
      expect(await client.delete(`${ITEMS}?keys=${a},987`)).toMatchObject({
        status: 400,
        json: { keys: ['Invalid pk "987" - object does not exist.'] },
      });
      expect(await stored()).toHaveLength(4);
      expect(await client.delete(`${ITEMS}?votes__gte=2`)).toMatchObject({ status: 204, text: '' });
      expect(await client.delete(`${ITEMS}?votes__gte=2`)).toMatchObject({ status: 204, text: '' });
      expect([b, c].length + (await stored()).length).toBe(4);
      expect((await client.delete(`${ITEMS}?keys=${a},${d}`, { body: [1] })).status).toBe(204);
      expect(await stored()).toEqual([]);
    });

    test('that a foreign key restricts deletes none', async () => {
      await started.dataSource.getRepository(Rack).save([{ name: 'x' }, { name: 'y' }]);
      const [, rack] = await started.dataSource.getRepository(Rack).find({ order: { name: 'ASC' } });
      await make([{ code: 'a', rack }]);
      expect((await client.delete(`/rest/v1/bulk/shelf/?keys=1`)).status).toBe(405);
      expect(await client.delete('/rest/v1/bulk/rack/?name__in=x,y')).toMatchObject({
        status: 409,
        json: { detail: 'This object cannot be deleted: objects of "bulk.item" still refer to it.' },
      });
      expect((await client.get('/rest/v1/bulk/rack/')).json).toHaveLength(2);
      expect((await client.delete('/rest/v1/bulk/rack/?name=x')).status).toBe(204);
    });
  });

  describe('two users', () => {
    test('change and delete rows of their own alone, whatever they name', async () => {
      const [all, own] = await make([
        { code: 'a', owner: 'all' },
        { code: 'b', owner: 'eve' },
      ]);
      expect(codes(await client.patch(`${ITEMS}?votes=0`, { votes: 1 }, as('eve')))).toEqual(['b']);
      expect(
        await client.patch(
          ITEMS,
          [
            { id: own, votes: 2 },
            { id: all, votes: 2 },
          ],
          as('eve'),
        ),
      ).toMatchObject({ status: 400, json: [{}, { id: [`Invalid pk "${all}" - object does not exist.`] }] });
      expect(await client.patch(`${ITEMS}?keys=${own},${all}`, { votes: 2 }, as('eve'))).toMatchObject({
        status: 400,
      });
      expect((await client.patch(`${ITEMS}?keys=${own}`, { owner: 'all' }, as('eve'))).status).toBe(403);
      expect((await client.delete(`${ITEMS}?keys=${all}`, as('eve'))).status).toBe(400);
      expect((await client.delete(`${ITEMS}?votes__gte=0`, as('eve'))).status).toBe(204);
      expect(await stored()).toEqual(['a 0 all']);
    });

    test('name rows by what they may read alone: neither by hidden fields, nor rows by fields that they see of others', async () => {
      const [own] = await make([
        { code: 'a', owner: 'eve', secret: 'x' },
        { code: 'b', owner: 'all', secret: 'x' },
        { code: 'c', owner: 'blind' },
      ]);
      for (const answer of [
        await client.patch(`${ITEMS}?secret=x`, { votes: 1 }, as('eve')),
        await client.delete(`${ITEMS}?secret=x`, as('eve')),
      ])
        expect(answer).toMatchObject({ status: 400, json: { secret: ['Unknown parameter.'] } });
      // May change every row, and read few.
      expect(codes(await client.patch(`${ITEMS}?votes=0`, { votes: 1 }, as('blind')))).toEqual(['c']);
      expect((await client.patch(`${ITEMS}?keys=${own}`, { votes: 5 }, as('blind'))).json).toMatchObject([
        { code: 'a', votes: 5 },
      ]);
      expect((await client.patch(`${ITEMS}?votes=0`, { votes: 9 }, as('mute'))).status).toBe(403);
      expect((await client.delete(`${ITEMS}?keys=${own}`, as('mute'))).status).toBe(204);
      expect(await stored()).toEqual(['b 0 all', 'c 1 blind']);
    });

    test('need the right of the method', async () => {
      const [a] = await make([{ code: 'a' }]);
      expect((await client.patch(ITEMS, [{ id: a, votes: 1 }], as('adder'))).status).toBe(403);
      expect((await client.delete(`${ITEMS}?keys=${a}`, as('adder'))).status).toBe(403);
      expect(await client.patch(ITEMS, [{ id: a, votes: 1, owner: 'me' }], as('narrow'))).toMatchObject({
        status: 200,
        json: [{ votes: 1, owner: 'all' }],
      });
    });

    test('at once change what each of them found', async () => {
      const ids = await make(Array.from({ length: 10 }, (_, index) => ({ code: `c${index}` })));
      const answers = await Promise.all([
        client.patch(
          ITEMS,
          ids.map((id) => ({ id, votes: 1 })),
        ),
        client.patch(
          ITEMS,
          [...ids].reverse().map((id) => ({ id, votes: 2 })),
        ),
        client.patch(`${ITEMS}?votes=0`, { owner: 'x' }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const votes = new Set((await stored()).map((text) => text.split(' ')[1]));
      expect(votes.size).toBe(1);
    });
  });

  test('what a URL serves stands in Allow, and nested lists of one to many stay for reading', async () => {
    expect((await client.get(ITEMS)).headers.allow).toBe('GET, POST, PATCH, DELETE, HEAD, OPTIONS');
    expect((await client.get('/rest/v1/bulk/shelf/')).headers.allow).toBe('GET, POST, HEAD, OPTIONS');
    expect((await client.get('/rest/v1/bulk/cell/')).headers.allow).toBe(
      'GET, POST, PATCH, DELETE, HEAD, OPTIONS',
    );
    const shelf = await shelfOf('top');
    expect(await client.patch(`/rest/v1/bulk/shelf/${shelf}/items/?code=a`, {})).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
    expect((await client.put(ITEMS, [])).status).toBe(405);
    expect((await client.patch(ITEMS, [], { headers: { accept: 'text/html' } })).status).toBe(406);
  });
});
