// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  CursorPagination,
  LimitOffsetPagination,
  NdjsonRenderer,
  PageNumberPagination,
  Restify,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const SECRET = 'a secret of the tests, and of nothing else';

interface Envelope {
  readonly count?: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly { readonly id: number }[];
}

function nameOf({ actor }: AccessContext): string {
  return (actor as { readonly name: string } | null)?.name ?? '';
}

/** The boss sees all; others their own rows, without the salary. */
class Own implements Permission {
  decide(question: AccessContext): Grant {
    const name = nameOf(question);
    return name === 'boss'
      ? allow()
      : allow({ rows: where('owner', name), readable: ['id', 'owner', 'room', 'tags'] });
  }
}

/** The boss sees all rooms, others the first. */
class Rooms implements Permission {
  decide(question: AccessContext): Grant {
    return nameOf(question) === 'boss' ? allow() : allow({ rows: where('id', 1) });
  }
}

@Restify({
  app: 'sec',
  permissions: [Own],
  pagination: new CursorPagination({ secret: SECRET, pageSize: 2, count: 'exact' }),
  orderingFields: ['id', 'salary', 'room.code'],
  ordering: ['-secret'],
  exclude: ['secret'],
  through: {
    tags: {
      permissions: [AllowAny],
      pagination: new CursorPagination({ secret: SECRET, pageSize: 1, count: 'exact' }),
    },
  },
})
@Entity('sec_person')
class Person {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  owner: string;

  @Column()
  salary: number;

  @Column()
  secret: string;

  @ManyToOne(() => Room, (room) => room.people, { nullable: true })
  room: Relation<Room> | null;

  @ManyToMany(() => Tag)
  @JoinTable({ name: 'sec_person_tag' })
  tags: Relation<Tag[]>;
}

@Restify({ app: 'sec', permissions: [Rooms], pagination: new PageNumberPagination({ pageSize: 1 }) })
@Entity('sec_room')
class Room {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  code: string;

  @OneToMany(() => Person, (person) => person.room)
  people: Relation<Person[]>;
}

@Restify({ app: 'sec', pagination: new LimitOffsetPagination({ pageSize: 1 }) })
@Entity('sec_tag')
class Tag {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  word: string;
}

@Restify({
  app: 'sec',
  pagination: new LimitOffsetPagination({ pageSize: 1, style: 'headers' }),
  renderers: [new NdjsonRenderer()],
})
@Entity('sec_told')
class Told {
  @PrimaryGeneratedColumn()
  id: number;
}

/** With the same secret and order as the tags of a person, and another table. */
@Restify({ app: 'sec', pagination: new CursorPagination({ secret: SECRET, pageSize: 1 }) })
@Entity('sec_other')
class Other {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  word: string;
}

onEachDatabase('pages', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Person, Room, Tag, Other, Told],
      database,
      configure: (app) => {
        app.use(
          (
            request: { headers: Record<string, string>; user?: object },
            _response: unknown,
            next: () => void,
          ) => {
            if (request.headers['x-user'] !== undefined) request.user = { name: request.headers['x-user'] };
            next();
          },
        );
      },
    });
    const { dataSource } = started;
    await dataSource.getRepository(Room).insert([{ code: 'b' }, { code: 'a' }]);
    await dataSource.getRepository(Tag).insert([{ word: 'x' }, { word: 'y' }]);
    await dataSource.getRepository(Other).insert([{ word: 'x' }, { word: 'y' }, { word: 'z' }]);
    await dataSource.query('INSERT INTO sec_told (id) VALUES (1), (2)');
    const people = [1, 2, 3, 4, 5, 6].map((n) => ({
      owner: n % 2 === 0 ? 'eve' : 'ann',
      salary: 100 - n,
      secret: `needle-${n}`,
      room: { id: n < 5 ? 1 : 2 },
    }));
    await dataSource.getRepository(Person).insert(people);
    await dataSource.createQueryBuilder().relation(Person, 'tags').of(1).add([1, 2]);
    await dataSource.createQueryBuilder().relation(Person, 'tags').of(2).add([1, 2]);
  });
  afterAll(() => started.close());
  const ask = async (
    user: string,
    path: string,
  ): Promise<{ readonly status: number; readonly json: unknown }> => {
    const { status, json } = await started.client.get(path.replace(/^http:\/\/[^/]*/, ''), {
      headers: { 'x-user': user },
    });
    return { status, json };
  };
  const read = async (
    user: string,
    path: string,
  ): Promise<Envelope & { readonly ids: readonly number[] }> => {
    const { status, json } = await ask(user, path);
    expect([path, status, json]).toEqual([path, 200, expect.anything()]);
    return { ...(json as Envelope), ids: (json as Envelope).results.map(({ id }) => id) };
  };
  const cursorOf = (url: string | null | undefined): string =>
    new URL(url ?? 'http://h/').searchParams.get('cursor') ?? '';
  const REFUSED = { status: 404, json: { detail: 'Invalid cursor' } };

  test('S13 count and end within the grants', async () => {
    expect(await read('boss', '/rest/v1/sec/person/?page_size=9')).toMatchObject({ count: 6, next: null });
    expect(await read('eve', '/rest/v1/sec/person/?page_size=3')).toMatchObject({
      count: 3,
      next: null,
      previous: null,
      ids: [6, 4, 2],
    });
    expect(await read('nobody', '/rest/v1/sec/person/')).toMatchObject({
      count: 0,
      next: null,
      previous: null,
      ids: [],
    });
    expect(await read('eve', '/rest/v1/sec/room/')).toMatchObject({ count: 1, next: null });
    expect(await ask('eve', '/rest/v1/sec/room/?page=2')).toEqual({
      status: 404,
      json: { detail: 'Invalid page.' },
    });
    expect(await read('eve', '/rest/v1/sec/room/1/people/')).toMatchObject({
      count: 2,
      next: null,
      ids: [4, 2],
    });
    expect(await ask('eve', '/rest/v1/sec/room/2/people/')).toEqual({
      status: 404,
      json: { detail: 'Not found.' },
    });
    expect(await ask('eve', '/rest/v1/sec/person/1/tags/')).toEqual({
      status: 404,
      json: { detail: 'Not found.' },
    });
    expect(await read('eve', '/rest/v1/sec/person/2/tags/')).toMatchObject({ count: 2, ids: [1] });
  });

  test("S6 another's cursor shows no row that is not granted", async () => {
    const first = await read('boss', '/rest/v1/sec/person/');
    expect(first.ids).toEqual([6, 5]);
    expect((await read('eve', first.next ?? '')).ids).toEqual([4, 2]);
    const second = await read('boss', first.next ?? '');
    expect((await read('eve', second.previous ?? '')).ids).toEqual([6]);
    expect((await read('nobody', second.previous ?? '')).ids).toEqual([]);
  });

  test('S2 a cursor of an order that the caller may not use is invalid', async () => {
    const bySalary = await read('boss', '/rest/v1/sec/person/?ordering=salary');
    expect(bySalary.ids).toEqual([6, 5]);
    expect(await ask('eve', bySalary.next ?? '')).toEqual(REFUSED);
    const byRoom = await read('boss', '/rest/v1/sec/person/?ordering=room__code');
    expect(await ask('eve', byRoom.next ?? '')).toEqual(REFUSED);
    // What is dropped leaves the model's own order.
    expect((await read('eve', '/rest/v1/sec/person/?ordering=salary')).ids).toEqual([6, 4]);
    expect((await read('eve', '/rest/v1/sec/person/?ordering=-salary,room__code')).ids).toEqual([6, 4]);
  });

  test('S2 a cursor holds values of hidden columns in encrypted form', async () => {
    const { next } = await read('boss', '/rest/v1/sec/person/');
    const bytes = Buffer.from(cursorOf(next), 'base64url');
    expect(bytes.length).toBeGreaterThan(30);
    for (const form of ['latin1', 'utf8', 'base64', 'hex'] as const)
      expect(bytes.toString(form)).not.toContain(Buffer.from('needle').toString(form).slice(0, 6));
  });

  test('S2 a cursor does not reveal the length of a hidden value', async () => {
    const lengths = new Set<number>();
    for (const secret of ['needle-1', 'needle-1 and a little more', '"']) {
      await started.dataSource.getRepository(Person).update({ id: 6 }, { secret: `zz${secret}` });
      const { next, ids } = await read('boss', '/rest/v1/sec/person/?page_size=1');
      expect(ids).toEqual([6]);
      lengths.add(cursorOf(next).length);
    }
    await started.dataSource.getRepository(Person).update({ id: 6 }, { secret: 'needle-6' });
    expect(lengths.size).toBe(1);
  });

  test('S1 a cursor that was changed anywhere is none', async () => {
    const { next } = await read('boss', '/rest/v1/sec/person/');
    const cursor = cursorOf(next);
    expect((await ask('boss', `/rest/v1/sec/person/?cursor=${cursor}`)).status).toBe(200);
    const others = [...cursor].map(
      (letter, at) => `${cursor.slice(0, at)}${letter === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`,
    );
    const forged = [
      ...others,
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}.`,
      cursor + cursor,
      cursor.toLowerCase(),
      [...cursor].reverse().join(''),
    ];
    for (const each of forged)
      expect([each, await ask('boss', `/rest/v1/sec/person/?cursor=${each}`)]).toEqual([each, REFUSED]);
  });

  test('S1 a cursor of another list, parent, order or secret is none', async () => {
    const { next } = await read('boss', '/rest/v1/sec/person/?ordering=id');
    const cursor = cursorOf(next);
    for (const path of [
      'person/?',
      'person/?ordering=-id&',
      'person/?ordering=salary&',
      'room/1/people/?ordering=id&',
      'other/?',
      'other/?ordering=id&',
    ]) {
      expect([path, await ask('boss', `/rest/v1/sec/${path}cursor=${cursor}`)]).toEqual([path, REFUSED]);
    }
    const ofParent = cursorOf((await read('boss', '/rest/v1/sec/person/1/tags/')).next);
    expect((await read('boss', `/rest/v1/sec/person/1/tags/?cursor=${ofParent}`)).ids).toEqual([2]);
    for (const path of ['person/2/tags/', 'other/', 'person/'])
      expect([path, await ask('boss', `/rest/v1/sec/${path}?cursor=${ofParent}`)]).toEqual([path, REFUSED]);
  });

  test('S5 of a parameter that comes twice the last one counts, and names of objects are names', async () => {
    expect(await read('boss', '/rest/v1/sec/tag/?limit=x&limit=1&offset=9&offset=1')).toMatchObject({
      ids: [2],
      next: null,
    });
    for (const name of ['limit[]', 'limit[gt]', '__proto__', 'constructor', 'LIMIT', 'take', 'skip'])
      expect(await read('boss', `/rest/v1/sec/tag/?${name}=5`)).toMatchObject({ count: 2, ids: [1] });
  });

  test('S20 nothing of a query breaks out of a link', async () => {
    const { next } = await read(
      'boss',
      `/rest/v1/sec/tag/?${encodeURIComponent('"><script>\r\nX: 1')}=%3E%3B%20rel%3D%22next%22`,
    );
    expect(next).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/rest\/v1\/sec\/tag\/\?[\w%.=&-]*&limit=1&offset=1$/);
  });

  test('S20 nothing of a host breaks out of a link', async () => {
    for (const host of ['evil>; rel="next", <http://x', 'evil"', 'a\\b', 'a`b{|}^']) {
      const { status, headers } = await started.client.get('/rest/v1/sec/told/', { headers: { host } });
      // A library may refuse such a host.
      if (status === 400) continue;
      expect([
        host,
        String(headers.link)
          .match(/<[^<>"\\^`{|} ]*>; rel="\w+"(, )?/g)
          ?.join(''),
      ]).toEqual([host, headers.link]);
      expect(String(headers.link).match(/>; rel=/g)).toHaveLength(2);
    }
  });

  test('S17 a query that is no text is 400, in pages too', async () => {
    for (const path of ['person/', 'room/', 'tag/', 'told/', 'room/1/people/', 'person/1/tags/']) {
      for (const query of [
        'a=%zz',
        '%zz',
        'a=%ff',
        'a=%ED%A0%80',
        'a=%00',
        'page=%',
        'cursor=%zz',
        'limit=%C3',
      ])
        expect([path, query, (await ask('boss', `/rest/v1/sec/${path}?${query}`)).status]).toEqual([
          path,
          query,
          400,
        ]);
    }
    expect((await ask('boss', '/rest/v1/sec/told/?format=ndjson&a=%zz')).status).toBe(400);
  });
});

test('S1 a cursor of another secret is none, until both are known', async () => {
  @Restify({
    app: 'sec',
    pagination: new CursorPagination({
      secret: ['another secret, which is as long as it must', SECRET],
      pageSize: 1,
    }),
  })
  @Entity('sec_turned')
  class Turned {
    @PrimaryGeneratedColumn()
    id: number;
  }
  @Restify({ app: 'sec', name: 'turned', pagination: new CursorPagination({ secret: SECRET, pageSize: 1 }) })
  @Entity('sec_turned')
  class Before {
    @PrimaryGeneratedColumn()
    id: number;
  }
  const [after, before] = [await startApp({ entities: [Turned] }), await startApp({ entities: [Before] })];
  const next = async ({ client, dataSource }: StartedApp): Promise<string> => {
    await dataSource.query('INSERT INTO sec_turned (id) VALUES (1), (2)');
    return new URL(String(((await client.get('/rest/v1/sec/turned/')).json as Envelope).next)).search;
  };
  const [ofAfter, ofBefore] = [await next(after), await next(before)];
  const statuses = [
    await after.client.get(`/rest/v1/sec/turned/${ofBefore}`),
    await after.client.get(`/rest/v1/sec/turned/${ofAfter}`),
    await before.client.get(`/rest/v1/sec/turned/${ofAfter}`),
  ].map(({ status }) => status);
  await after.close();
  await before.close();
  expect(statuses).toEqual([200, 200, 404]);
});
