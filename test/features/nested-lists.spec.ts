// @tags db http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FieldFilter, OrderingFilter, Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { idOf, NO_INTEGER_KEYS, NOT_FOUND, notAllowed, READ_ALLOW, seen } from './nested-answers.js';

/** Orders nothing and filters nothing by itself: what its nested lists do, the children say. */
@Restify({ app: 'press', filterFields: ['name'], ordering: ['-id'], filterBackends: [], strict: true })
@Entity()
class Publisher {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30, default: '' })
  name: string;

  @OneToMany(() => Volume, (volume) => volume.publisher)
  volumes: Relation<Volume[]>;

  @OneToMany(() => Leaflet, (leaflet) => leaflet.publisher)
  Leaflet_Set: Relation<Leaflet[]>;

  @OneToMany(() => Sketch, (sketch) => sketch.publisher)
  sketches: Relation<Sketch[]>;

  @OneToMany(() => Draft, (draft) => draft.publisher)
  drafts: Relation<Draft[]>;

  @OneToMany(() => Memo, (memo) => memo.publisher)
  memos: Relation<Memo[]>;

  @OneToMany(() => Ledger, (ledger) => ledger.publisher)
  ledgers: Relation<Ledger[]>;
}

@Restify({
  app: 'press',
  exclude: ['cost'],
  filterFields: {
    title: ['exact', 'icontains'],
    pages: ['exact', 'gte'],
    publisher: ['exact'],
    reviewer: ['exact'],
  },
  searchFields: ['title'],
  orderingFields: ['pages'],
  ordering: ['-pages'],
})
@Entity()
class Volume {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  title: string;

  @Column({ default: 0 })
  pages: number;

  @Column({ default: 7 })
  cost: number;

  @ManyToOne(() => Publisher, (publisher) => publisher.volumes)
  publisher: Relation<Publisher> | null;

  @ManyToOne(() => Publisher)
  reviewer: Relation<Publisher> | null;
}

@Restify({ app: 'press', filterBackends: [OrderingFilter], strict: true })
@Entity({ orderBy: { text: 'DESC' } })
class Leaflet {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  text: string;

  @ManyToOne(() => Publisher, (publisher) => publisher.Leaflet_Set, { nullable: false })
  publisher: Relation<Publisher>;
}

@Restify({ app: 'press', operations: ['create', 'retrieve', 'update', 'partialUpdate', 'destroy'] })
@Entity()
class Sketch {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Publisher, (publisher) => publisher.sketches)
  publisher: Relation<Publisher>;
}

@Restify({ app: 'press', operations: ['list'], filterBackends: [FieldFilter] })
@Entity()
class Draft {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  text: string;

  @ManyToOne(() => Publisher, (publisher) => publisher.drafts)
  publisher: Relation<Publisher>;
}

@Restify({ app: 'press', exclude: ['publisher'] })
@Entity()
class Memo {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Publisher, (publisher) => publisher.memos)
  publisher: Relation<Publisher>;
}

@Entity()
class Ledger {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Publisher, (publisher) => publisher.ledgers)
  publisher: Relation<Publisher>;
}

const PRESS = [Publisher, Volume, Leaflet, Sketch, Draft, Memo, Ledger];

async function publisher(client: StartedApp['client']): Promise<number> {
  return idOf(await client.post('/rest/v1/press/publisher/', {}));
}

onEachDatabase('a one-to-many nested list', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: PRESS, database });
  });
  afterAll(() => started.close());

  test('has the children of this parent, in the shape and the order of their own collection, and none of another', async () => {
    const { client } = started;
    const [one, two] = [await publisher(client), await publisher(client)];
    expect(seen(await client.get(`/rest/v1/press/publisher/${one}/volumes/`))).toEqual([200, []]);
    const thin = await client.post('/rest/v1/press/volume/', {
      title: 'Thin',
      pages: 10,
      publisher: one,
      reviewer: two,
    });
    const thick = await client.post('/rest/v1/press/volume/', { title: 'Thick', pages: 900, publisher: one });
    const other = await client.post('/rest/v1/press/volume/', {
      title: 'Other',
      pages: 50,
      publisher: two,
      reviewer: one,
    });
    await client.post('/rest/v1/press/volume/', { title: 'Nobody’s', pages: 50 });
    expect(seen(thin)).toEqual([
      201,
      { id: idOf(thin), title: 'Thin', pages: 10, publisher: one, reviewer: two },
    ]);
    const list = await client.get(`/rest/v1/press/publisher/${one}/volumes/`);
    expect([list.text, list.headers.allow, list.headers['content-type']]).toEqual([
      JSON.stringify([thick.json, thin.json]),
      READ_ALLOW,
      'application/json',
    ]);
    expect(seen(await client.get(`/rest/v1/press/publisher/${two}/volumes`))).toEqual([200, [other.json]]);
    await client.patch(`/rest/v1/press/volume/${idOf(thin)}/`, { publisher: two });
    expect(seen(await client.get(`/rest/v1/press/publisher/${one}/volumes/`))).toEqual([200, [thick.json]]);
  });

  test('is filtered, searched and ordered by what the children allow', async () => {
    const { client } = started;
    const [one, two] = [await publisher(client), await publisher(client)];
    const url = `/rest/v1/press/publisher/${one}/volumes/`;
    for (const [title, pages] of [
      ['Alpha', 3],
      ['Beta', 1],
      ['alphabet', 2],
    ] as const)
      await client.post('/rest/v1/press/volume/', { title, pages, publisher: one, reviewer: two });
    await client.post('/rest/v1/press/volume/', { title: 'Alpha', pages: 3, publisher: two, reviewer: one });
    const titles = async (query: string): Promise<unknown> =>
      ((await client.get(url + query)).json as readonly { title: string }[]).map(({ title }) => title);
    expect(await titles('')).toEqual(['Alpha', 'alphabet', 'Beta']);
    expect(await titles('?title=Alpha')).toEqual(['Alpha']);
    expect(await titles('?title__icontains=ALPHA&pages__gte=3')).toEqual(['Alpha']);
    expect(await titles('?search=bet')).toEqual(['alphabet', 'Beta']);
    expect(await titles('?ordering=pages')).toEqual(['Beta', 'alphabet', 'Alpha']);
    expect(await titles('?ordering=title')).toEqual(['Alpha', 'alphabet', 'Beta']);
    expect(await titles('?name=x&unknown=1')).toEqual(['Alpha', 'alphabet', 'Beta']);
    expect(await titles(`?reviewer=${two}`)).toEqual(['Alpha', 'alphabet', 'Beta']);
    expect(await titles(`?reviewer=${one}`)).toEqual([]);
    expect(seen(await client.get(`${url}?pages=many`))).toEqual([400, { pages: ['Enter a number.'] }]);
  });

  test('filtered on the parent’s own side: its key changes nothing, another one leaves nothing', async () => {
    const { client } = started;
    const [one, two] = [await publisher(client), await publisher(client)];
    const volume = await client.post('/rest/v1/press/volume/', { title: 'A', publisher: one });
    await client.post('/rest/v1/press/volume/', { title: 'B', publisher: two });
    const url = `/rest/v1/press/publisher/${one}/volumes/`;
    expect(seen(await client.get(`${url}?publisher=${one}`))).toEqual([200, [volume.json]]);
    expect(seen(await client.get(`${url}?publisher=${two}`))).toEqual([200, []]);
    expect(seen(await client.get(`${url}?publisher=999999`))).toEqual([200, []]);
    expect(seen(await client.get(`${url}?publisher=`))).toEqual([200, [volume.json]]);
  });

  test('below a missing parent, or an invalid key, is 404', async () => {
    const { client } = started;
    for (const key of ['999999', '0', '-1', ...NO_INTEGER_KEYS]) {
      expect([key, ...seen(await client.get(`/rest/v1/press/publisher/${key}/volumes/`))]).toEqual([
        key,
        ...NOT_FOUND,
      ]);
    }
  });

  test('longer than a page of the database is whole, in order, and has rows of its parent alone', async () => {
    const { client, dataSource } = started;
    const [one, two] = [await publisher(client), await publisher(client)];
    const rows = Array.from({ length: 2300 }, (_, index) => ({
      title: `v${index}`,
      pages: index % 3,
      publisher: { id: index % 23 === 0 ? two : one },
    }));
    for (let at = 0; at < rows.length; at += 500)
      await dataSource.getRepository(Volume).insert(rows.slice(at, at + 500));
    const list = (await client.get(`/rest/v1/press/publisher/${one}/volumes/?ordering=pages`))
      .json as readonly { id: number; title: string; pages: number; publisher: number }[];
    expect(list.length).toBe(2200);
    expect(new Set(list.map(({ publisher: key }) => key))).toEqual(new Set([one]));
    expect(list.map(({ title }) => title)).toEqual(
      list.toSorted((a, b) => a.pages - b.pages || a.id - b.id).map(({ title }) => title),
    );
  });
});

describe('a one-to-many nested URL', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: PRESS });
  });
  afterAll(() => started.close());

  test('is for reading: all other methods are 405, before the parent is looked at, and change nothing', async () => {
    const { client } = started;
    const one = await publisher(client);
    await client.post('/rest/v1/press/volume/', { title: 'A', publisher: one });
    const before = (await client.get('/rest/v1/press/volume/')).text;
    for (const key of [String(one), '999999', 'abc']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        const answer = await client.send(
          method,
          `/rest/v1/press/publisher/${key}/volumes/`,
          method === 'DELETE' ? {} : { body: { title: 'B', publisher: one } },
        );
        expect([seen(answer), answer.headers.allow]).toEqual([notAllowed(method), READ_ALLOW]);
      }
    }
    expect((await client.get('/rest/v1/press/volume/')).text).toBe(before);
  });

  test('answers HEAD as GET without its body, and OPTIONS without fields to write for a missing parent', async () => {
    const { client } = started;
    const one = await publisher(client);
    const head = await client.send('HEAD', `/rest/v1/press/publisher/${one}/volumes/`);
    expect([head.status, head.text, head.headers.allow, head.headers['content-type']]).toEqual([
      200,
      '',
      READ_ALLOW,
      'application/json',
    ]);
    for (const key of [one, 999999]) {
      const options = await client.send('OPTIONS', `/rest/v1/press/publisher/${key}/volumes/`);
      expect([seen(options), options.headers.allow]).toEqual([
        [
          200,
          expect.objectContaining({
            name: 'Volume List',
            description: '',
            renders: ['application/json'],
            parses: ['application/json'],
            actions: {},
          }),
        ],
        READ_ALLOW,
      ]);
    }
  });

  test('answers HEAD as GET where the parent’s key is no key at all, and OPTIONS reads no row', async () => {
    const { client } = started;
    for (const key of ['abc', '%00', '%ZZ', '%E0%A4%A']) {
      const head = await client.send('HEAD', `/rest/v1/press/publisher/${key}/volumes/`);
      expect([key, head.status, head.text]).toEqual([key, 404, '']);
    }
    expect((await client.send('OPTIONS', '/rest/v1/press/publisher/abc/volumes/')).status).toBe(200);
    // The HTTP library gives up on broken escapes before the application's own guards have run: nothing is told.
    expect((await client.send('OPTIONS', '/rest/v1/press/publisher/%ZZ/volumes/')).status).toBe(404);
  });

  test('has no objects below it', async () => {
    const { client } = started;
    const one = await publisher(client);
    const volume = await client.post('/rest/v1/press/volume/', { title: 'A', publisher: one });
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'POST']) {
      const answer = await client.send(method, `/rest/v1/press/publisher/${one}/volumes/${idOf(volume)}/`);
      expect([seen(answer), answer.headers.allow]).toEqual([NOT_FOUND, '']);
    }
    expect(seen(await client.get(`/rest/v1/press/volume/${idOf(volume)}/`))).toEqual([200, volume.json]);
  });

  test('has the property’s name as it is written, in that case only', async () => {
    const { client } = started;
    const one = await publisher(client);
    const leaflet = await client.post('/rest/v1/press/leaflet/', { text: 'L', publisher: one });
    expect((await client.get(`/rest/v1/press/publisher/${one}/`)).json).toMatchObject({
      Leaflet_Set: `/rest/v1/press/publisher/${one}/Leaflet_Set/`,
    });
    expect(seen(await client.get(`/rest/v1/press/publisher/${one}/Leaflet_Set/`))).toEqual([
      200,
      [leaflet.json],
    ]);
    for (const name of [
      'leaflet_set',
      'LEAFLET_SET',
      'leaflet',
      'name',
      'id',
      'constructor',
      '__proto__',
      'toString',
    ]) {
      expect([name, ...seen(await client.get(`/rest/v1/press/publisher/${one}/${name}/`))]).toEqual([
        name,
        ...NOT_FOUND,
      ]);
    }
  });

  test('has the children’s backends, order and strictness, and none of the parent’s', async () => {
    const { client } = started;
    const one = await publisher(client);
    const [a, b] = [
      await client.post('/rest/v1/press/leaflet/', { text: 'a', publisher: one }),
      await client.post('/rest/v1/press/leaflet/', { text: 'b', publisher: one }),
    ];
    const url = `/rest/v1/press/publisher/${one}/Leaflet_Set/`;
    expect(seen(await client.get(url))).toEqual([200, [b.json, a.json]]);
    expect(seen(await client.get(`${url}?ordering=text`))).toEqual([200, [a.json, b.json]]);
    expect(seen(await client.get(`${url}?text=a`))).toEqual([400, { text: ['Unknown parameter.'] }]);
    expect(seen(await client.get('/rest/v1/press/publisher/?name=x'))).toEqual([
      400,
      { name: ['Unknown parameter.'] },
    ]);
    expect(
      seen(
        await client.get(
          `/rest/v1/press/publisher/${one}/drafts/?search=zzz&ordering=-id&text=none&unknown=1`,
        ),
      ),
    ).toEqual([200, []]);
  });

  test('does not exist, and nor does its link, where the children are not listed', async () => {
    const { client } = started;
    const one = await publisher(client);
    const base = `/rest/v1/press/publisher/${one}`;
    expect(seen(await client.get(`${base}/`))).toEqual([
      200,
      {
        id: one,
        name: '',
        volumes: `${base}/volumes/`,
        Leaflet_Set: `${base}/Leaflet_Set/`,
        drafts: `${base}/drafts/`,
        memos: `${base}/memos/`,
      },
    ]);
    for (const name of ['sketches', 'ledgers']) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await client.send(method, `${base}/${name}/`);
        expect([name, method, seen(answer), answer.headers.allow]).toEqual([name, method, NOT_FOUND, '']);
      }
    }
    const drafts = await client.get(`${base}/drafts/`);
    expect([seen(drafts), drafts.headers.allow]).toEqual([[200, []], READ_ALLOW]);
  });

  test('leaves out what the children leave out, their parent too', async () => {
    const { client, dataSource } = started;
    const [one, two] = [await publisher(client), await publisher(client)];
    const memo = await dataSource.getRepository(Memo).save({ publisher: { id: one } });
    expect(seen(await client.get(`/rest/v1/press/publisher/${one}/memos/`))).toEqual([
      200,
      [{ id: memo.id }],
    ]);
    expect(seen(await client.get(`/rest/v1/press/publisher/${one}/memos/?publisher=${two}`))).toEqual([
      200,
      [{ id: memo.id }],
    ]);
    expect(seen(await client.get(`/rest/v1/press/publisher/${two}/memos/`))).toEqual([200, []]);
  });
});

@Restify('keyed')
@Entity()
class UuidOwner {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @OneToMany(() => Thing, (thing) => thing.by_uuid)
  things: Relation<Thing[]>;
}

@Restify('keyed')
@Entity()
class TextOwner {
  @PrimaryColumn({ length: 20 })
  code: string;

  @OneToMany(() => Thing, (thing) => thing.by_text)
  things: Relation<Thing[]>;
}

@Restify('keyed')
@Entity()
class PairOwner {
  @PrimaryColumn({ length: 20 })
  row: string;

  @PrimaryColumn()
  seat: number;

  @OneToMany(() => Thing, (thing) => thing.by_pair)
  things: Relation<Thing[]>;
}

@Restify('keyed')
@Entity()
class BigOwner {
  @PrimaryColumn({ type: 'bigint' })
  number: string;

  @OneToMany(() => Thing, (thing) => thing.by_number)
  things: Relation<Thing[]>;
}

@Restify('keyed')
@Entity()
class Thing {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => UuidOwner, (owner) => owner.things)
  by_uuid: Relation<UuidOwner> | null;

  @ManyToOne(() => TextOwner, (owner) => owner.things)
  by_text: Relation<TextOwner> | null;

  @ManyToOne(() => PairOwner, (owner) => owner.things)
  by_pair: Relation<PairOwner> | null;

  @ManyToOne(() => BigOwner, (owner) => owner.things)
  by_number: Relation<BigOwner> | null;
}

onEachDatabase('a nested list below a parent with another kind of key', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [UuidOwner, TextOwner, PairOwner, BigOwner, Thing], database });
  });
  afterAll(() => started.close());

  test.each([
    ['textowner', 'by_text', { code: 'a/b' }, { code: 'A/b' }, 'a/b', 'a%2Fb'],
    ['textowner', 'by_text', { code: '5' }, { code: '05' }, '5', '5'],
    ['pairowner', 'by_pair', { row: 'x,y', seat: 1 }, { row: 'x', seat: 1 }, 'x%2Cy,1', 'x%2Cy,1'],
    [
      'bigowner',
      'by_number',
      { number: '9007199254740993' },
      { number: '9007199254740992' },
      '9007199254740993',
      '9007199254740993',
    ],
  ])(
    'of %s, %s %j: its own children by the link, and those of no neighbour',
    async (model, field, key, neighbour, shown, segment) => {
      const { client } = started;
      const made = await client.post(`/rest/v1/keyed/${model}/`, key);
      const next = await client.post(`/rest/v1/keyed/${model}/`, neighbour);
      const url = `/rest/v1/keyed/${model}/${segment}/things/`;
      expect(seen(made)).toEqual([201, { ...key, things: url }]);
      const thing = await client.post('/rest/v1/keyed/thing/', { [field]: shown });
      expect(seen(thing)).toEqual([
        201,
        { id: idOf(thing), by_uuid: null, by_text: null, by_pair: null, by_number: null, [field]: shown },
      ]);
      expect(seen(await client.get(url))).toEqual([200, [thing.json]]);
      if (next.status === 201)
        expect(seen(await client.get((next.json as { things: string }).things))).toEqual([200, []]);
      expect(seen(await client.get(`${url}?${field}=${encodeURIComponent(shown)}`))).toEqual([
        200,
        [thing.json],
      ]);
    },
  );

  test('of a uuid, which may be written in either case', async () => {
    const { client } = started;
    const made = (await client.post('/rest/v1/keyed/uuidowner/', {})).json as { id: string; things: string };
    const thing = await client.post('/rest/v1/keyed/thing/', { by_uuid: made.id.toUpperCase() });
    expect([made.things, seen(thing)]).toEqual([
      `/rest/v1/keyed/uuidowner/${made.id}/things/`,
      [201, { id: idOf(thing), by_uuid: made.id, by_text: null, by_pair: null, by_number: null }],
    ]);
    expect(seen(await client.get(made.things))).toEqual([200, [thing.json]]);
    expect(seen(await client.get(`/rest/v1/keyed/uuidowner/${made.id.toUpperCase()}/things/`))).toEqual([
      200,
      [thing.json],
    ]);
    for (const key of [
      'x',
      made.id.slice(1),
      `${made.id}0`,
      '00000000-0000-0000-0000-000000000000',
      '1',
      `{${made.id}}`,
    ]) {
      expect([key, ...seen(await client.get(`/rest/v1/keyed/uuidowner/${key}/things/`))]).toEqual([
        key,
        ...NOT_FOUND,
      ]);
    }
  });
});

@Restify('notices')
@Entity()
class Board {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Notice, (notice) => notice.board)
  notices: Relation<Notice[]>;
}

@Restify({ app: 'notices', searchFields: ['$text'] })
@Entity()
class Notice {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  text: string;

  @ManyToOne(() => Board, (board) => board.notices)
  board: Relation<Board>;
}

onEachDatabase(
  'the statement of a nested list that the database rejects',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [Board, Notice], database });
    });
    afterAll(() => started.close());

    test('is 400 below a parent, and 404 below a missing one', async () => {
      const { client } = started;
      const id = idOf(await client.post('/rest/v1/notices/board/', {}));
      const search = (key: number): Promise<unknown> =>
        client.get(`/rest/v1/notices/board/${key}/notices/?search=(`).then(seen);
      expect(await search(id)).toEqual([400, { search: [expect.any(String)] }]);
      expect(await search(id + 1)).toEqual(NOT_FOUND);
    });
  },
  ['postgres', 'mariadb'],
);
