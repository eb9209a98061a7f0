// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'race', relatedKeys: ['shops'], conditional: true, bulk: true })
@Entity('race_owner')
class Owner {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToMany(() => Shop, (shop) => shop.owners)
  @JoinTable({ name: 'race_pairs', joinColumn: { name: 'owner' }, inverseJoinColumn: { name: 'shop' } })
  shops: Relation<Shop[]>;
}

@Restify({ app: 'race', relatedKeys: ['owners'] })
@Entity('race_shop')
class Shop {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToMany(() => Owner, (owner) => owner.shops) owners: Relation<Owner[]>;
}

/** Without foreign keys, so that new pairs wait for no lock of the rows to which they refer. */
@Restify({ app: 'race', relatedKeys: ['parts'] })
@Entity('race_whole')
class Whole {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToMany(() => Whole, (whole) => whole.wholes, { createForeignKeyConstraints: false })
  @JoinTable({ name: 'race_parts', joinColumn: { name: 'whole' }, inverseJoinColumn: { name: 'part' } })
  parts: Relation<Whole[]>;
  @ManyToMany(() => Whole, (whole) => whole.parts) wholes: Relation<Whole[]>;
}

const OWNERS = '/rest/v1/race/owner/';
const SHOPS = '/rest/v1/race/shop/';
const ROUNDS = 12;

onEachDatabase('related keys that are written at once', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Owner, Shop, Whole], database, compare: false });
    const { dataSource } = started;
    for (const entity of [Owner, Shop, Whole])
      await dataSource.getRepository<{ id: number }>(entity).insert([1, 2, 3, 4, 5].map((id) => ({ id })));
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    await started.dataSource.query('DELETE FROM race_pairs');
    await started.dataSource.query('DELETE FROM race_parts');
  });

  const shopsOf = async (id: number): Promise<unknown> =>
    ((await started.client.get(`${OWNERS}${id}/`)).json as { shops: unknown }).shops;
  const set = (id: number, shops: unknown): Promise<number> =>
    started.client.patch(`${OWNERS}${id}/`, { shops }).then(({ status }) => status);

  test('of two sets one wins as a whole', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      expect(await Promise.all([set(1, [1, 2]), set(1, [3]), set(1, [2, 4])])).toEqual([200, 200, 200]);
      expect([[1, 2], [3], [2, 4]]).toContainEqual(await shopsOf(1));
    }
  });

  test('additions and removals of several writers are all done', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await set(1, [5]);
      const changes = [{ add: [1] }, { add: [2], remove: [5] }, { add: [3, 1] }, { add: [4] }];
      expect(await Promise.all(changes.map((change) => set(1, change)))).toEqual([200, 200, 200, 200]);
      expect(await shopsOf(1)).toEqual([1, 2, 3, 4]);
    }
  });

  test('a pair that is added or removed at its own URL meanwhile counts as present or absent', async () => {
    const { client } = started;
    for (let round = 0; round < ROUNDS; round++) {
      await set(1, [1]);
      const [status, added, removed] = await Promise.all([
        set(1, [1, 2, 3]),
        client.post(`${OWNERS}1/shops/`, { shop: 3 }),
        client.delete(`${SHOPS}1/owners/1/`),
      ]);
      expect(status).toBe(200);
      expect([201, 400]).toContain(added.status);
      expect(removed.status).toBe(204);
      // The removal is before the set, or after it.
      expect([
        [1, 2, 3],
        [2, 3],
      ]).toContainEqual(await shopsOf(1));
    }
  });

  test('the same pair is added from both sides', async () => {
    const { client } = started;
    for (let round = 0; round < ROUNDS; round++) {
      await set(1, []);
      const statuses = await Promise.all([
        set(1, [2]),
        client.patch(`${SHOPS}2/`, { owners: [1] }).then(({ status }) => status),
        client.patch(`${SHOPS}2/`, { owners: { add: [1] } }).then(({ status }) => status),
      ]);
      expect(statuses).toEqual([200, 200, 200]);
      expect(await shopsOf(1)).toEqual([2]);
    }
  });

  test('of two writers with the same If-Match one succeeds', async () => {
    const { client } = started;
    for (let round = 0; round < ROUNDS; round++) {
      await set(1, [5]);
      const headers = { 'If-Match': String((await client.get(`${OWNERS}1/`)).headers.etag) };
      const answers = await Promise.all(
        [[1], [2]].map((shops) => client.patch(`${OWNERS}1/`, { shops }, { headers })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    }
  });

  test('several objects and the pairs of several owners are written together', async () => {
    const { client } = started;
    for (let round = 0; round < ROUNDS; round++) {
      const orders = [
        [1, 2, 3],
        [3, 2, 1],
        [2, 3, 1],
      ];
      const answers = await Promise.all(
        orders.map((ids, at) =>
          client.patch(
            OWNERS,
            ids.map((id) => ({ id, shops: [at + 1, 5] })),
          ),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const [one, two, three] = await Promise.all([1, 2, 3].map(shopsOf));
      expect(two).toEqual(one);
      expect(three).toEqual(one);
    }
  });

  test('pairs without foreign keys are added from both sides', async () => {
    const { client } = started;
    const wholes = '/rest/v1/race/whole/';
    for (let round = 0; round < ROUNDS; round++) {
      await client.patch(`${wholes}1/`, { parts: [] });
      const answers = await Promise.all([
        client.patch(`${wholes}1/`, { parts: [1, 2, 3] }),
        client.post(`${wholes}1/parts/`, { to_whole: 2 }),
        client.post(`${wholes}3/wholes/`, { to_whole: 1 }),
      ]);
      expect(answers.map(({ status }) => [200, 201, 400].includes(status))).toEqual([true, true, true]);
      expect(answers[0].status).toBe(200);
      expect((await client.get(`${wholes}1/`)).json).toMatchObject({ parts: [1, 2, 3] });
    }
  });
});
