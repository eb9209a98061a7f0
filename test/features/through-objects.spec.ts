// @tags db http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { problemsOf } from '../boot/refused-start.js';
import {
  DELETED,
  idOf,
  isRefusedPair,
  LIST_ALLOW,
  NO_INTEGER_KEYS,
  noSuchPk,
  NOT_FOUND,
  notAllowed,
  OBJECT_ALLOW,
  READ_ALLOW,
  REQUIRED,
  seen,
} from './nested-answers.js';

// An unregistered through entity with a key and columns of its own, whose relations are named like neither model.
@Restify('club')
@Entity()
class Member {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  name: string;

  @ManyToMany(() => Club, (club) => club.members)
  @JoinTable({
    name: 'membership',
    joinColumn: { name: 'who_id' },
    inverseJoinColumn: { name: 'joined_id' },
    synchronize: false,
  })
  clubs: Relation<Club[]>;
}

@Restify('club')
@Entity()
class Club {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  name: string;

  @ManyToMany(() => Member, (member) => member.clubs)
  members: Relation<Member[]>;
}

@Entity('membership')
@Unique(['who', 'joined'])
class Membership {
  @PrimaryGeneratedColumn()
  number: number;

  @Column({ length: 10 })
  role: string;

  @Column({ default: 3 })
  points: number;

  @Column({ type: 'varchar', length: 30, nullable: true })
  note: string | null;

  @ManyToOne(() => Member, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'who_id' })
  who: Relation<Member>;

  @ManyToOne(() => Member)
  invited_by: Relation<Member> | null;

  @ManyToOne(() => Club, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'joined_id' })
  joined: Relation<Club>;
}

@Restify('club')
@Entity()
class Fee {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Membership, { onDelete: 'RESTRICT' })
  membership: Relation<Membership>;
}

type Client = StartedApp['client'];

async function make(
  client: Client,
  path: string,
  ...bodies: readonly Record<string, unknown>[]
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const body of bodies) ids.push(idOf(await client.post(`/rest/v1/${path}/`, body)));
  return ids;
}

const NAMES = [{ name: 'A' }, { name: 'B' }, { name: 'C' }];

onEachDatabase('an unregistered through entity with a key of its own', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Member, Club, Membership, Fee], database });
  });
  afterAll(() => started.close());

  async function people(): Promise<{ members: readonly [number, number]; clubs: readonly [number, number] }> {
    const [m1 = 0, m2 = 0] = await make(started.client, 'club/member', ...NAMES);
    const [c1 = 0, c2 = 0] = await make(started.client, 'club/club', ...NAMES);
    return { members: [m1, m2], clubs: [c1, c2] };
  }

  test('is created, listed, retrieved, changed and deleted from both sides, with its own columns', async () => {
    const { client, port } = started;
    const {
      members: [m1, m2],
      clubs: [c1, c2],
    } = await people();
    const created = await client.post(`/rest/v1/club/member/${m1}/clubs/`, {
      role: 'chair',
      joined: c1,
      note: 'x',
      invited_by: m2,
    });
    const { number } = created.json as { number: number };
    const body = { number, role: 'chair', points: 3, note: 'x', who: m1, invited_by: m2, joined: c1 };
    const url = `/rest/v1/club/member/${m1}/clubs/${number}/`;
    const mirror = `/rest/v1/club/club/${c1}/members/${number}/`;
    expect([seen(created), created.headers.location, created.headers.allow]).toEqual([
      [201, body],
      `http://127.0.0.1:${port}${url}`,
      LIST_ALLOW,
    ]);
    expect(Object.keys(created.json as object)).toEqual(Object.keys(body));
    for (const each of [url, mirror, url.slice(0, -1)])
      expect([seen(await client.get(each)), (await client.get(each)).headers.allow]).toEqual([
        [200, body],
        OBJECT_ALLOW,
      ]);
    for (const list of [`/rest/v1/club/member/${m1}/clubs/`, `/rest/v1/club/club/${c1}/members`])
      expect(seen(await client.get(list))).toEqual([200, [body]]);
    expect(seen(await client.get(`/rest/v1/club/member/${m2}/clubs/`))).toEqual([200, []]);
    expect(seen(await client.patch(mirror, { points: '9', note: null }))).toEqual([
      200,
      { ...body, points: 9, note: null },
    ]);
    expect(seen(await client.put(url, { role: 'guest', joined: c2 }))).toEqual([
      200,
      { ...body, role: 'guest', points: 9, note: null, joined: c2 },
    ]);
    expect(seen(await client.get(mirror))).toEqual(NOT_FOUND);
    const moved = await client.patch(`/rest/v1/club/club/${c2}/members/${number}/`, { who: m2 });
    expect(seen(moved)).toEqual([
      200,
      { ...body, role: 'guest', points: 9, note: null, who: m2, joined: c2 },
    ]);
    expect(seen(await client.get(url))).toEqual(NOT_FOUND);
    expect(seen(await client.delete(`/rest/v1/club/member/${m2}/clubs/${number}/`))).toEqual(DELETED);
    expect(seen(await client.get(`/rest/v1/club/club/${c2}/members/`))).toEqual([200, []]);
    expect((await client.get(`/rest/v1/club/member/${m2}/`)).status).toBe(200);
    expect((await client.get(`/rest/v1/club/club/${c2}/`)).status).toBe(200);
  });

  test('has the parent from the URL, and ignores one in the body', async () => {
    const { client } = started;
    const {
      members: [m1, m2],
      clubs: [c1, c2],
    } = await people();
    const url = `/rest/v1/club/member/${m1}/clubs/`;
    const numbers: number[] = [];
    for (const [who, joined] of [
      [m2, c1],
      ['nonsense', c2],
    ] as const) {
      const created = await client.post(url, { role: 'r', who, joined });
      numbers.push((created.json as { number: number }).number);
      expect(seen(created)).toEqual([
        201,
        { number: numbers.at(-1), role: 'r', points: 3, note: null, who: m1, invited_by: null, joined },
      ]);
    }
    for (const who of [m2, 999999, null, {}, 'x']) {
      expect(seen(await client.patch(`${url}${numbers[0]}/`, { who, points: 4 }))).toEqual([
        200,
        { number: numbers[0], role: 'r', points: 4, note: null, who: m1, invited_by: null, joined: c1 },
      ]);
      expect(seen(await client.put(`${url}${numbers[0]}/`, { who, role: 'r', joined: c1 }))).toEqual([
        200,
        { number: numbers[0], role: 'r', points: 4, note: null, who: m1, invited_by: null, joined: c1 },
      ]);
    }
    expect(seen(await client.get(`/rest/v1/club/member/${m2}/clubs/`))).toEqual([200, []]);
  });

  test('requires the related side and its own required columns, and never the parent’s side', async () => {
    const { client } = started;
    const {
      members: [m1],
      clubs: [c1],
    } = await people();
    const url = `/rest/v1/club/member/${m1}/clubs/`;
    expect(seen(await client.post(url, {}))).toEqual([400, { role: REQUIRED, joined: REQUIRED }]);
    expect(seen(await client.post(url))).toEqual([400, { role: REQUIRED, joined: REQUIRED }]);
    expect(seen(await client.post(`/rest/v1/club/club/${c1}/members/`, { joined: c1 }))).toEqual([
      400,
      { role: REQUIRED, who: REQUIRED },
    ]);
    const { number } = (await client.post(url, { role: 'r', joined: c1 })).json as { number: number };
    const row = { number, role: 'r', points: 3, note: null, who: m1, invited_by: null, joined: c1 };
    expect(seen(await client.put(`${url}${number}/`, {}))).toEqual([
      400,
      { role: REQUIRED, joined: REQUIRED },
    ]);
    expect(seen(await client.put(`/rest/v1/club/club/${c1}/members/${number}/`, { role: 's' }))).toEqual([
      400,
      { who: REQUIRED },
    ]);
    expect(seen(await client.patch(`${url}${number}/`, {}))).toEqual([200, row]);
    expect(seen(await client.patch(`${url}${number}/`))).toEqual([200, row]);
    const bad = { role: '', joined: null, points: 'many', invited_by: 999999 };
    const errors = {
      role: ['This field may not be blank.'],
      joined: ['This field may not be null.'],
      points: ['A valid integer is required.'],
      invited_by: noSuchPk('999999'),
    };
    for (const answer of [
      await client.post(url, bad),
      await client.put(`${url}${number}/`, bad),
      await client.patch(`${url}${number}/`, bad),
    ])
      expect(seen(answer)).toEqual([400, errors]);
    for (const [joined, message] of [
      [999999, noSuchPk('999999')],
      ['x', ['Incorrect type. Expected pk value, received str.']],
      [{ id: c1 }, ['Incorrect type. Expected pk value, received dict.']],
      [[c1], ['Incorrect type. Expected pk value, received list.']],
      [true, ['Incorrect type. Expected pk value, received bool.']],
    ] as const) {
      expect(seen(await client.patch(`${url}${number}/`, { joined }))).toEqual([400, { joined: message }]);
      expect(seen(await client.post(url, { role: 'r', joined }))).toEqual([400, { joined: message }]);
    }
    expect(seen(await client.get(url))).toEqual([200, [row]]);
  });

  test('has no collection, no index entry and no URL of its own', async () => {
    const { client } = started;
    expect(Object.keys((await client.get('/')).json as object).toSorted()).toEqual([
      'rest/v1/club/club',
      'rest/v1/club/fee',
      'rest/v1/club/member',
    ]);
    for (const name of ['membership', 'member_clubs', 'club_members', 'clubs'])
      expect([name, ...seen(await client.get(`/rest/v1/club/${name}/`))]).toEqual([name, ...NOT_FOUND]);
  });

  test('is filtered, searched and ordered by all its columns and sides, by default', async () => {
    const { client } = started;
    const {
      members: [m1, m2],
      clubs: [c1, c2],
    } = await people();
    const url = `/rest/v1/club/member/${m1}/clubs/`;
    const one = await client.post(url, { role: 'chair', points: 1, joined: c1, invited_by: m2 });
    const two = await client.post(url, { role: 'guest', points: 2, joined: c2 });
    await client.post(`/rest/v1/club/member/${m2}/clubs/`, { role: 'chair', points: 1, joined: c1 });
    for (const query of [
      'role=chair',
      'points=1',
      `joined=${c1}`,
      `invited_by=${m2}`,
      'search=HAI',
      `who=${m1}&role=chair`,
      `number=${(one.json as { number: number }).number}`,
    ]) {
      expect([query, ...seen(await client.get(`${url}?${query}`))]).toEqual([query, 200, [one.json]]);
    }
    for (const query of [`who=${m2}`, 'who=999999', `who=${m2}&joined=${c1}`, 'joined=999999'])
      expect([query, ...seen(await client.get(`${url}?${query}`))]).toEqual([query, 200, []]);
    for (const query of ['ordering=-points', 'ordering=-joined', 'ordering=-role', 'ordering=-number'])
      expect([query, ...seen(await client.get(`${url}?${query}`))]).toEqual([
        query,
        200,
        [two.json, one.json],
      ]);
    expect(seen(await client.get(`${url}?who=${m1}`))).toEqual([200, [one.json, two.json]]);
    expect((await client.get(`${url}?joined=x`)).status).toBe(400);
    expect((await client.get(`${url}?who=x`)).status).toBe(400);
  });

  test('of a pair that is there is refused where an index forbids it, and nothing changes', async () => {
    const { client } = started;
    const {
      members: [m1, m2],
      clubs: [c1, c2],
    } = await people();
    const url = `/rest/v1/club/member/${m1}/clubs/`;
    const one = await client.post(url, { role: 'a', joined: c1 });
    const two = await client.post(url, { role: 'b', joined: c2 });
    const { number } = two.json as { number: number };
    const mirror = `/rest/v1/club/club/${c1}/members/`;
    await client.post(mirror, { role: 'c', who: m2 });
    for (const answer of [
      await client.post(url, { role: 'z', joined: c1 }),
      await client.post(mirror, { role: 'z', who: m1 }),
      await client.patch(`${url}${number}/`, { joined: c1, role: 'z' }),
      await client.put(`${url}${number}/`, { joined: c1, role: 'z' }),
      await client.patch(`${mirror}${(one.json as { number: number }).number}/`, { who: m2 }),
    ]) {
      expect([answer.status, answer.json, isRefusedPair(answer)]).toEqual([
        400,
        { non_field_errors: [expect.any(String)] },
        true,
      ]);
    }
    expect(seen(await client.get(url))).toEqual([200, [one.json, two.json]]);
  });

  test('that something else still refers to is not deleted', async () => {
    const { client, dataSource } = started;
    const {
      members: [m1],
      clubs: [c1],
    } = await people();
    const url = `/rest/v1/club/member/${m1}/clubs/`;
    const row = await client.post(url, { role: 'a', joined: c1 });
    const { number } = row.json as { number: number };
    await dataSource.getRepository(Fee).save({ membership: { number } });
    const answer = await client.delete(`${url}${number}/`);
    expect(seen(answer)).toEqual([409, { detail: expect.stringContaining('club.fee') }]);
    expect(seen(await client.get(`${url}${number}/`))).toEqual([200, row.json]);
  });

  test('is 404 below a missing parent, and for a missing key', async () => {
    const { client } = started;
    const {
      members: [m1],
      clubs: [c1],
    } = await people();
    const url = `/rest/v1/club/member/${m1}/clubs/`;
    const row = await client.post(url, { role: 'a', joined: c1 });
    const { number } = row.json as { number: number };
    const before = (await client.get(url)).text;
    for (const parent of ['999999', 'abc', '1.5', '%ZZ', '%00', '99999999999999999999']) {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['GET', `${number}/`],
        ['PUT', `${number}/`],
        ['PATCH', `${number}/`],
        ['DELETE', `${number}/`],
      ] as const) {
        const answer = await client.send(method, `/rest/v1/club/member/${parent}/clubs/${path}`, {
          body: { role: 'z', joined: c1 },
        });
        expect([parent, method, path, ...seen(answer)]).toEqual([parent, method, path, ...NOT_FOUND]);
      }
    }
    for (const child of [
      '999999',
      '0',
      '-1',
      `${number}/1`,
      `${number}//`,
      `0${number}`,
      `${number}%2F`,
      'a/b/c',
      ...NO_INTEGER_KEYS,
    ]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await client.send(method, `${url}${child}/`, { body: { role: 'z', joined: c1 } });
        expect([child, method, ...seen(answer), answer.headers.allow]).toEqual([
          child,
          method,
          ...NOT_FOUND,
          OBJECT_ALLOW,
        ]);
      }
    }
    expect((await client.get(url)).text).toBe(before);
  });
});

describe('the URLs of a through object', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Member, Club, Membership, Fee] });
  });
  afterAll(() => started.close());

  test('refuse methods that they do not serve, before the parent is looked at', async () => {
    const { client } = started;
    for (const [method, path, allow] of [
      ['PUT', '1/clubs/', LIST_ALLOW],
      ['PATCH', '999/clubs', LIST_ALLOW],
      ['DELETE', 'abc/clubs/', LIST_ALLOW],
      ['POST', '999/clubs/1/', OBJECT_ALLOW],
      ['PROPFIND', '1/clubs/a/b', OBJECT_ALLOW],
    ] as const) {
      const answer = await client.send(method, `/rest/v1/club/member/${path}`);
      expect([path, seen(answer), answer.headers.allow]).toEqual([path, notAllowed(method), allow]);
    }
  });

  test('have the related side as required in OPTIONS, and not the side of the parent', async () => {
    const { client } = started;
    for (const [path, method] of [
      ['999/clubs/', 'POST'],
      ['999/clubs/abc/', 'PUT'],
    ] as const) {
      const { status, json } = await client.send('OPTIONS', `/rest/v1/club/member/${path}`);
      const { actions } = json as {
        actions: Record<string, Record<string, { required: boolean; read_only: boolean }>>;
      };
      expect([status, Object.keys(actions)]).toEqual([200, [method]]);
      expect(actions[method]).toMatchObject({
        number: { required: false, read_only: true },
        role: { required: true, read_only: false },
        points: { required: false, read_only: false },
        joined: { required: true, read_only: false },
        invited_by: { required: false, read_only: false },
      });
      expect(actions[method]?.who?.required ?? false).toBe(false);
    }
  });

  test('take only JSON objects, which is checked after the parent and the object', async () => {
    const { client } = started;
    const [member = 0] = await make(client, 'club/member', { name: 'M' });
    const [club = 0] = await make(client, 'club/club', { name: 'C' });
    const url = `/rest/v1/club/member/${member}/clubs/`;
    const { number } = (await client.post(url, { role: 'r', joined: club })).json as { number: number };
    const list = { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] };
    expect(seen(await client.post(url, []))).toEqual([400, list]);
    expect(seen(await client.put(`${url}${number}/`, []))).toEqual([400, list]);
    expect(seen(await client.patch(`${url}${number}/`, null))).toEqual([
      400,
      { non_field_errors: ['No data provided'] },
    ]);
    expect(
      (await client.post(url, undefined, { raw: 'a=b', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(415);
    expect(seen(await client.post('/rest/v1/club/member/999999/clubs/', []))).toEqual(NOT_FOUND);
    expect(seen(await client.put(`${url}999999/`, []))).toEqual(NOT_FOUND);
    expect(
      seen(
        await client.send('PATCH', `${url}999999/`, {
          raw: '{',
          headers: { 'content-type': 'application/json' },
        }),
      ),
    ).toEqual(NOT_FOUND);
  });
});

// Registered: ruled by its own options. Has both a column and a relation for each side.
@Restify('lending')
@Entity()
class Patron {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Item, (item) => item.patrons)
  @JoinTable({
    name: 'loan',
    joinColumn: { name: 'patron_id' },
    inverseJoinColumn: { name: 'item_id' },
    synchronize: false,
  })
  loaned: Relation<Item[]>;

  @ManyToMany(() => Item, (item) => item.wanted_by)
  @JoinTable({
    name: 'reservation',
    joinColumn: { name: 'patron_id' },
    inverseJoinColumn: { name: 'item_id' },
    synchronize: false,
  })
  wanted: Relation<Item[]>;

  @ManyToMany(() => Item, (item) => item.seen_by)
  @JoinTable({
    name: 'viewing',
    joinColumn: { name: 'patron_id' },
    inverseJoinColumn: { name: 'item_id' },
    synchronize: false,
  })
  viewed: Relation<Item[]>;
}

@Restify('lending')
@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Patron, (patron) => patron.loaned)
  patrons: Relation<Patron[]>;

  @ManyToMany(() => Patron, (patron) => patron.wanted)
  wanted_by: Relation<Patron[]>;

  @ManyToMany(() => Patron, (patron) => patron.viewed)
  seen_by: Relation<Patron[]>;
}

@Restify({
  app: 'lending',
  filterFields: { days: ['exact', 'gte'] },
  searchFields: [],
  orderingFields: ['days'],
  ordering: ['-days'],
  readOnly: ['stamp'],
  exclude: ['secret'],
  strict: true,
})
@Entity()
class Loan {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  days: number;

  @Column({ length: 10, default: 'none' })
  stamp: string;

  @Column({ length: 10, default: 'hidden' })
  secret: string;

  @ManyToOne(() => Patron, { nullable: false })
  @JoinColumn({ name: 'patron_id' })
  patron: Relation<Patron>;

  @ManyToOne(() => Item, { nullable: false })
  @JoinColumn({ name: 'item_id' })
  item: Relation<Item>;

  @OneToMany(() => Reminder, (reminder) => reminder.loan)
  reminders: Relation<Reminder[]>;
}

@Restify('lending')
@Entity()
class Reminder {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Loan, (loan) => loan.reminders)
  loan: Relation<Loan>;
}

@Restify({ app: 'lending', operations: ['create', 'retrieve', 'destroy'] })
@Entity()
class Reservation {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  patron_id: number;

  @Column()
  item_id: number;

  @ManyToOne(() => Patron)
  @JoinColumn({ name: 'patron_id' })
  patron: Relation<Patron>;

  @ManyToOne(() => Item)
  @JoinColumn({ name: 'item_id' })
  item: Relation<Item>;
}

@Restify({
  app: 'lending',
  readOnly: ['item'],
  operations: ['list', 'retrieve', 'update', 'partialUpdate', 'destroy'],
})
@Entity()
class Viewing {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 0 })
  times: number;

  @ManyToOne(() => Patron, { nullable: false })
  @JoinColumn({ name: 'patron_id' })
  patron: Relation<Patron>;

  @ManyToOne(() => Item, { nullable: false })
  @JoinColumn({ name: 'item_id' })
  item: Relation<Item>;
}

const LENDING = [Patron, Item, Loan, Reminder, Reservation, Viewing];

onEachDatabase('a registered through entity', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: LENDING, database });
  });
  afterAll(() => started.close());

  test('has a collection and an index entry of its own, and shows the same objects there and below its parents', async () => {
    const { client, port } = started;
    const [p1 = 0] = await make(client, 'lending/patron', {});
    const [i1 = 0] = await make(client, 'lending/item', {});
    expect((await client.get('/')).json).toMatchObject({
      'rest/v1/lending/loan': `http://127.0.0.1:${port}/rest/v1/lending/loan/`,
    });
    const nested = await client.post(`/rest/v1/lending/patron/${p1}/loaned/`, { item: i1, days: 5 });
    const id = idOf(nested);
    const body = {
      id,
      days: 5,
      stamp: 'none',
      patron: p1,
      item: i1,
      reminders: `/rest/v1/lending/loan/${id}/reminders/`,
    };
    expect([seen(nested), nested.headers.location]).toEqual([
      [201, body],
      `http://127.0.0.1:${port}/rest/v1/lending/patron/${p1}/loaned/${id}/`,
    ]);
    expect(seen(await client.get(`/rest/v1/lending/loan/${id}/`))).toEqual([200, body]);
    expect(seen(await client.get(body.reminders))).toEqual([200, []]);
    const own = await client.post('/rest/v1/lending/loan/', { patron: p1, item: i1, days: 9 });
    expect([own.status, own.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${port}/rest/v1/lending/loan/${idOf(own)}/`,
    ]);
    for (const url of [`/rest/v1/lending/patron/${p1}/loaned/`, `/rest/v1/lending/item/${i1}/patrons/`])
      expect(seen(await client.get(url))).toEqual([200, [own.json, body]]);
    expect(seen(await client.post('/rest/v1/lending/loan/', { days: 9 }))).toEqual([
      400,
      { patron: REQUIRED, item: REQUIRED },
    ]);
  });

  test('rules its nested endpoints by its own options', async () => {
    const { client, dataSource } = started;
    const [p1 = 0, p2 = 0] = await make(client, 'lending/patron', {}, {});
    const [i1 = 0] = await make(client, 'lending/item', {});
    const url = `/rest/v1/lending/patron/${p1}/loaned/`;
    const short = await client.post(url, { item: i1, days: 1, stamp: 'forged' });
    const long = await client.post(url, { item: i1, days: 30 });
    expect(short.json).toMatchObject({ stamp: 'none' });
    expect(seen(await client.get(`${url}?ordering=days`))).toEqual([200, [short.json, long.json]]);
    expect(seen(await client.get(`${url}?days__gte=2`))).toEqual([200, [long.json]]);
    for (const name of ['item', 'patron', 'secret', 'stamp', 'id'])
      expect([name, ...seen(await client.get(`${url}?${name}=1`))]).toEqual([
        name,
        400,
        { [name]: ['Unknown parameter.'] },
      ]);
    expect(seen(await client.post(url, { item: i1, days: 1, secret: 'x' }))).toEqual([
      400,
      { secret: ['Unknown field.'] },
    ]);
    expect(
      seen(await client.patch(`${url}${idOf(short)}/`, { stamp: 'forged', days: 2, patron: p2 })),
    ).toEqual([200, { ...(short.json as object), days: 2 }]);
    const stored = await dataSource.getRepository(Loan).findOneByOrFail({ id: idOf(short) });
    expect([stored.stamp, stored.secret]).toEqual(['none', 'hidden']);
  });

  test('needs the parent’s side in no body, where the entity has a column beside the relation as well', async () => {
    const { client, port } = started;
    const [p1 = 0, p2 = 0] = await make(client, 'lending/patron', {}, {});
    const [i1 = 0] = await make(client, 'lending/item', {});
    const created = await client.post(`/rest/v1/lending/patron/${p1}/wanted/`, { item: i1 });
    const id = idOf(created);
    expect([seen(created), created.headers.location]).toEqual([
      [201, { id, patron_id: p1, item_id: i1, patron: p1, item: i1 }],
      `http://127.0.0.1:${port}/rest/v1/lending/patron/${p1}/wanted/${id}/`,
    ]);
    const forged = await client.post(`/rest/v1/lending/patron/${p1}/wanted/`, {
      item: i1,
      patron: p2,
      patron_id: p2,
    });
    expect(seen(forged)).toEqual([
      201,
      { id: idOf(forged), patron_id: p1, item_id: i1, patron: p1, item: i1 },
    ]);
    expect(seen(await client.post(`/rest/v1/lending/item/${i1}/wanted_by/`, { patron: p2 }))).toEqual([
      201,
      { id: expect.any(Number), patron_id: p2, item_id: i1, patron: p2, item: i1 },
    ]);
    const differing = await client.post(`/rest/v1/lending/patron/${p1}/wanted/`, { item: i1, item_id: 999 });
    expect([differing.status, Object.keys(differing.json as object)]).toEqual([400, ['item', 'item_id']]);
    expect(seen(await client.post(`/rest/v1/lending/item/${i1}/wanted_by/`, {}))).toEqual([
      400,
      { patron: REQUIRED },
    ]);
  });

  test('has only its operations below its parents, and only links to URLs that exist', async () => {
    const { client } = started;
    const [p1 = 0] = await make(client, 'lending/patron', {});
    const [i1 = 0] = await make(client, 'lending/item', {});
    const url = `/rest/v1/lending/patron/${p1}/wanted/`;
    const row = await client.post('/rest/v1/lending/reservation/', { patron: p1, item: i1 });
    const list = await client.get(url);
    expect([seen(list), list.headers.allow]).toEqual([notAllowed('GET'), 'POST, OPTIONS']);
    const one = await client.get(`${url}${idOf(row)}/`);
    expect([seen(one), one.headers.allow]).toEqual([[200, row.json], 'GET, DELETE, HEAD, OPTIONS']);
    const change = await client.patch(`${url}${idOf(row)}/`, { item: i1 });
    expect([seen(change), change.headers.allow]).toEqual([notAllowed('PATCH'), 'GET, DELETE, HEAD, OPTIONS']);
    const viewed = await client.post(`/rest/v1/lending/patron/${p1}/viewed/`, { item: i1 });
    expect([seen(viewed), viewed.headers.allow]).toEqual([notAllowed('POST'), READ_ALLOW]);
  });

  test('keeps a side that is read-only', async () => {
    const { client, dataSource } = started;
    const [p1 = 0] = await make(client, 'lending/patron', {});
    const [i1 = 0, i2 = 0] = await make(client, 'lending/item', {}, {});
    const { id } = await dataSource.getRepository(Viewing).save({ patron: { id: p1 }, item: { id: i1 } });
    const url = `/rest/v1/lending/patron/${p1}/viewed/${id}/`;
    expect(seen(await client.patch(url, { item: i2, times: 2 }))).toEqual([
      200,
      { id, times: 2, patron: p1, item: i1 },
    ]);
    expect(seen(await client.patch(`/rest/v1/lending/viewing/${id}/`, { item: i2, times: 3 }))).toEqual([
      200,
      { id, times: 3, patron: p1, item: i1 },
    ]);
    expect(seen(await client.put(url, { times: 4 }))).toEqual([200, { id, times: 4, patron: p1, item: i1 }]);
  });
});

// Columns in place of relations; a nullable other side; options of the relation.
@Restify({
  app: 'shop',
  through: {
    products: { ordering: ['-price'], filterFields: ['price'], strict: true },
    audited: { operations: ['retrieve', 'destroy'] },
    closed: { operations: [] },
  },
})
@Entity()
class Shop {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Product, (product) => product.shops)
  @JoinTable({
    name: 'listing',
    joinColumn: { name: 'shop_number' },
    inverseJoinColumn: { name: 'product_number' },
    synchronize: false,
  })
  products: Relation<Product[]>;

  @ManyToMany(() => Product)
  @JoinTable({ name: 'shop_audited' })
  audited: Relation<Product[]>;

  @ManyToMany(() => Product)
  @JoinTable({ name: 'shop_closed' })
  closed: Relation<Product[]>;

  @ManyToMany(() => Product)
  @JoinTable({
    name: 'shop_tried',
    joinColumn: { name: 'shop_number' },
    inverseJoinColumn: { name: 'product_number' },
    synchronize: false,
  })
  tried: Relation<Product[]>;
}

@Restify('shop')
@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Shop, (shop) => shop.products)
  shops: Relation<Shop[]>;
}

@Entity('listing')
@Index(['shopNumber', 'productNumber'], { unique: true })
class Listing {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ name: 'shop_number' })
  shopNumber: number;

  @Column({ name: 'product_number' })
  productNumber: number;

  @Column({ type: 'decimal', precision: 8, scale: 2 })
  price: string;
}

@Entity('shop_tried')
class Trial {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ name: 'shop_number' })
  shop: number;

  @Column({ name: 'product_number' })
  product: number;

  @OneToMany(() => Complaint, (complaint) => complaint.trial)
  complaints: Relation<Complaint[]>;
}

@Restify('shop')
@Entity()
class Complaint {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Trial, (trial) => trial.complaints)
  trial: Relation<Trial> | null;
}

onEachDatabase('a through entity with plain columns for its sides', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Shop, Product, Listing, Trial, Complaint], database });
  });
  afterAll(() => started.close());

  test('has the sides’ keys under the columns’ names, looked up as keys', async () => {
    const { client } = started;
    const [s1 = 0, s2 = 0] = await make(client, 'shop/shop', {}, {});
    const [p1 = 0, p2 = 0] = await make(client, 'shop/product', {}, {});
    const url = `/rest/v1/shop/shop/${s1}/products/`;
    const created = await client.post(url, { productNumber: p1, price: 2, shopNumber: s2 });
    const body = { id: idOf(created), shopNumber: s1, productNumber: p1, price: '2.00' };
    expect(seen(created)).toEqual([201, body]);
    expect(seen(await client.get(`/rest/v1/shop/product/${p1}/shops/`))).toEqual([200, [body]]);
    expect(seen(await client.post(url, {}))).toEqual([400, { productNumber: REQUIRED, price: REQUIRED }]);
    expect(seen(await client.post(url, { productNumber: 999999, price: 1 }))).toEqual([
      400,
      { productNumber: noSuchPk('999999') },
    ]);
    expect(seen(await client.patch(`${url}${body.id}/`, { productNumber: null }))).toEqual([
      400,
      { productNumber: ['This field may not be null.'] },
    ]);
    expect(isRefusedPair(await client.post(url, { productNumber: p1, price: 1 }))).toBe(true);
    expect(seen(await client.patch(`${url}${body.id}/`, { productNumber: p2, shopNumber: s2 }))).toEqual([
      200,
      { ...body, productNumber: p2 },
    ]);
    expect(seen(await client.get(`/rest/v1/shop/product/${p1}/shops/${body.id}/`))).toEqual(NOT_FOUND);
    expect(
      seen(await client.put(`/rest/v1/shop/product/${p2}/shops/${body.id}/`, { shopNumber: s2, price: '3' })),
    ).toEqual([200, { ...body, shopNumber: s2, productNumber: p2, price: '3.00' }]);
    expect(seen(await client.delete(`/rest/v1/shop/shop/${s2}/products/${body.id}/`))).toEqual(DELETED);
  });

  test('has the options of the relation, from both sides', async () => {
    const { client } = started;
    const [s1 = 0] = await make(client, 'shop/shop', {});
    const [p1 = 0, p2 = 0] = await make(client, 'shop/product', {}, {});
    const url = `/rest/v1/shop/shop/${s1}/products/`;
    const cheap = await client.post(url, { productNumber: p1, price: 1 });
    const dear = await client.post(url, { productNumber: p2, price: 5 });
    expect(seen(await client.get(url))).toEqual([200, [dear.json, cheap.json]]);
    expect(seen(await client.get(`${url}?price=1`))).toEqual([200, [cheap.json]]);
    for (const each of [url, `/rest/v1/shop/product/${p1}/shops/`])
      expect(seen(await client.get(`${each}?productNumber=${p1}`))).toEqual([
        400,
        { productNumber: ['Unknown parameter.'] },
      ]);
    expect(seen(await client.post(url, { productNumber: p1, price: 1, x: 1 }))).toEqual([
      400,
      { x: ['Unknown field.'] },
    ]);
  });

  test('shows no link, where it is not registered: there is no URL for it to lead to', async () => {
    const { client } = started;
    const [s1 = 0] = await make(client, 'shop/shop', {});
    const [p1 = 0] = await make(client, 'shop/product', {});
    const created = await client.post(`/rest/v1/shop/shop/${s1}/tried/`, { product: p1 });
    expect(seen(created)).toEqual([201, { id: idOf(created), shop: s1, product: p1 }]);
  });

  test('has no URL and no link of which no operation is left, and keeps the other one', async () => {
    const { client, dataSource } = started;
    const [s1 = 0] = await make(client, 'shop/shop', {});
    const [p1 = 0] = await make(client, 'shop/product', {});
    await dataSource.createQueryBuilder().relation(Shop, 'audited').of(s1).add(p1);
    await dataSource.createQueryBuilder().relation(Shop, 'closed').of(s1).add(p1);
    const base = `/rest/v1/shop/shop/${s1}`;
    expect(seen(await client.get(`${base}/`))).toEqual([
      200,
      { id: s1, products: `${base}/products/`, tried: `${base}/tried/` },
    ]);
    for (const path of ['audited', 'closed', `closed/${p1}`]) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE'])
        expect([path, method, ...seen(await client.send(method, `${base}/${path}/`))]).toEqual([
          path,
          method,
          ...NOT_FOUND,
        ]);
    }
    const row = await client.get(`${base}/audited/${p1}/`);
    expect([seen(row), row.headers.allow]).toEqual([
      [200, { id: p1, shop: s1, product: p1 }],
      'GET, DELETE, HEAD, OPTIONS',
    ]);
    expect(seen(await client.delete(`${base}/audited/${p1}/`))).toEqual(DELETED);
  });
});

describe('an unregistered through entity below a prefix with options', () => {
  test('has the defaults of forRoot', async () => {
    const started = await startApp({
      entities: [Member, Club, Membership, Fee],
      restify: { strict: true, filterBackends: [] },
    });
    try {
      const [member = 0] = await make(started.client, 'club/member', { name: 'A' });
      const url = `/rest/v1/club/member/${member}/clubs/`;
      expect(seen(await started.client.get(`${url}?role=x`))).toEqual([
        400,
        { role: ['Unknown parameter.'] },
      ]);
      expect(seen(await started.client.post(url, { role: 'r', joined: 9, odd: 1 }))).toMatchObject([
        400,
        { odd: ['Unknown field.'] },
      ]);
    } finally {
      await started.close();
    }
  });
});

// The key is the pair.
@Restify('film')
@Entity()
class Film {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Critic, (critic) => critic.films)
  critics: Relation<Critic[]>;

  @ManyToMany(() => Critic, (critic) => critic.attended)
  audience: Relation<Critic[]>;

  @ManyToMany(() => Critic, (critic) => critic.voted_for)
  voters: Relation<Critic[]>;
}

@Restify('film')
@Entity()
class Critic {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Film, (film) => film.critics)
  @JoinTable({
    name: 'rating',
    joinColumn: { name: 'critic_id' },
    inverseJoinColumn: { name: 'film_id' },
    synchronize: false,
  })
  films: Relation<Film[]>;

  @ManyToMany(() => Film, (film) => film.audience)
  @JoinTable({
    name: 'attendance_of_film',
    joinColumn: { name: 'by_critic' },
    inverseJoinColumn: { name: 'at_film' },
    synchronize: false,
  })
  attended: Relation<Film[]>;

  @ManyToMany(() => Film, (film) => film.voters)
  @JoinTable({
    name: 'vote',
    joinColumn: { name: 'critic_id' },
    inverseJoinColumn: { name: 'film_id' },
    synchronize: false,
  })
  voted_for: Relation<Film[]>;

  @ManyToMany(() => Film)
  @JoinTable({
    name: 'prize',
    joinColumn: { name: 'critic_id' },
    inverseJoinColumn: { name: 'film_id' },
    synchronize: false,
  })
  prizes: Relation<Film[]>;
}

@Entity('rating')
class Rating {
  @PrimaryColumn({ name: 'film_id' })
  film: number;

  @PrimaryColumn({ name: 'critic_id' })
  critic: number;

  @Column()
  stars: number;

  @Column({ type: 'varchar', length: 20, nullable: true })
  text: string | null;

  @Column({ length: 20, default: 'original', select: false })
  hidden: string;

  @ManyToOne(() => Critic)
  editor: Promise<Critic | null>;
}

@Entity('vote')
class Vote {
  @PrimaryColumn()
  film_id: number;

  @PrimaryColumn()
  critic_id: number;

  @Column({ default: 1 })
  stars: number;

  @ManyToOne(() => Film, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'film_id' })
  film: Relation<Film>;

  @ManyToOne(() => Critic, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'critic_id' })
  critic: Relation<Critic>;
}

@Restify('film')
@Entity('attendance_of_film')
class FilmAttendance {
  @PrimaryColumn({ name: 'by_critic' })
  visitor: number;

  @PrimaryColumn({ name: 'at_film' })
  film: number;

  @Column({ default: 1 })
  seats: number;

  @OneToMany(() => Snack, (snack) => snack.attendance)
  snacks: Relation<Snack[]>;
}

@Entity('prize')
class Prize {
  @ManyToOne(() => Critic)
  @PrimaryColumn({ type: 'int', name: 'critic_id' })
  @JoinColumn({ name: 'critic_id' })
  critic: Relation<Critic>;

  @ManyToOne(() => Film)
  @PrimaryColumn({ type: 'int', name: 'film_id' })
  @JoinColumn({ name: 'film_id' })
  film: Relation<Film>;

  @Column({ default: 1 })
  rank: number;
}

@Restify('film')
@Entity()
class Snack {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => FilmAttendance, (attendance) => attendance.snacks)
  attendance: Relation<FilmAttendance> | null;
}

onEachDatabase('a through entity whose key is the pair', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Film, Critic, Rating, Vote, Prize, FilmAttendance, Snack],
      database,
    });
  });
  afterAll(() => started.close());

  async function house(): Promise<{
    films: readonly [number, number];
    critics: readonly [number, number, number];
  }> {
    const [f1 = 0, f2 = 0] = await make(started.client, 'film/film', {}, {});
    const [c1 = 0, c2 = 0, c3 = 0] = await make(started.client, 'film/critic', {}, {}, {});
    return { films: [f1, f2], critics: [c1, c2, c3] };
  }

  test('has the related side’s key as its id, and its own columns', async () => {
    const { client, port } = started;
    const {
      films: [f1],
      critics: [, c2],
    } = await house();
    const created = await client.post(`/rest/v1/film/film/${f1}/critics/`, {
      critic: c2,
      stars: 4,
      film: 999,
    });
    const body = { id: c2, stars: 4, text: null, film: f1, critic: c2, editor: null };
    expect([created.status, created.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${port}/rest/v1/film/film/${f1}/critics/${c2}/`,
    ]);
    expect(created.json).toMatchObject(body);
    expect(Object.keys(created.json as object)[0]).toBe('id');
    expect(seen(await client.get(`/rest/v1/film/film/${f1}/critics/${c2}/`))).toEqual([200, created.json]);
    expect((await client.get(`/rest/v1/film/critic/${c2}/films/${f1}/`)).json).toMatchObject({
      ...body,
      id: f1,
    });
    expect((await client.get(`/rest/v1/film/critic/${c2}/films/`)).json).toMatchObject([{ ...body, id: f1 }]);
    expect(seen(await client.get(`/rest/v1/film/film/${f1}/critics/${f1 + 1000}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.post(`/rest/v1/film/film/${f1}/critics/`, {}))).toEqual([
      400,
      { critic: REQUIRED, stars: REQUIRED },
    ]);
    expect(
      isRefusedPair(await client.post(`/rest/v1/film/film/${f1}/critics/`, { critic: c2, stars: 1 })),
    ).toBe(true);
    expect(
      isRefusedPair(await client.post(`/rest/v1/film/critic/${c2}/films/`, { film: f1, stars: 1 })),
    ).toBe(true);
    expect((await client.get(`/rest/v1/film/film/${f1}/critics/${c2}/`)).json).toMatchObject({ stars: 4 });
    expect((await client.patch(`/rest/v1/film/critic/${c2}/films/${f1}/`, { stars: 5 })).json).toMatchObject({
      ...body,
      id: f1,
      stars: 5,
    });
    expect(
      (await client.put(`/rest/v1/film/film/${f1}/critics/${c2}/`, { stars: 2, critic: c2 })).json,
    ).toMatchObject({ ...body, stars: 2 });
    expect(seen(await client.put(`/rest/v1/film/film/${f1}/critics/${c2}/`, { stars: 2 }))).toEqual([
      400,
      { critic: REQUIRED },
    ]);
    expect(seen(await client.delete(`/rest/v1/film/critic/${c2}/films/${f1}/`))).toEqual(DELETED);
    expect(seen(await client.get(`/rest/v1/film/film/${f1}/critics/`))).toEqual([200, []]);
  });

  test('keeps what the change does not name, a lazy relation and a hidden column too', async () => {
    const { client, dataSource } = started;
    const {
      films: [f1],
      critics: [c1, c2, c3],
    } = await house();
    const url = `/rest/v1/film/film/${f1}/critics/`;
    await client.post(url, { critic: c1, stars: 4, text: 'good', editor: c3 });
    await dataSource.getRepository(Rating).update({ film: f1, critic: c1 }, { hidden: 'kept' });
    const hidden = async (): Promise<unknown> =>
      (
        await dataSource
          .getRepository(Rating)
          .createQueryBuilder('r')
          .addSelect('r.hidden')
          .where({ film: f1 })
          .getMany()
      ).map((each) => each.hidden);
    const body = { id: c1, stars: 5, text: 'good', film: f1, critic: c1, editor: c3 };
    expect([seen(await client.patch(`${url}${c1}/`, { stars: 5 })), await hidden()]).toEqual([
      [200, body],
      ['kept'],
    ]);
    const replaced = await client.patch(`${url}${c1}/`, { critic: c2 });
    expect([seen(replaced), await hidden()]).toEqual([[200, { ...body, id: c2, critic: c2 }], ['kept']]);
  });

  test('is replaced where the related side changes, with the columns that it had', async () => {
    const { client } = started;
    const {
      films: [f1, f2],
      critics: [c1, c2, c3],
    } = await house();
    const url = `/rest/v1/film/film/${f1}/critics/`;
    await client.post(url, { critic: c1, stars: 4, text: 'good' });
    await client.post(`/rest/v1/film/film/${f2}/critics/`, { critic: c1, stars: 1 });
    const body = { id: c2, stars: 4, text: 'good', film: f1, critic: c2, editor: null };
    const patched = await client.patch(`${url}${c1}/`, { critic: c2 });
    expect([patched.status, patched.json]).toMatchObject([200, body]);
    expect(seen(await client.get(`${url}${c1}/`))).toEqual(NOT_FOUND);
    expect((await client.get(url)).json).toEqual([patched.json]);
    const put = await client.put(`${url}${c2}/`, { critic: c3, stars: 3, film: f2 });
    expect([put.status, put.json]).toMatchObject([200, { ...body, id: c3, stars: 3, critic: c3 }]);
    expect(seen(await client.get(`${url}${c2}/`))).toEqual(NOT_FOUND);
    expect((await client.get(`/rest/v1/film/film/${f2}/critics/`)).json).toMatchObject([
      { id: c1, stars: 1, film: f2 },
    ]);
    const turned = await client.patch(`/rest/v1/film/critic/${c3}/films/${f1}/`, { film: f2 });
    expect([turned.status, turned.json]).toMatchObject([
      200,
      { ...body, id: f2, stars: 3, critic: c3, film: f2 },
    ]);
    expect(seen(await client.get(url))).toEqual([200, []]);
  });

  test('that is there already is 400 for a change too, and both pairs stay', async () => {
    const { client } = started;
    const {
      films: [f1],
      critics: [c1, c2],
    } = await house();
    const url = `/rest/v1/film/film/${f1}/critics/`;
    await client.post(url, { critic: c1, stars: 1 });
    await client.post(url, { critic: c2, stars: 2 });
    const before = (await client.get(url)).text;
    for (const answer of [
      await client.patch(`${url}${c1}/`, { critic: c2, stars: 9 }),
      await client.put(`${url}${c1}/`, { critic: c2, stars: 9 }),
    ]) {
      expect([answer.status, answer.json]).toEqual([400, { non_field_errors: [expect.any(String)] }]);
    }
    expect(seen(await client.patch(`${url}${c1}/`, { critic: 999999 }))).toEqual([
      400,
      { critic: noSuchPk('999999') },
    ]);
    expect((await client.get(url)).text).toBe(before);
    const same = await client.patch(`${url}${c1}/`, { critic: c1, stars: 7 });
    expect([same.status, same.json]).toMatchObject([200, { id: c1, stars: 7 }]);
  });

  test('is filtered and ordered by its id, its sides and its columns', async () => {
    const { client } = started;
    const {
      films: [f1, f2],
      critics: [c1, c2],
    } = await house();
    const url = `/rest/v1/film/film/${f1}/critics/`;
    await client.post(url, { critic: c1, stars: 1 });
    await client.post(url, { critic: c2, stars: 2 });
    const ids = async (query: string): Promise<unknown> =>
      ((await client.get(url + query)).json as readonly { id: number }[]).map(({ id }) => id);
    expect(await ids(`?id=${c2}`)).toEqual([c2]);
    expect(await ids(`?critic=${c1}`)).toEqual([c1]);
    expect(await ids(`?film=${f1}`)).toEqual([c1, c2]);
    expect(await ids(`?film=${f2}`)).toEqual([]);
    expect(await ids('?stars=2')).toEqual([c2]);
    expect(await ids('?ordering=-id')).toEqual([c2, c1]);
    expect(await ids('?ordering=-critic')).toEqual([c2, c1]);
    expect(await ids('?ordering=-stars')).toEqual([c2, c1]);
  });

  test('with relations beside its key columns needs the related side alone, and is replaced all the same', async () => {
    const { client } = started;
    const {
      films: [f1],
      critics: [c1, c2],
    } = await house();
    const url = `/rest/v1/film/film/${f1}/voters/`;
    const created = await client.post(url, { critic: c1, stars: 2 });
    const body = { id: c1, film_id: f1, critic_id: c1, stars: 2, film: f1, critic: c1 };
    expect(seen(created)).toEqual([201, body]);
    expect(seen(await client.post(url, {}))).toEqual([400, { critic: REQUIRED }]);
    expect(isRefusedPair(await client.post(`/rest/v1/film/critic/${c1}/voted_for/`, { film: f1 }))).toBe(
      true,
    );
    expect(seen(await client.patch(`${url}${c1}/`, { critic: c2 }))).toEqual([
      200,
      { ...body, id: c2, critic_id: c2, critic: c2 },
    ]);
    expect(seen(await client.get(`${url}${c1}/`))).toEqual(NOT_FOUND);
    expect(
      seen(await client.put(`/rest/v1/film/critic/${c2}/voted_for/${f1}/`, { film: f1, stars: 5 })),
    ).toEqual([200, { ...body, id: f1, critic_id: c2, critic: c2, stars: 5 }]);
    expect(seen(await client.delete(`${url}${c2}/`))).toEqual(DELETED);
  });

  test('with the key column and the relation on one property is created, changed, replaced and deleted', async () => {
    const { client } = started;
    const {
      films: [f1, f2],
      critics: [c1],
    } = await house();
    const url = `/rest/v1/film/critic/${c1}/prizes/`;
    expect(seen(await client.post(url, { film: f1 }))).toEqual([
      201,
      { id: f1, critic: c1, film: f1, rank: 1 },
    ]);
    expect(seen(await client.patch(`${url}${f1}/`, { rank: 2 }))).toEqual([
      200,
      { id: f1, critic: c1, film: f1, rank: 2 },
    ]);
    expect(seen(await client.patch(`${url}${f1}/`, { film: f2 }))).toEqual([
      200,
      { id: f2, critic: c1, film: f2, rank: 2 },
    ]);
    expect(seen(await client.delete(`${url}${f2}/`))).toEqual(DELETED);
    expect(seen(await client.get(url))).toEqual([200, []]);
  });

  test('registered shows the same links below its parents as in its collection', async () => {
    const { client } = started;
    const {
      films: [f1],
      critics: [c1],
    } = await house();
    const { snacks } = (await client.post('/rest/v1/film/filmattendance/', { visitor: c1, film: f1 }))
      .json as { snacks: string };
    for (const path of [`film/${f1}/audience/${c1}`, `critic/${c1}/attended/${f1}`])
      expect((await client.get(`/rest/v1/film/${path}/`)).json).toMatchObject({ snacks });
  });

  test('registered has its composite key in its collection', async () => {
    const { client, port } = started;
    const {
      films: [f1, f2],
      critics: [c1],
    } = await house();
    const own = await client.post('/rest/v1/film/filmattendance/', { visitor: c1, film: f1 });
    const key = `${c1},${f1}`;
    const body = { visitor: c1, film: f1, seats: 1, snacks: `/rest/v1/film/filmattendance/${key}/snacks/` };
    expect([own.status, own.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${port}/rest/v1/film/filmattendance/${key}/`,
    ]);
    expect(own.json).toMatchObject(body);
    expect(seen(await client.get(`/rest/v1/film/filmattendance/${key}/`))).toEqual([200, own.json]);
    const snack = await client.post('/rest/v1/film/snack/', { attendance: key });
    expect(seen(snack)).toEqual([201, { id: idOf(snack), attendance: key }]);
    expect(seen(await client.get(body.snacks))).toEqual([200, [snack.json]]);
    expect((await client.get(`/rest/v1/film/film/${f1}/audience/${c1}/`)).json).toMatchObject({
      id: c1,
      visitor: c1,
      film: f1,
      seats: 1,
    });
    const created = await client.post(`/rest/v1/film/critic/${c1}/attended/`, { film: f2, seats: 2 });
    expect([created.status, created.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${port}/rest/v1/film/critic/${c1}/attended/${f2}/`,
    ]);
    expect(created.json).toMatchObject({ id: f2, visitor: c1, film: f2, seats: 2 });
    expect(seen(await client.post('/rest/v1/film/filmattendance/', { visitor: c1, film: f2 }))).toEqual([
      400,
      { non_field_errors: [expect.any(String)] },
    ]);
    expect(
      seen(await client.patch(`/rest/v1/film/filmattendance/${c1},${f2}/`, { seats: 3, film: f1 })),
    ).toMatchObject([200, { film: f2, seats: 3 }]);
  });
});

// Plain junctions, with every kind of key.
@Restify('plain')
@Entity()
class Hub {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => NumberTag, (tag) => tag.hubs)
  @JoinTable()
  number_tags: Relation<NumberTag[]>;

  @ManyToMany(() => UuidTag, (tag) => tag.hubs)
  @JoinTable()
  uuid_tags: Relation<UuidTag[]>;

  @ManyToMany(() => TextTag, (tag) => tag.hubs)
  @JoinTable()
  text_tags: Relation<TextTag[]>;

  @ManyToMany(() => PlaceTag, (tag) => tag.hubs)
  @JoinTable()
  place_tags: Relation<PlaceTag[]>;

  @ManyToMany(() => BigTag, (tag) => tag.hubs)
  @JoinTable()
  big_tags: Relation<BigTag[]>;
}

@Restify('plain')
@Entity()
class NumberTag {
  @PrimaryColumn()
  id: number;

  @ManyToMany(() => Hub, (hub) => hub.number_tags)
  hubs: Relation<Hub[]>;
}

@Restify('plain')
@Entity()
class UuidTag {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @ManyToMany(() => Hub, (hub) => hub.uuid_tags)
  hubs: Relation<Hub[]>;
}

@Restify('plain')
@Entity()
class TextTag {
  @PrimaryColumn({ length: 20 })
  code: string;

  @ManyToMany(() => Hub, (hub) => hub.text_tags)
  hubs: Relation<Hub[]>;
}

@Restify('plain')
@Entity()
class PlaceTag {
  @PrimaryColumn({ length: 20 })
  street: string;

  @PrimaryColumn()
  house: number;

  @ManyToMany(() => Hub, (hub) => hub.place_tags)
  hubs: Relation<Hub[]>;
}

@Restify('plain')
@Entity()
class BigTag {
  @PrimaryColumn({ type: 'bigint' })
  id: string;

  @ManyToMany(() => Hub, (hub) => hub.big_tags)
  hubs: Relation<Hub[]>;
}

const PLAIN = [Hub, NumberTag, UuidTag, TextTag, PlaceTag, BigTag];
const UUIDS = [
  '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11',
  '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d22',
  '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d33',
] as const;

interface TagKind {
  readonly model: string;
  /** The bodies that make three tags, the key of each as it is shown, and as it stands in URLs. */
  readonly bodies: readonly [object, object, object];
  readonly shown: readonly [unknown, unknown, unknown];
  readonly segments: readonly [string, string, string];
  readonly missing: { readonly shown: unknown; readonly segment: string };
}

const TAG_KINDS: Readonly<Record<string, TagKind>> = {
  number: {
    model: 'numbertag',
    bodies: [{ id: 11 }, { id: 12 }, { id: 13 }],
    shown: [11, 12, 13],
    segments: ['11', '12', '13'],
    missing: { shown: 99, segment: '99' },
  },
  uuid: {
    model: 'uuidtag',
    bodies: [{ id: UUIDS[0] }, { id: UUIDS[1] }, { id: UUIDS[2] }],
    shown: UUIDS,
    segments: UUIDS,
    missing: {
      shown: '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d44',
      segment: '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d44',
    },
  },
  text: {
    model: 'texttag',
    bodies: [{ code: 'a' }, { code: 'b/c d' }, { code: 'ü,%' }],
    shown: ['a', 'b/c d', 'ü,%'],
    segments: ['a', 'b%2Fc%20d', '%C3%BC%2C%25'],
    missing: { shown: 'C', segment: 'A' },
  },
  place: {
    model: 'placetag',
    bodies: [
      { street: 'Main', house: 1 },
      { street: 'Main', house: 2 },
      { street: 'x,/y', house: 1 },
    ],
    shown: ['Main,1', 'Main,2', 'x%2C%2Fy,1'],
    segments: ['Main,1', 'Main,2', 'x%2C%2Fy,1'],
    missing: { shown: 'Main,3', segment: 'Main,3' },
  },
  big: {
    model: 'bigtag',
    bodies: [{ id: '9007199254740993' }, { id: '9007199254740994' }, { id: 5 }],
    shown: ['9007199254740993', '9007199254740994', '5'],
    segments: ['9007199254740993', '9007199254740994', '5'],
    missing: { shown: '9007199254740992', segment: '9007199254740992' },
  },
};

onEachDatabase('a plain junction', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: PLAIN, database });
    for (const { model, bodies } of Object.values(TAG_KINDS))
      for (const body of bodies) await started.client.post(`/rest/v1/plain/${model}/`, body);
  });
  afterAll(() => started.close());

  test.each(Object.entries(TAG_KINDS))(
    'with a %s key is created, listed, retrieved, replaced and deleted from both sides',
    async (kind, { model, shown, segments, missing }) => {
      const { client, port } = started;
      const [h1 = 0, h2 = 0] = await make(client, 'plain/hub', {}, {});
      const url = `/rest/v1/plain/hub/${h1}/${kind}_tags/`;
      const pair = (index: 0 | 1 | 2, hub = h1): object => ({ id: shown[index], hub, [model]: shown[index] });
      const created = await client.post(url, { [model]: shown[0], hub: h2, id: shown[2] });
      expect([seen(created), created.headers.location, created.headers.allow]).toEqual([
        [201, pair(0)],
        `http://127.0.0.1:${port}${url}${segments[0]}/`,
        LIST_ALLOW,
      ]);
      const one = await client.get(`${url}${segments[0]}/`);
      expect([seen(one), one.headers.allow]).toEqual([[200, pair(0)], OBJECT_ALLOW]);
      const mirror = `/rest/v1/plain/${model}/${segments[0]}/hubs/`;
      expect(seen(await client.get(`${mirror}${h1}/`))).toEqual([
        200,
        { id: h1, hub: h1, [model]: shown[0] },
      ]);
      expect(seen(await client.post(mirror, { hub: h2 }))).toEqual([
        201,
        { id: h2, hub: h2, [model]: shown[0] },
      ]);
      expect((await client.get(mirror)).text).toBe(
        JSON.stringify([h1, h2].map((id) => ({ id, hub: id, [model]: shown[0] }))),
      );
      expect(seen(await client.get(url))).toEqual([200, [pair(0)]]);
      expect(seen(await client.patch(`${url}${segments[0]}/`, { [model]: shown[1], hub: h2 }))).toEqual([
        200,
        pair(1),
      ]);
      expect(seen(await client.get(`${url}${segments[0]}/`))).toEqual(NOT_FOUND);
      expect(seen(await client.put(`${url}${segments[1]}/`, { [model]: shown[2] }))).toEqual([200, pair(2)]);
      expect(seen(await client.get(url))).toEqual([200, [pair(2)]]);
      expect(seen(await client.patch(`${url}${segments[2]}/`, {}))).toEqual([200, pair(2)]);
      expect(seen(await client.put(`${url}${segments[2]}/`, { [model]: shown[2] }))).toEqual([200, pair(2)]);
      expect(
        seen(await client.patch(`/rest/v1/plain/${model}/${segments[0]}/hubs/${h2}/`, { hub: h1 })),
      ).toEqual([200, { id: h1, hub: h1, [model]: shown[0] }]);
      expect(seen(await client.delete(`${url}${segments[0]}/`))).toEqual(DELETED);
      expect(seen(await client.delete(`${url}${segments[0]}/`))).toEqual(NOT_FOUND);
      expect(seen(await client.get(`${url}${missing.segment}/`))).toEqual(NOT_FOUND);
      expect(seen(await client.get(url))).toEqual([200, [pair(2)]]);
      expect((await client.get(`/rest/v1/plain/${model}/${segments[0]}/`)).status).toBe(200);
    },
  );

  test.each(Object.entries(TAG_KINDS))(
    'with a %s key refuses what is no pair, and keeps what is there',
    async (kind, { model, shown, segments, missing }) => {
      const { client } = started;
      const [h1 = 0] = await make(client, 'plain/hub', {});
      const url = `/rest/v1/plain/hub/${h1}/${kind}_tags/`;
      for (const tag of [shown[0], shown[1]]) await client.post(url, { [model]: tag });
      const before = (await client.get(url)).text;
      for (const answer of [
        await client.post(url, { [model]: shown[0] }),
        await client.post(`/rest/v1/plain/${model}/${segments[1]}/hubs/`, { hub: h1 }),
        await client.patch(`${url}${segments[0]}/`, { [model]: shown[1] }),
        await client.put(`${url}${segments[0]}/`, { [model]: shown[1] }),
      ]) {
        expect([answer.status, answer.json]).toEqual([400, { non_field_errors: [expect.any(String)] }]);
      }
      for (const send of [
        (body: object) => client.post(url, body),
        (body: object) => client.put(`${url}${segments[0]}/`, body),
      ]) {
        expect(seen(await send({}))).toEqual([400, { [model]: REQUIRED }]);
        expect(seen(await send({ [model]: null }))).toEqual([
          400,
          { [model]: ['This field may not be null.'] },
        ]);
        expect(seen(await send({ [model]: missing.shown }))).toEqual([
          400,
          { [model]: noSuchPk(String(missing.shown)) },
        ]);
        expect(seen(await send({ [model]: { id: shown[0] } }))).toEqual([
          400,
          { [model]: ['Incorrect type. Expected pk value, received dict.'] },
        ]);
      }
      expect((await client.get(url)).text).toBe(before);
    },
  );

  test.each(Object.entries(TAG_KINDS))(
    'with a %s key is filtered by both sides, and ordered by its id',
    async (kind, { model, shown }) => {
      const { client } = started;
      const [h1 = 0, h2 = 0] = await make(client, 'plain/hub', {}, {});
      const url = `/rest/v1/plain/hub/${h1}/${kind}_tags/`;
      for (const tag of [shown[0], shown[1]]) await client.post(url, { [model]: tag });
      await client.post(`/rest/v1/plain/hub/${h2}/${kind}_tags/`, { [model]: shown[0] });
      const tags = async (query: string): Promise<unknown> =>
        ((await client.get(url + query)).json as readonly { id: unknown }[]).map(({ id }) => id);
      expect(await tags(`?${model}=${encodeURIComponent(String(shown[1]))}`)).toEqual([shown[1]]);
      expect(await tags(`?hub=${h1}&${model}=${encodeURIComponent(String(shown[0]))}`)).toEqual([shown[0]]);
      expect(await tags(`?hub=${h2}`)).toEqual([]);
      expect(await tags(`?hub=${h1}`)).toEqual([shown[0], shown[1]]);
      expect(await tags(`?ordering=-${model}`)).toEqual([shown[1], shown[0]]);
      expect(await tags(`?id=${encodeURIComponent(String(shown[1]))}`)).toEqual([shown[1]]);
      expect(await tags('?ordering=-id')).toEqual([shown[1], shown[0]]);
    },
  );

  test('with text keys takes slashes as they are, but for the last', async () => {
    const { client } = started;
    const [h1 = 0] = await make(client, 'plain/hub', {});
    const url = `/rest/v1/plain/hub/${h1}/text_tags/`;
    for (const code of ['s/t/', 's/t', '/', 's//t']) {
      await client.post('/rest/v1/plain/texttag/', { code });
      await client.post(url, { texttag: code });
    }
    for (const [path, code] of [
      ['s/t/', 's/t'],
      ['s/t', 's/t'],
      ['s%2Ft', 's/t'],
      ['s%2Ft/', 's/t'],
      ['s/t%2F/', 's/t/'],
      ['s/t//', 's/t/'],
      ['%2F', '/'],
      ['%2F/', '/'],
      ['s//t/', 's//t'],
    ] as const) {
      expect([path, ...seen(await client.get(url + path))]).toEqual([
        path,
        200,
        { id: code, hub: h1, texttag: code },
      ]);
    }
    for (const path of [
      's',
      't',
      's/',
      'S/T',
      's/t/u',
      's%252Ft',
      '%ZZ',
      's/%',
      '%00',
      's/t%00',
      '%ED%A0%80',
    ])
      expect([path, ...seen(await client.get(url + path))]).toEqual([path, ...NOT_FOUND]);
    expect(seen(await client.delete(`${url}s/t/`))).toEqual(DELETED);
    expect((await client.get(url)).json).toMatchObject([{ id: '/' }, { id: 's//t' }, { id: 's/t/' }]);
  });

  test.each([
    ['number', '11'],
    ['uuid', UUIDS[0]],
    ['place', 'Main,1'],
    ['big', '9007199254740993'],
  ] as const)('with a %s key is 404 for texts that no row can have as key', async (kind, segment) => {
    const { client } = started;
    const [h1 = 0] = await make(client, 'plain/hub', {});
    const url = `/rest/v1/plain/hub/${h1}/${kind}_tags/`;
    const { model } = TAG_KINDS[kind] ?? { model: '' };
    await client.post(url, { [model]: TAG_KINDS[kind]?.shown[0] });
    for (const child of [
      `${segment}/x`,
      `0${segment}x`,
      `${segment}%00`,
      `${segment},`,
      `,${segment}`,
      ...NO_INTEGER_KEYS,
    ]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await client.send(method, `${url}${child}/`, {
          body: { [model]: TAG_KINDS[kind]?.shown[1] },
        });
        expect([child, method, ...seen(answer)]).toEqual([child, method, ...NOT_FOUND]);
      }
    }
    expect((await client.get(url)).json).toHaveLength(1);
  });

  test('created many times at once is there once', async () => {
    const { client } = started;
    const [h1 = 0] = await make(client, 'plain/hub', {});
    const url = `/rest/v1/plain/hub/${h1}/number_tags/`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.post(url, { numbertag: 11 })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400, 400, 400, 400]);
    expect(answers.filter(({ status }) => status === 400).every(isRefusedPair)).toBe(true);
    expect(seen(await client.get(url))).toEqual([200, [{ id: 11, hub: h1, numbertag: 11 }]]);
  });

  test('replaced by two callers at once becomes one pair, and the slower finds nothing', async () => {
    const { client } = started;
    for (let round = 0; round < 10; round++) {
      const [h1 = 0] = await make(client, 'plain/hub', {});
      const url = `/rest/v1/plain/hub/${h1}/number_tags/`;
      await client.post(url, { numbertag: 11 });
      const answers = await Promise.all([
        client.patch(`${url}11/`, { numbertag: 12 }),
        client.patch(`${url}11/`, { numbertag: 13 }),
      ]);
      const statuses = answers.map(({ status }) => status).toSorted();
      expect([statuses, (await client.get(url)).json]).toEqual([
        [200, 404],
        [answers.find(({ status }) => status === 200)?.json],
      ]);
    }
  });

  test('has no collection and no index entry', async () => {
    const { client } = started;
    expect(Object.keys((await client.get('/')).json as object).toSorted()).toEqual(
      ['bigtag', 'hub', 'numbertag', 'placetag', 'texttag', 'uuidtag'].map((name) => `rest/v1/plain/${name}`),
    );
    expect(seen(await client.get('/rest/v1/plain/hub_number_tags/'))).toEqual(NOT_FOUND);
  });

  test('goes with its sides', async () => {
    const { client } = started;
    const [h1 = 0] = await make(client, 'plain/hub', {});
    await client.post('/rest/v1/plain/numbertag/', { id: 77 });
    await client.post(`/rest/v1/plain/hub/${h1}/number_tags/`, { numbertag: 77 });
    expect(seen(await client.delete('/rest/v1/plain/numbertag/77/'))).toEqual(DELETED);
    expect(seen(await client.get(`/rest/v1/plain/hub/${h1}/number_tags/`))).toEqual([200, []]);
  });
});

// One word in two apps.
@Restify({ app: 'edu', name: 'pupil' })
@Entity()
class EduPupil {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => LabPupil, (pupil) => pupil.tutors)
  @JoinTable()
  labMates: Relation<LabPupil[]>;
}

@Restify({ app: 'lab', name: 'pupil' })
@Entity()
class LabPupil {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => EduPupil, (pupil) => pupil.labMates)
  tutors: Relation<EduPupil[]>;
}

// A model and itself, plain, plain with both directions, and by an entity.
@Restify('people')
@Entity()
class Person {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Person)
  @JoinTable()
  friends: Relation<Person[]>;

  @ManyToMany(() => Person, (person) => person.followers)
  @JoinTable()
  following: Relation<Person[]>;

  @ManyToMany(() => Person, (person) => person.following)
  followers: Relation<Person[]>;

  @ManyToMany(() => Person, (person) => person.blocked_by)
  @JoinTable({
    name: 'block',
    joinColumn: { name: 'blocker_id' },
    inverseJoinColumn: { name: 'blocked_id' },
    synchronize: false,
  })
  blocks: Relation<Person[]>;

  @ManyToMany(() => Person, (person) => person.blocks)
  blocked_by: Relation<Person[]>;
}

@Entity('block')
@Unique(['blocker', 'blocked'])
class Block {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 1 })
  level: number;

  @ManyToOne(() => Person, { nullable: false })
  @JoinColumn({ name: 'blocked_id' })
  blocked: Relation<Person>;

  @ManyToOne(() => Person, { nullable: false })
  @JoinColumn({ name: 'blocker_id' })
  blocker: Relation<Person>;
}

// Two junctions between the same models, one of them known to one side only.
@Restify('cinema')
@Entity()
class Movie {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Artist, (artist) => artist.played)
  @JoinTable()
  cast: Relation<Artist[]>;

  @ManyToMany(() => Artist, (artist) => artist.directed)
  @JoinTable()
  directors: Relation<Artist[]>;

  @ManyToMany(() => Artist)
  @JoinTable()
  extras: Relation<Artist[]>;
}

@Restify('cinema')
@Entity()
class Artist {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Movie, (movie) => movie.cast)
  played: Relation<Movie[]>;

  @ManyToMany(() => Movie, (movie) => movie.directors)
  directed: Relation<Movie[]>;

  @ManyToMany(() => Stranger)
  @JoinTable()
  strangers: Relation<Stranger[]>;
}

@Entity()
class Stranger {
  @PrimaryGeneratedColumn()
  id: number;
}

onEachDatabase('the names of a pair’s sides', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [EduPupil, LabPupil, Person, Block, Movie, Artist, Stranger],
      database,
    });
  });
  afterAll(() => started.close());

  test('are <app>_<model> where both models are the same word', async () => {
    const { client } = started;
    const [, e2 = 0] = await make(client, 'edu/pupil', {}, {});
    const [l1 = 0] = await make(client, 'lab/pupil', {});
    const created = await client.post(`/rest/v1/edu/pupil/${e2}/labMates/`, { lab_pupil: l1, edu_pupil: 1 });
    expect([created.status, created.text]).toEqual([
      201,
      JSON.stringify({ id: l1, edu_pupil: e2, lab_pupil: l1 }),
    ]);
    expect(seen(await client.get(`/rest/v1/lab/pupil/${l1}/tutors/`))).toEqual([
      200,
      [{ id: e2, edu_pupil: e2, lab_pupil: l1 }],
    ]);
    expect(seen(await client.post(`/rest/v1/lab/pupil/${l1}/tutors/`, {}))).toEqual([
      400,
      { edu_pupil: REQUIRED },
    ]);
  });

  test('are from_ and to_ for a model and itself, from being the side in the URL, and no pair has a mirror', async () => {
    const { client } = started;
    const [a = 0, b = 0, c = 0] = await make(client, 'people/person', {}, {}, {});
    const url = `/rest/v1/people/person/${a}/friends/`;
    const created = await client.post(url, { to_person: b, from_person: c });
    expect([created.status, created.text]).toEqual([
      201,
      JSON.stringify({ id: b, from_person: a, to_person: b }),
    ]);
    expect(seen(await client.get(`/rest/v1/people/person/${b}/friends/`))).toEqual([200, []]);
    expect(seen(await client.get(`/rest/v1/people/person/${b}/friends/${a}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.post(url, {}))).toEqual([400, { to_person: REQUIRED }]);
    expect(seen(await client.post(url, { to_person: a }))).toEqual([
      201,
      { id: a, from_person: a, to_person: a },
    ]);
    expect(seen(await client.patch(`${url}${b}/`, { to_person: c, from_person: b }))).toEqual([
      200,
      { id: c, from_person: a, to_person: c },
    ]);
    expect(seen(await client.get(`${url}?from_person=${b}`))).toEqual([200, []]);
    expect(seen(await client.get(`${url}?to_person=${c}`))).toEqual([
      200,
      [{ id: c, from_person: a, to_person: c }],
    ]);
    expect(seen(await client.delete(`${url}${a}/`))).toEqual(DELETED);
    expect(seen(await client.get(url))).toEqual([200, [{ id: c, from_person: a, to_person: c }]]);
  });

  test('turn with the direction of a relation that is declared both ways', async () => {
    const { client } = started;
    const [a = 0, b = 0, c = 0] = await make(client, 'people/person', {}, {}, {});
    const person = (id: number): string => `/rest/v1/people/person/${id}`;
    await client.post(`${person(a)}/following/`, { to_person: b });
    expect(seen(await client.get(`${person(a)}/following/`))).toEqual([
      200,
      [{ id: b, from_person: a, to_person: b }],
    ]);
    expect(seen(await client.get(`${person(b)}/followers/`))).toEqual([
      200,
      [{ id: a, from_person: b, to_person: a }],
    ]);
    expect(seen(await client.get(`${person(a)}/followers/`))).toEqual([200, []]);
    expect(seen(await client.get(`${person(b)}/following/`))).toEqual([200, []]);
    const created = await client.post(`${person(b)}/followers/`, { to_person: c });
    expect([seen(created), created.headers.location]).toEqual([
      [201, { id: c, from_person: b, to_person: c }],
      `http://127.0.0.1:${started.port}${person(b)}/followers/${c}/`,
    ]);
    expect(seen(await client.get(`${person(c)}/following/`))).toEqual([
      200,
      [{ id: b, from_person: c, to_person: b }],
    ]);
    expect(seen(await client.patch(`${person(b)}/followers/${c}/`, { to_person: b }))).toEqual([
      200,
      { id: b, from_person: b, to_person: b },
    ]);
    expect(seen(await client.get(`${person(c)}/following/`))).toEqual([200, []]);
    expect(seen(await client.get(`${person(b)}/followers/?ordering=-id`))).toEqual([
      200,
      [a, b].toSorted((x, y) => y - x).map((id) => ({ id, from_person: b, to_person: id })),
    ]);
  });

  test('follow the join columns of a through entity, from both directions', async () => {
    const { client } = started;
    const [a = 0, b = 0, c = 0] = await make(client, 'people/person', {}, {}, {});
    const person = (id: number): string => `/rest/v1/people/person/${id}`;
    const created = await client.post(`${person(a)}/blocks/`, { blocked: b, blocker: c });
    const id = idOf(created);
    expect(seen(created)).toEqual([201, { id, level: 1, blocked: b, blocker: a }]);
    expect(seen(await client.get(`${person(b)}/blocked_by/${id}/`))).toEqual([200, created.json]);
    for (const path of [`${person(b)}/blocks/`, `${person(a)}/blocked_by/`]) {
      expect(seen(await client.get(path))).toEqual([200, []]);
      expect(seen(await client.get(`${path}${id}/`))).toEqual(NOT_FOUND);
    }
    expect(seen(await client.post(`${person(a)}/blocks/`, {}))).toEqual([400, { blocked: REQUIRED }]);
    expect(seen(await client.post(`${person(a)}/blocked_by/`, {}))).toEqual([400, { blocker: REQUIRED }]);
    expect(
      seen(await client.patch(`${person(b)}/blocked_by/${id}/`, { blocker: c, blocked: a, level: 2 })),
    ).toEqual([200, { id, level: 2, blocked: b, blocker: c }]);
    expect(seen(await client.get(`${person(a)}/blocks/${id}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.get(`${person(b)}/blocked_by/?blocked=${a}`))).toEqual([200, []]);
  });

  test('do not mix two junctions between the same models', async () => {
    const { client } = started;
    const [m1 = 0] = await make(client, 'cinema/movie', {});
    const [a1 = 0, a2 = 0] = await make(client, 'cinema/artist', {}, {});
    const base = `/rest/v1/cinema/movie/${m1}`;
    await client.post(`${base}/cast/`, { artist: a1 });
    await client.post(`${base}/directors/`, { artist: a2 });
    await client.post(`${base}/extras/`, { artist: a2 });
    expect(seen(await client.get(`${base}/cast/`))).toEqual([200, [{ id: a1, movie: m1, artist: a1 }]]);
    expect(seen(await client.get(`${base}/directors/`))).toEqual([200, [{ id: a2, movie: m1, artist: a2 }]]);
    expect(seen(await client.get(`/rest/v1/cinema/artist/${a2}/played/`))).toEqual([200, []]);
    expect(seen(await client.get(`/rest/v1/cinema/artist/${a2}/directed/`))).toEqual([
      200,
      [{ id: m1, movie: m1, artist: a2 }],
    ]);
    expect(seen(await client.delete(`${base}/directors/${a1}/`))).toEqual(NOT_FOUND);
    expect(seen(await client.delete(`${base}/extras/${a2}/`))).toEqual(DELETED);
    expect(seen(await client.get(`${base}/directors/${a2}/`))).toEqual([
      200,
      { id: a2, movie: m1, artist: a2 },
    ]);
  });

  test('leave out an inverse that is not declared, and a relation to an entity that is not registered', async () => {
    const { client } = started;
    const [a1 = 0] = await make(client, 'cinema/artist', {});
    const base = `/rest/v1/cinema/artist/${a1}`;
    expect(seen(await client.get(`${base}/`))).toEqual([
      200,
      { id: a1, played: `${base}/played/`, directed: `${base}/directed/` },
    ]);
    for (const name of ['extras', 'strangers', 'movies']) {
      for (const method of ['GET', 'POST'])
        expect([name, ...seen(await client.send(method, `${base}/${name}/`))]).toEqual([name, ...NOT_FOUND]);
    }
  });
});

describe('a through entity whose join table TypeORM would create too', () => {
  @Restify('twice')
  @Entity()
  class LeftSide {
    @PrimaryGeneratedColumn()
    id: number;

    @ManyToMany(() => RightSide)
    @JoinTable({
      name: 'left_right',
      joinColumn: { name: 'left_id' },
      inverseJoinColumn: { name: 'right_id' },
    })
    rights: Relation<RightSide[]>;
  }

  @Restify('twice')
  @Entity()
  class RightSide {
    @PrimaryGeneratedColumn()
    id: number;
  }

  @Entity('left_right')
  class LeftRight {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    left_id: number;

    @Column()
    right_id: number;
  }

  test('refuses to start, and names `synchronize: false`', async () => {
    const [problem = '', ...others] = await problemsOf({ entities: [LeftSide, RightSide, LeftRight] });
    expect(problem).toMatch(/^LeftSide\.rights: .*LeftRight.*synchronize: false/);
    expect(others).toEqual([]);
  });
});
