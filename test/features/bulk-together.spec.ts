// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  Index,
  ManyToOne,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class OpenOnly implements Permission {
  decide({ method }: AccessContext): Grant {
    return method === 'GET' ? allow({ rows: where('open', true) }) : allow();
  }
}

@Restify({ app: 'together', permissions: [OpenOnly] })
@Entity('together_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'boolean', default: true }) open: boolean;
}

@Restify({ app: 'together', bulk: { upsert: ['code'], max: 500 } })
@Entity('together_ware')
class Ware {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ type: 'int', default: 7 }) stock: number;
  @Column({ type: 'decimal', precision: 12, scale: 3, default: '0' }) price: string;
  @Column({ type: 'boolean', nullable: true }) sold: boolean | null;
  @Column({ nullable: true }) checked: Date;
  @ManyToOne(() => Owner, { nullable: true }) owner: Relation<Owner> | null;
}

/** Its places are unique, which no decorator of the column says. */
@Restify({ app: 'together', bulk: { max: 500 } })
@Entity('together_slot')
@Index(['place'], { unique: true })
class Slot {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'int' }) place: number;
  @Column({ length: 20, default: '' }) note: string;
}

@Restify({ app: 'together', bulk: { max: 500 } })
@Entity('together_counted')
class Counted {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'decimal', precision: 12, scale: 3, nullable: true }) price: string | null;
  @Column({ type: 'bigint', nullable: true }) large: string | null;
  @Column({ type: 'boolean', nullable: true }) sold: boolean | null;
  @Column({ nullable: true }) checked: Date;
  @VersionColumn() version: number;
  @UpdateDateColumn() updated: Date;
}

const ENTITIES = [Owner, Ware, Slot, Counted];
const WARES = '/rest/v1/together/ware/';
const UPSERT = `${WARES}?upsert=true`;

interface Stored {
  readonly id: number;
  readonly code: string;
  readonly stock: number;
}

onEachDatabase('many rows of one request', (database) => {
  let started: StartedApp;
  const log = new StatementLog();
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      database,
      dataSource: { logging: ['query'], logger: log },
      compare: false,
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const entity of [Ware, Slot, Counted, Owner])
      await started.dataSource.createQueryBuilder().delete().from(entity).execute();
    log.clear();
  });

  const count = (verb: string): number => log.statements.filter((sql) => sql.includes(`${verb} `)).length;
  const updates = (): number => count('UPDATE') - count('FOR UPDATE');
  const codes = (length: number, from = 0): readonly string[] =>
    Array.from({ length }, (_, index) => `c${from + ((index * 37) % length)}`);
  const post = async (path: string, body: unknown): Promise<{ status: number; json: unknown }> => {
    log.clear();
    const { status, json } = await started.client.post(path, body);
    return { status, json };
  };
  const patch = async (path: string, body: unknown): Promise<{ status: number; json: unknown }> => {
    log.clear();
    const { status, json } = await started.client.patch(path, body);
    return { status, json };
  };
  const all = async (): Promise<readonly Stored[]> =>
    (await started.client.get(WARES)).json as readonly Stored[];

  test('are inserted by one statement whose keys the database makes, in the order of the request', async () => {
    const body = codes(150).map((code, index) => ({
      code,
      stock: index,
      price: '1.5',
      sold: index % 2 === 0,
    }));
    const { status, json } = await post(WARES, body);
    expect(status).toBe(201);
    const rows = json as readonly Stored[];
    expect(rows.map(({ code, stock }) => [code, stock])).toEqual(
      body.map(({ code, stock }) => [code, stock]),
    );
    expect(count('INSERT INTO')).toBe(2);
    const stored = new Map((await all()).map((row) => [row.id, row]));
    expect(rows).toEqual(rows.map(({ id }) => stored.get(id)));
  });

  test('are inserted one by one if only values that are stored in another form differ', async () => {
    const body = ['1.5', '2.25'].map((price, index) => ({ code: `p${index}`, price }));
    expect(await post(WARES, body)).toMatchObject({
      status: 201,
      json: [{ price: '1.500' }, { price: '2.250' }],
    });
    const slots = await post('/rest/v1/together/counted/', [{ name: 'a' }, { name: 'a' }]);
    expect(slots.json).toMatchObject([
      { name: 'a', version: 1 },
      { name: 'a', version: 1 },
    ]);
    const [first, second] = slots.json as readonly Stored[];
    expect(first?.id).toBeLessThan(second?.id ?? 0);
  });

  test('are changed and created by few statements in an upsert', async () => {
    await post(
      WARES,
      codes(100).map((code) => ({ code })),
    );
    const body = codes(120).map((code, index) => ({
      code,
      stock: index,
      checked: '2021-02-03T04:05:06.000Z',
    }));
    const { status, json } = await post(UPSERT, body);
    expect(status).toBe(201);
    expect((json as readonly Stored[]).map(({ code, stock }) => [code, stock])).toEqual(
      body.map(({ code, stock }) => [code, stock]),
    );
    expect(updates()).toBeLessThanOrEqual(1);
    expect(count('INSERT INTO')).toBe(1);
    const stored = new Map((await all()).map((row) => [row.id, row]));
    expect(json).toEqual((json as readonly Stored[]).map(({ id }) => stored.get(id)));
  });

  test('are changed together in a PATCH, with the values of each', async () => {
    const owner = await started.dataSource.getRepository(Owner).save({});
    const made = (
      await post(
        WARES,
        codes(60).map((code) => ({ code })),
      )
    ).json as readonly Stored[];
    const body = made.map(({ id }, index) =>
      index % 2 === 0
        ? { id, stock: index, price: '0.125', sold: true, owner: owner.id }
        : { id, sold: null, checked: null },
    );
    const { status, json } = await patch(WARES, body);
    expect([status, json]).toEqual([
      200,
      made.map((row, index) => ({
        ...row,
        ...(index % 2 === 0 ? { stock: index, price: '0.125', sold: true, owner: owner.id } : {}),
      })),
    ]);
    expect(updates()).toBeLessThanOrEqual(2);
    expect((await all()).length).toBe(60);
  });

  test('are refused with their own errors, and none of them is written', async () => {
    const closed = await started.dataSource.getRepository(Owner).save({ open: false });
    const made = (
      await post(
        WARES,
        codes(3).map((code) => ({ code })),
      )
    ).json as readonly Stored[];
    const [a, b, c] = made.map(({ id }) => id);
    const before = await all();
    const refused = await patch(WARES, [
      { id: a, stock: 1 },
      { id: b, owner: closed.id },
      { id: c, stock: 'x' },
    ]);
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject([
      {},
      { owner: [expect.stringContaining('does not exist')] },
      { stock: [expect.any(String)] },
    ]);
    const missing = await patch(WARES, [
      { id: a, stock: 1 },
      { id: 999_999, stock: 2 },
    ]);
    expect(missing.status).toBe(400);
    const taken = await patch(WARES, [
      { id: a, stock: 1 },
      { id: b, code: made[2]?.code },
    ]);
    expect([taken.status, taken.json]).toEqual([400, [{}, { code: [expect.any(String)] }]]);
    expect(await all()).toEqual(before);
  });

  test('do not exchange unique values, as single requests do not', async () => {
    const made = (await post('/rest/v1/together/slot/', [{ place: 1 }, { place: 2 }]))
      .json as readonly Stored[];
    const [a, b] = made.map(({ id }) => id);
    for (const body of [
      [
        { id: a, place: 2 },
        { id: b, place: 1 },
      ],
      [
        { id: a, place: 2 },
        { id: b, place: 3 },
      ],
    ]) {
      const refused = await patch('/rest/v1/together/slot/', body);
      expect([refused.status, (refused.json as readonly object[])[0]]).toEqual([
        400,
        { place: [expect.any(String)] },
      ]);
    }
    const shifted = await patch('/rest/v1/together/slot/', [
      { id: b, place: 3 },
      { id: a, place: 2 },
    ]);
    expect([shifted.status, shifted.json]).toMatchObject([200, [{ place: 3 }, { place: 2 }]]);
    const noted = await patch('/rest/v1/together/slot/', [
      { id: a, note: 'x' },
      { id: b, note: 'y' },
    ]);
    expect([noted.status, noted.json]).toMatchObject([200, [{ note: 'x' }, { note: 'y' }]]);
  });

  test('count their versions as single requests do', async () => {
    const counted = '/rest/v1/together/counted/';
    const [one, other] = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'];
    const stored = [
      { name: 'same', price: '1.500', large: '5', sold: true, checked: one },
      { name: 'nulls', price: null, large: null, sold: null, checked: null },
      { name: 'changed', price: '1.500', large: '5', sold: true, checked: one },
      { name: 'to null', price: '1.500', large: '5', sold: false, checked: one },
      { name: 'from null', price: null, large: null, sold: null, checked: null },
      { name: 'instant', price: null, large: null, sold: null, checked: one },
    ];
    const changes = [
      { name: 'same', price: null, large: null, sold: true, checked: one },
      { name: 'nulls', price: null, large: null, sold: null, checked: null },
      { name: 'another', price: '1.500', large: '5', sold: true, checked: one },
      { name: 'to null', price: null, large: null, sold: null, checked: null },
      { name: 'from null', price: '2.000', large: '7', sold: false, checked: other },
      { name: 'instant', price: null, large: null, sold: null, checked: other },
    ];
    const make = async (): Promise<readonly Stored[]> =>
      (await post(counted, stored)).json as readonly Stored[];
    const [alone, together] = [await make(), await make()];
    const expected: unknown[] = [];
    for (const [index, { id }] of alone.entries())
      expected.push((await started.client.patch(`${counted}${id}/`, changes[index])).json);
    log.clear();
    const { status, json } = await patch(
      counted,
      together.map(({ id }, index) => ({ id, ...changes[index] })),
    );
    expect(status).toBe(200);
    const comparable = (rows: unknown): unknown =>
      (rows as readonly object[]).map((row) => ({ ...row, id: 0, updated: '' }));
    expect(comparable(json)).toEqual(comparable(expected));
    if (database.name !== 'mariadb') expect(updates()).toBe(1);
    const dates = (rows: readonly object[]): readonly unknown[] =>
      rows.map((row) => (row as { readonly updated: string }).updated);
    // A row without a change keeps its date.
    expect(dates(json as readonly object[])[1]).toBe(dates(together)[1]);
  });

  test('change their versions where one of them keeps its values', async () => {
    const made = (await post('/rest/v1/together/counted/', [{ name: 'a' }, { name: 'b' }]))
      .json as readonly Stored[];
    const [a, b] = made.map(({ id }) => id);
    const { json } = await patch('/rest/v1/together/counted/', [
      { id: b, name: 'c' },
      { id: a, name: 'a' },
    ]);
    expect(json).toMatchObject([
      { id: b, name: 'c', version: 2 },
      { id: a, name: 'a', version: 1 },
    ]);
  });
});
