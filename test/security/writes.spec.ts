// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allow, AllowAny, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  EventSubscriber,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { EntitySubscriberInterface, InsertEvent, Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Safe {
  @Column({ length: 20, default: '' })
  label: string;

  @Column({ length: 20, default: 'kept', select: false })
  code: string;
}

@Restify('sec')
@Entity('sec_owner')
class SecOwner {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @OneToMany(() => SecItem, (item) => item.owner, { cascade: ['insert', 'update'] })
  items: Relation<SecItem[]>;

  @DeleteDateColumn({ select: false })
  deleted_at: Date | null;
}

@Restify({ app: 'sec', readOnly: ['role'], exclude: ['balance'], strict: false })
@Entity('sec_item')
class SecItem {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @Column({ length: 20, default: 'user' })
  role: string;

  @Column({ type: 'int', default: 7 })
  balance: number;

  @Column({ length: 20, default: 'kept', select: false })
  pin: string;

  @Column({ length: 20, default: 'first', update: false })
  origin: string;

  @Column(() => Safe)
  safe: Safe;

  @VersionColumn()
  version: number;

  @CreateDateColumn()
  created_at: Date;

  @UpdateDateColumn()
  updated_at: Date;

  @DeleteDateColumn()
  deleted_at: Date | null;

  @ManyToOne(() => SecOwner, (owner) => owner.items, { cascade: ['insert', 'update'], nullable: true })
  owner: Relation<SecOwner> | null;

  @OneToOne(() => SecSeal, (seal) => seal.item, { cascade: true })
  seal: Relation<SecSeal> | null;

  @ManyToMany(() => SecTag, { cascade: true })
  @JoinTable({ name: 'sec_item_tag' })
  tags: Relation<SecTag[]>;
}

@Restify('sec')
@Entity('sec_seal')
class SecSeal {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => SecItem, (item) => item.seal, { nullable: true })
  @JoinColumn()
  item: Relation<SecItem> | null;
}

@Restify('sec')
@Entity('sec_tag')
class SecTag {
  @PrimaryColumn({ length: 50 })
  word: string;

  @Column({ length: 200, default: '' })
  note: string;

  @ManyToOne(() => SecTag, { nullable: true })
  above: Relation<SecTag> | null;
}

class OpenRooms implements Permission {
  decide(): Grant {
    return allow({ rows: where('open', true) });
  }
}

@Restify({ app: 'sec', permissions: [OpenRooms], through: { guests: { permissions: [AllowAny] } } })
@Entity('sec_room')
class SecRoom {
  @PrimaryColumn('int')
  id: number;

  @Column()
  open: boolean;

  @ManyToMany(() => SecGuest, (guest) => guest.rooms)
  guests: Relation<SecGuest[]>;
}

@Restify('sec')
@Entity('sec_guest')
class SecGuest {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => SecRoom, { nullable: true })
  room: Relation<SecRoom> | null;

  @ManyToMany(() => SecRoom, (room) => room.guests)
  @JoinTable({ name: 'sec_stay' })
  rooms: Relation<SecRoom[]>;
}

@Restify('sec')
@Entity('sec_account')
class SecAccount {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40, unique: true })
  email: string;

  @Column({ type: 'int', default: 0 })
  one: number;

  @Column({ type: 'int', default: 0 })
  two: number;

  @Column({ type: 'int', default: 0 })
  three: number;

  @DeleteDateColumn()
  deleted_at: Date | null;
}

/** Makes a write slow, and fails some, while others are on their way. */
@EventSubscriber()
class SlowAccounts implements EntitySubscriberInterface<SecAccount> {
  listenTo(): typeof SecAccount {
    return SecAccount;
  }

  async afterInsert({ entity }: InsertEvent<SecAccount>): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (entity.email.startsWith('fail')) throw new Error('secret');
  }
}

const MODELS = [SecOwner, SecItem, SecSeal, SecTag, SecRoom, SecGuest, SecAccount];
const SEC = '/rest/v1/sec';
const NOT_FOUND = { detail: 'Not found.' };
const DRIVER =
  /sqlite|postgres|mysql|maria|syntax|constraint|sec_|QueryFailed|ER_|SELECT|INSERT|deadlock|duplicate/i;

function seen({ status, json }: Answer): readonly [number, unknown] {
  return [status, json];
}

function counted(answers: readonly Answer[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function noSuchKey(key: string | number): string[] {
  return [`Invalid pk "${key}" - object does not exist.`];
}

onEachDatabase('writes', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS, database, dataSource: { subscribers: [SlowAccounts] } });
    await started.dataSource.getRepository(SecRoom).insert([
      { id: 1, open: true },
      { id: 2, open: true },
      { id: 9, open: false },
    ]);
  });
  afterAll(() => started.close());

  async function made<Body extends object = { id: number }>(model: string, body: object = {}): Promise<Body> {
    const answer = await started.client.post(`${SEC}/${model}/`, body);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.json as Body;
  }

  async function stored(id: number): Promise<unknown> {
    return started.dataSource
      .getRepository(SecItem)
      .createQueryBuilder('i')
      .addSelect(['i.pin', 'i.safe.code'])
      .where('i.id = :id', { id })
      .getOne();
  }

  const FORBIDDEN_KEYS: Readonly<Record<string, unknown>> = {
    id: 4711,
    role: 'admin',
    balance: 9,
    pin: 'x',
    version: 99,
    created_at: '2001-01-01T00:00:00Z',
    updated_at: '2001-01-01T00:00:00Z',
    deleted_at: '2001-01-01T00:00:00Z',
    Role: 'admin',
    ROLE: 'admin',
    'role ': 'admin',
    rоle: 'admin',
    ｒole: 'admin',
    'role\u200b': 'admin',
    'role[]': 'admin',
    'safe.code': 'x',
    'safe[code]': 'x',
    safeCode: 'x',
    safe: { code: 'x', Code: 'x', 'label.x': 1 },
    ownerId: 1,
    owner_id: 1,
    'owner.id': 1,
    'owner[id]': 1,
    seal: { id: 1 },
    tags: ['a'],
    items: [{ name: 'x' }],
    sealId: 1,
    hasId: 1,
    save: 1,
    $set: { role: 'admin' },
  };

  test('S10 what a client may not set is set by no name, on POST, PUT and PATCH', async () => {
    const owner = await made('secowner', { name: 'first' });
    const { id } = await made('secitem', { name: 'a', owner: owner.id, ...FORBIDDEN_KEYS });
    expect(id).not.toBe(4711);
    const kept = {
      id,
      role: 'user',
      balance: 7,
      pin: 'kept',
      safe: { label: '', code: 'kept' },
      deleted_at: null,
    };
    expect(await stored(id)).toMatchObject({ ...kept, version: 1 });
    for (const method of ['PUT', 'PATCH']) {
      const answer = await started.client.send(method, `${SEC}/secitem/${id}/`, {
        body: { name: method, origin: 'second', ...FORBIDDEN_KEYS },
      });
      expect(seen(answer)).toEqual([
        200,
        expect.objectContaining({
          id,
          name: method,
          origin: 'first',
          role: 'user',
          owner: owner.id,
          seal: null,
          deleted_at: null,
        }),
      ]);
      expect(answer.text).not.toMatch(/"(balance|pin|code|Role|\$set)"/);
    }
    const after = (await stored(id)) as SecItem;
    expect(after).toMatchObject({ ...kept, name: 'PATCH', version: 3 });
    expect([after.created_at.getUTCFullYear() > 2001, after.updated_at.getUTCFullYear() > 2001]).toEqual([
      true,
      true,
    ]);
    expect(await started.dataSource.getRepository(SecTag).count()).toBe(0);
  });

  test('S10 a change of an object without a related row makes none, though the relation cascades', async () => {
    const { id } = await made('secitem', { name: 'alone' });
    const before = await started.dataSource.getRepository(SecOwner).count();
    for (const method of ['PATCH', 'PUT']) {
      const answer = await started.client.send(method, `${SEC}/secitem/${id}/`, { body: { name: method } });
      expect([method, ...seen(answer)]).toEqual([
        method,
        200,
        expect.objectContaining({ id, name: method, owner: null }),
      ]);
    }
    expect(await started.dataSource.getRepository(SecOwner).count()).toBe(before);
  });

  test('S10 a nested object on a relation writes nothing through it, cascades or not', async () => {
    const owner = await made('secowner', { name: 'kept', items: [{ name: 'smuggled' }] });
    const item = await made('secitem', { name: 'i', owner: owner.id });
    const seal = await made('secseal', { item: item.id });
    const before = (await started.client.get(`${SEC}/secitem/`)).json;
    for (const [wrong, name] of [
      [{ id: owner.id, name: 'changed' }, 'dict'],
      [[owner.id], 'list'],
      [[{ id: owner.id, name: 'changed' }], 'list'],
    ] as const) {
      for (const [method, path] of [
        ['POST', `${SEC}/secitem/`],
        ['PATCH', `${SEC}/secitem/${item.id}/`],
        ['PUT', `${SEC}/secitem/${item.id}/`],
      ] as const) {
        const answer = await started.client.send(method, path, { body: { name: 'n', owner: wrong } });
        expect([method, ...seen(answer)]).toEqual([
          method,
          400,
          { owner: [`Incorrect type. Expected pk value, received ${name}.`] },
        ]);
      }
    }
    expect((await started.client.get(`${SEC}/secitem/`)).json).toEqual(before);
    const body = { name: 'i', owner: owner.id, seal: null, tags: [{ word: 'smuggled' }] };
    expect(seen(await started.client.put(`${SEC}/secitem/${item.id}/`, body))).toEqual([
      200,
      expect.objectContaining({ owner: owner.id, seal: seal.id }),
    ]);
    expect((await started.client.get(`${SEC}/secowner/${owner.id}/`)).json).toMatchObject({ name: 'kept' });
    expect((await started.client.get(`${SEC}/secowner/${owner.id}/items/`)).json).toEqual([
      expect.objectContaining({ id: item.id }),
    ]);
    expect(await started.dataSource.getRepository(SecTag).countBy({ word: 'smuggled' })).toBe(0);
  });

  test('S10 a list of objects creates and changes nothing', async () => {
    const before = (await started.client.get(`${SEC}/secitem/`)).json;
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await started.client.send(method, `${SEC}/secitem/`, {
        body: [{ id: 1, name: 'bulk' }, { name: 'bulk' }],
      });
      expect([method, answer.status]).toEqual([method, method === 'POST' ? 400 : 405]);
    }
    expect((await started.client.get(`${SEC}/secitem/`)).json).toEqual(before);
  });

  test('S11 a key of a row that the caller cannot see is a key of no row, in every write', async () => {
    const guest = await made('secguest', { room: 1 });
    const stays = `${SEC}/secguest/${guest.id}/rooms/`;
    expect((await started.client.post(stays, { secroom: 1 })).status).toBe(201);
    for (const key of [9, 8]) {
      expect(seen(await started.client.post(`${SEC}/secguest/`, { room: key }))).toEqual([
        400,
        { room: noSuchKey(key) },
      ]);
      for (const method of ['PUT', 'PATCH'])
        expect(
          seen(await started.client.send(method, `${SEC}/secguest/${guest.id}/`, { body: { room: key } })),
        ).toEqual([400, { room: noSuchKey(key) }]);
      expect(seen(await started.client.post(stays, { secroom: key }))).toEqual([
        400,
        { secroom: noSuchKey(key) },
      ]);
      expect(seen(await started.client.patch(`${stays}1/`, { secroom: key }))).toEqual([
        400,
        { secroom: noSuchKey(key) },
      ]);
      expect(
        seen(await started.client.post(`${SEC}/secroom/${key}/guests/`, { secguest: guest.id })),
      ).toEqual([404, NOT_FOUND]);
    }
    expect((await started.client.get(`${SEC}/secguest/${guest.id}/`)).json).toMatchObject({ room: 1 });
    expect((await started.client.get(stays)).json).toEqual([{ id: 1, secguest: guest.id, secroom: 1 }]);
  });

  test('S11 a key of a wrong type is an error of its field, and no row is guessed from it', async () => {
    for (const [key, name] of [
      ['x', 'str'],
      [true, 'bool'],
      [[1], 'list'],
      [{ id: 1 }, 'dict'],
      [1.5, 'float'],
      ['1 OR 1=1', 'str'],
      ['1e0', 'str'],
      ['0x1', 'str'],
      ['1,2', 'str'],
    ] as const) {
      expect([key, ...seen(await started.client.post(`${SEC}/secguest/`, { room: key }))]).toEqual([
        key,
        400,
        { room: [`Incorrect type. Expected pk value, received ${name}.`] },
      ]);
    }
  });

  test('S15 names that objects inherit are keys, segments and values like any other', async () => {
    const names = [
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'toString',
      'valueOf',
      'prototype',
      'constructor[prototype]',
      '__proto__.note',
    ];
    const item = await made('secitem', { name: 'i' });
    const pairs = `${SEC}/secitem/${item.id}/tags/`;
    for (const word of names) {
      const path = `${SEC}/sectag/${encodeURIComponent(word)}/`;
      expect(seen(await started.client.get(path))).toEqual([404, NOT_FOUND]);
      expect(seen(await started.client.post(`${SEC}/sectag/`, { word: `x${word}`, above: word }))).toEqual([
        400,
        { above: noSuchKey(word) },
      ]);
      expect(seen(await started.client.post(`${SEC}/sectag/`, { word, note: word }))).toEqual([
        201,
        { word, note: word, above: null },
      ]);
      expect(seen(await started.client.patch(path, { above: word }))).toEqual([
        200,
        { word, note: word, above: word },
      ]);
      expect(seen(await started.client.get(`${SEC}/sectag/?above=${encodeURIComponent(word)}`))).toEqual([
        200,
        [{ word, note: word, above: word }],
      ]);
      expect(seen(await started.client.post(pairs, { sectag: word }))).toEqual([
        201,
        { id: word, secitem: item.id, sectag: word },
      ]);
      expect((await started.client.delete(`${pairs}${encodeURIComponent(word)}/`)).status).toBe(204);
      for (const nested of [
        `${SEC}/secitem/${item.id}/${encodeURIComponent(word)}/`,
        `${SEC}/${encodeURIComponent(word)}/`,
        `/rest/v1/${encodeURIComponent(word)}/secitem/`,
        `${SEC}/secitem/${item.id}/${encodeURIComponent(word)}/1/`,
      ]) {
        for (const method of ['GET', 'POST'])
          expect(seen(await started.client.send(method, nested))).toEqual([404, NOT_FOUND]);
      }
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test('S16 a row that was softly deleted is no object, no key, no child and no parent', async () => {
    const owner = await made('secowner', { name: 'gone' });
    const item = await made('secitem', { name: 'softly', owner: owner.id });
    const other = await made('secitem', { name: 'stays', owner: owner.id });
    expect((await started.client.delete(`${SEC}/secitem/${item.id}/`)).status).toBe(204);
    expect(
      await started.dataSource.getRepository(SecItem).count({ where: { id: item.id }, withDeleted: true }),
    ).toBe(1);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const options =
        method === 'PUT' || method === 'PATCH' ? { body: { name: 'back', deleted_at: null } } : {};
      expect([
        method,
        ...seen(await started.client.send(method, `${SEC}/secitem/${item.id}/`, options)),
      ]).toEqual([method, 404, NOT_FOUND]);
    }
    expect((await started.client.get(`${SEC}/secowner/${owner.id}/items/`)).json).toEqual([
      expect.objectContaining({ id: other.id }),
    ]);
    for (const query of [
      'name=softly',
      'search=softly',
      `id=${item.id}`,
      `id=${item.id}&withDeleted=true`,
      'name=softly&withDeleted=1',
    ]) {
      expect([query, ...seen(await started.client.get(`${SEC}/secitem/?${query}`))]).toEqual([
        query,
        200,
        [],
      ]);
    }
    expect(seen(await started.client.post(`${SEC}/secseal/`, { item: item.id }))).toEqual([
      400,
      { item: noSuchKey(item.id) },
    ]);
    expect(seen(await started.client.get(`${SEC}/secitem/${item.id}/tags/`))).toEqual([404, NOT_FOUND]);
    expect(seen(await started.client.post(`${SEC}/secitem/${item.id}/tags/`, { sectag: 'a' }))).toEqual([
      404,
      NOT_FOUND,
    ]);
    expect((await started.client.delete(`${SEC}/secowner/${owner.id}/`)).status).toBe(204);
    expect(seen(await started.client.get(`${SEC}/secowner/${owner.id}/items/`))).toEqual([404, NOT_FOUND]);
    expect(seen(await started.client.patch(`${SEC}/secitem/${other.id}/`, { owner: owner.id }))).toEqual([
      400,
      { owner: noSuchKey(owner.id) },
    ]);
  });

  test('S16 a unique value of a softly deleted row is taken, and the error reveals nothing else', async () => {
    const { id } = await made('secaccount', { email: 'soft@h' });
    expect((await started.client.delete(`${SEC}/secaccount/${id}/`)).status).toBe(204);
    const answer = await started.client.post(`${SEC}/secaccount/`, { email: 'soft@h' });
    expect(seen(answer)).toEqual([400, { email: ['This field must be unique.'] }]);
  });

  test('S17 hostile texts are stored as they are, and found by themselves alone', async () => {
    const texts = [
      '%',
      '_',
      '\\',
      '\\\\',
      '%%',
      "'",
      '"',
      '`',
      "' OR '1'='1",
      "'; DROP TABLE sec_tag; --",
      '$1',
      '?',
      ':word',
      '{"$ne": 1}',
      '<script>',
      '=1+1',
      '\u2019',
      '\u202e',
      '😀',
      'é',
      'e\u0301',
      '\u200b',
      'a\nb',
      '../..',
      '%00',
      '\\u0000',
      '\u0001',
    ];
    for (const text of texts) {
      const path = `${SEC}/sectag/${encodeURIComponent(text)}/`;
      const body = { word: text, note: text, above: null };
      expect([
        text,
        ...seen(await started.client.post(`${SEC}/sectag/`, { word: text, note: text })),
      ]).toEqual([text, 201, body]);
      expect([text, ...seen(await started.client.get(path))]).toEqual([text, 200, body]);
      expect([
        text,
        ...seen(await started.client.get(`${SEC}/sectag/?note=${encodeURIComponent(text)}`)),
      ]).toEqual([text, 200, [body]]);
    }
    for (const text of texts)
      expect([
        text,
        (await started.client.delete(`${SEC}/sectag/${encodeURIComponent(text)}/`)).status,
      ]).toEqual([text, 204]);
  });

  test('S17 texts that no column can hold are 400, with nothing of the driver', async () => {
    for (const raw of ['"\\u0000"', '"\\ud800"', `"${'x'.repeat(51)}"`, 'true', '{}']) {
      const answer = await started.client.send('POST', `${SEC}/sectag/`, {
        raw: `{"word": ${raw}}`,
        headers: { 'content-type': 'application/json' },
      });
      expect([raw.slice(0, 12), answer.status, answer.text]).toEqual([
        raw.slice(0, 12),
        400,
        expect.not.stringMatching(DRIVER),
      ]);
    }
  });

  test('S18 parallel creates on one unique value: one is created, the others are 400', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => started.client.post(`${SEC}/secaccount/`, { email: 'race@h' })),
    );
    expect(counted(answers)).toEqual({ 201: 1, 400: 19 });
    for (const answer of answers.filter(({ status }) => status === 400))
      expect(answer.json).toEqual({ email: ['This field must be unique.'] });
    expect((await started.client.get(`${SEC}/secaccount/?email=race@h`)).json).toHaveLength(1);
  });

  test('S18 parallel creates of one key, one pair and one one-to-one: one is created, the others are 400', async () => {
    const item = await made('secitem', { name: 'race' });
    const keys = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        started.client.post(`${SEC}/sectag/`, { word: 'race', note: String(index) }),
      ),
    );
    expect(counted(keys)).toEqual({ 201: 1, 400: 11 });
    expect((await started.client.get(`${SEC}/sectag/race/`)).json).toEqual(
      keys.find(({ status }) => status === 201)?.json,
    );
    const pairs = await Promise.all(
      Array.from({ length: 12 }, () =>
        started.client.post(`${SEC}/secitem/${item.id}/tags/`, { sectag: 'race' }),
      ),
    );
    expect(counted(pairs)).toEqual({ 201: 1, 400: 11 });
    const seals = await Promise.all(
      Array.from({ length: 12 }, () => started.client.post(`${SEC}/secseal/`, { item: item.id })),
    );
    expect(counted(seals)).toEqual({ 201: 1, 400: 11 });
  });

  test('S18 parallel changes to one unique value: one is changed, the others are 400', async () => {
    const rows = await Promise.all(
      Array.from({ length: 8 }, (_, index) => made('secaccount', { email: `patch${index}@h` })),
    );
    const answers = await Promise.all(
      rows.map(({ id }) => started.client.patch(`${SEC}/secaccount/${id}/`, { email: 'patched@h' })),
    );
    expect(counted(answers)).toEqual({ 200: 1, 400: 7 });
    expect((await started.client.get(`${SEC}/secaccount/?email=patched@h`)).json).toHaveLength(1);
  });

  test('S18 parallel changes of different fields of one object all last, and one deletion of many succeeds', async () => {
    const { id } = await made('secaccount', { email: 'fields@h' });
    const path = `${SEC}/secaccount/${id}/`;
    const changes = await Promise.all(
      ['one', 'two', 'three', 'one', 'two', 'three'].map((field) =>
        started.client.patch(path, { [field]: 5 }),
      ),
    );
    expect(counted(changes)).toEqual({ 200: 6 });
    expect((await started.client.get(path)).json).toMatchObject({ one: 5, two: 5, three: 5 });
    const deletions = await Promise.all(Array.from({ length: 8 }, () => started.client.delete(path)));
    expect(counted(deletions)).toEqual({ 204: 1, 404: 7 });
  });

  test('S18 pairs that change places at once are never a server error, and stay pairs', async () => {
    const item = await made('secitem', { name: 'swap' });
    const pairs = `${SEC}/secitem/${item.id}/tags/`;
    for (const word of ['left', 'right', 'third']) await made<{ word: string }>('sectag', { word });
    for (let round = 0; round < 6; round += 1) {
      for (const { id } of (await started.client.get(pairs)).json as readonly { id: string }[])
        await started.client.delete(`${pairs}${id}/`);
      for (const sectag of ['left', 'right'])
        expect((await started.client.post(pairs, { sectag })).status).toBe(201);
      const answers = await Promise.all(
        (['left', 'right', 'left', 'right'] as const).map((from) =>
          started.client.patch(`${pairs}${from}/`, { sectag: from === 'left' ? 'right' : 'left' }),
        ),
      );
      const created = await Promise.all(
        ['third', 'left', 'right', 'third'].map((sectag) => started.client.post(pairs, { sectag })),
      );
      for (const answer of [...answers, ...created])
        expect([[200, 201, 400, 404].includes(answer.status), answer.status, answer.text]).toEqual([
          true,
          answer.status,
          answer.text,
        ]);
      expect(
        ((await started.client.get(pairs)).json as readonly { id: string }[]).map(({ id }) => id),
      ).toEqual(['left', 'right', 'third']);
    }
  });

  test('S18 fifty writes and reads at once: no server error, nothing lost, nothing seen that was not kept', async () => {
    const kept = await Promise.all(
      Array.from({ length: 10 }, (_, index) => made('secaccount', { email: `mixed${index}@h` })),
    );
    const at = (index: number): string => `${SEC}/secaccount/${kept[index]?.id ?? 0}/`;
    const calls: Promise<Answer>[] = Array.from({ length: 50 }, (_, index) => {
      switch (index % 5) {
        case 0:
          return started.client.post(`${SEC}/secaccount/`, { email: `new${index}@h`, one: index });
        case 1:
          return started.client.patch(at((index - 1) / 5), { two: index });
        case 2:
          return started.client.get(`${SEC}/secaccount/`);
        case 3:
          return started.client.post(`${SEC}/secaccount/`, {
            email: index < 25 ? 'mixed0@h' : '',
            one: index,
          });
        default:
          return started.client.patch(at((index - 4) / 5), { three: index });
      }
    });
    const failing = Array.from({ length: 10 }, (_, index) =>
      started.client.post(`${SEC}/secaccount/`, { email: `fail${index}@h` }),
    );
    const answers = await Promise.all(calls);
    expect(counted(answers)).toEqual({ 200: 30, 201: 10, 400: 10 });
    expect(counted(await Promise.all(failing))).toEqual({ 500: 10 });
    for (const answer of answers) expect(answer.text).not.toContain('fail');
    const rows = (await started.client.get(`${SEC}/secaccount/`)).json as readonly Record<string, unknown>[];
    const byEmail = new Map(rows.map((row) => [row.email, row]));
    for (let index = 0; index < 10; index += 1) {
      expect(byEmail.get(`new${index * 5}@h`)).toMatchObject({ one: index * 5 });
      expect(byEmail.get(`mixed${index}@h`)).toMatchObject({ two: index * 5 + 1, three: index * 5 + 4 });
    }
    expect(rows.filter(({ email }) => String(email).startsWith('fail'))).toEqual([]);
  });
});

describe('S18 deletions and references at once', () => {
  test('never leave a reference to nothing, nor a server error', async () => {
    const started = await startApp({ entities: MODELS });
    try {
      for (let round = 0; round < 5; round += 1) {
        const tag = `t${round}`;
        await started.client.post(`${SEC}/sectag/`, { word: tag });
        const answers = await Promise.all([
          ...Array.from({ length: 5 }, (_, index) =>
            started.client.post(`${SEC}/sectag/`, { word: `${tag}-${index}`, above: tag }),
          ),
          started.client.delete(`${SEC}/sectag/${tag}/`),
        ]);
        for (const { status } of answers) expect([201, 204, 400, 409]).toContain(status);
      }
      const rows = (await started.client.get(`${SEC}/sectag/`)).json as readonly {
        word: string;
        above: string | null;
      }[];
      const words = new Set(rows.map(({ word }) => word));
      expect(rows.filter(({ above }) => above !== null && !words.has(above))).toEqual([]);
    } finally {
      await started.close();
    }
  });
});
