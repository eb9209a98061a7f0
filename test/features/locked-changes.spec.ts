// @tags db nest
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn } from 'typeorm';
import type { QueryRunner, Relation } from 'typeorm';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class OwnRows implements Permission {
  decide(): Grant {
    return allow({ rows: where('owner', 'me') });
  }
}

@Restify({ app: 'lock', permissions: [OwnRows], conditional: true })
@Entity('lock_rack')
class Rack {
  @PrimaryColumn() id: number;
  @Column({ length: 20, default: 'me' }) owner: string;
  @Column({ length: 20, nullable: true, unique: true, type: 'varchar' }) code: string | null;
  @Column({ type: 'int', default: 0 }) height: number;
  @ManyToOne(() => Rack, { nullable: true }) below: Relation<Rack> | null;
}

@Restify({ app: 'lock', bulk: true })
@Entity('lock_box')
class Box {
  @PrimaryColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'smallint', default: 0 }) weight: number;
  @Column({ type: 'decimal', precision: 6, scale: 2, nullable: true }) price: string | null;
  @ManyToOne(() => Rack, { nullable: true }) rack: Relation<Rack> | null;
}

const ENTITIES = [Rack, Box];
const RACKS = '/rest/v1/lock/rack/';
const BOXES = '/rest/v1/lock/box/';

onEachDatabase('a change by SQL', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database });
  });
  beforeEach(async () => {
    const { dataSource } = started;
    await dataSource.getRepository(Box).createQueryBuilder().delete().execute();
    await dataSource.getRepository(Rack).createQueryBuilder().update().set({ below: null }).execute();
    await dataSource.getRepository(Rack).createQueryBuilder().delete().execute();
    await dataSource.getRepository(Rack).insert([
      { id: 1, code: 'a' },
      { id: 2, code: 'b' },
      { id: 3, code: 'c', owner: 'other' },
    ]);
    await dataSource.getRepository(Box).insert({ id: 1, name: 'box', rack: { id: 1 } });
  });
  afterAll(() => started.close());

  const patch = async (
    url: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<unknown> => {
    const { status, json } = await started.client.send('PATCH', url, { body, headers });
    return [status, json];
  };

  test('is answered with the row, also if nothing changes', async () => {
    const box = { id: 1, name: 'new', weight: 3, price: '1.50', rack: 2 };
    expect(await patch(`${BOXES}1/`, { name: 'new', weight: 3, price: '1.5', rack: 2 })).toEqual([200, box]);
    expect(await patch(`${BOXES}1/`, { name: 'new' })).toEqual([200, box]);
    expect(await patch(`${BOXES}1/`, { rack: null })).toEqual([200, { ...box, rack: null }]);
    expect(await patch(`${RACKS}1/`, { below: 2 })).toMatchObject([200, { below: 2 }]);
  });

  test('is 404 for a hidden row, and 400 for what the row or its keys cannot be', async () => {
    expect(await patch(`${RACKS}3/`, { height: 1 })).toEqual([404, { detail: 'Not found.' }]);
    expect(await patch(`${BOXES}1/`, { rack: 3, name: 'x' })).toEqual([400, { rack: [expect.any(String)] }]);
    expect(await patch(`${BOXES}1/`, { rack: 9 })).toEqual([400, { rack: [expect.any(String)] }]);
    expect(await patch(`${RACKS}1/`, { code: 'b' })).toEqual([400, { code: [expect.any(String)] }]);
    expect(await patch(`${RACKS}1/`, { below: 9, code: 'b' })).toEqual([
      400,
      { below: [expect.any(String)] },
    ]);
    expect(await started.dataSource.getRepository(Box).findOneBy({ id: 1 })).toMatchObject({ name: 'box' });
  });

  test('must leave a row that the caller may have', async () => {
    expect(await patch(`${RACKS}1/`, { owner: 'other' })).toMatchObject([403, {}]);
    expect(await patch(`${RACKS}1/`, { owner: 'other', code: 'c' })).toMatchObject([403, {}]);
    expect(await started.dataSource.getRepository(Rack).findOneBy({ id: 1 })).toMatchObject({ owner: 'me' });
  });

  test('compares the content with If-Match under the lock', async () => {
    const { headers } = await started.client.get(`${RACKS}1/`);
    const tag = { 'if-match': headers.etag ?? '' };
    await patch(`${RACKS}2/`, { height: 1 });
    expect(await patch(`${RACKS}1/`, { height: 5 }, tag)).toMatchObject([200, { height: 5 }]);
    expect(await patch(`${RACKS}1/`, { height: 6 }, tag)).toMatchObject([412, {}]);
    expect(await started.dataSource.getRepository(Rack).findOneBy({ id: 1 })).toMatchObject({ height: 5 });
  });

  test('of a list is done with the others, or with none', async () => {
    await started.dataSource.getRepository(Box).insert({ id: 2, name: 'two' });
    const both = [
      { id: 1, name: 'x' },
      { id: 2, name: 'y', rack: 2 },
    ];
    expect(await patch(BOXES, both)).toMatchObject([200, both]);
    expect(
      await patch(BOXES, [
        { id: 1, name: 'z' },
        { id: 2, rack: 9 },
      ]),
    ).toEqual([400, [{}, { rack: [expect.any(String)] }]]);
    expect((await started.client.get(`${BOXES}1/`)).json).toMatchObject({ name: 'x' });
  });
});

onEachServer('changes by SQL at the same time', (database) => {
  let started: StartedApp;
  let other: QueryRunner;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, compare: false });
    other = started.dataSource.createQueryRunner();
    await started.dataSource.getRepository(Rack).insert([{ id: 1 }, { id: 2 }]);
    await started.dataSource.getRepository(Box).insert({ id: 1, name: 'box' });
    await started.client.patch(`${BOXES}1/`, { name: 'box' });
  });
  afterEach(async () => {
    if (other.isTransactionActive) await other.rollbackTransaction();
  });
  afterAll(async () => {
    await other.release();
    await started.close();
  });

  test('of other columns keep each other', async () => {
    const answers = await Promise.all([
      ...[1, 2, 3, 4].map(() => started.client.patch(`${BOXES}1/`, { name: 'changed' })),
      ...[1, 2, 3, 4].map(() => started.client.patch(`${BOXES}1/`, { weight: 7, rack: 1 })),
      ...[1, 2, 3, 4].map(() => started.client.patch(`${RACKS}1/`, { height: 2 })),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await started.client.get(`${BOXES}1/`)).json).toMatchObject({
      name: 'changed',
      weight: 7,
      rack: 1,
    });
  });

  test('that wait for the row answer with what the other one has written', async () => {
    await other.startTransaction();
    await other.query("UPDATE lock_box SET weight = 9, name = 'same' WHERE id = 1");
    const changing = started.client.patch(`${BOXES}1/`, { name: 'same' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await other.commitTransaction();
    const { status, json } = await changing;
    expect([status, json]).toEqual([200, expect.objectContaining({ name: 'same', weight: 9 })]);
  });

  test('are 404 if the row is no longer granted', async () => {
    await other.startTransaction();
    await other.query("UPDATE lock_rack SET owner = 'other' WHERE id = 2");
    const changing = started.client.patch(`${RACKS}2/`, { height: 3 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await other.commitTransaction();
    expect((await changing).status).toBe(404);
  });
});
