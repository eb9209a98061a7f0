// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { restify, RestifyResources } from 'nestjs-restify';
import type { ActorOperations } from 'nestjs-restify';
import { BeforeInsert, Column, DataSource, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { EntityManager, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Written by statements of the adapter. */
@Entity('jt_plain')
class JtPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @ManyToOne(() => JtPlain) up: Relation<JtPlain> | null;
}

/** Written by TypeORM. */
@Entity('jt_heard')
class JtHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @ManyToOne(() => JtHeard) up: Relation<JtHeard> | null;

  @BeforeInsert() inserted(): void {
    if (this.name === 'bad') throw new Error('not this one');
  }
}

for (const entity of [JtPlain, JtHeard]) restify<JtPlain>(entity, { app: 'jt' });

class RolledBack extends Error {}

const INVALID = { response: { status: 400 } };

onEachDatabase('operations in a transaction of the application', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [JtPlain, JtHeard], database, compare: false });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const entity of [JtPlain, JtHeard]) {
      const rows = started.dataSource.getRepository<JtPlain>(entity);
      await rows.createQueryBuilder().update().set({ up: null }).execute();
      await rows.createQueryBuilder().delete().execute();
    }
  });

  /** Runs in a transaction, and rolls it back at the end if `keep` is false. */
  async function inTransaction(
    entity: typeof JtPlain | typeof JtHeard,
    work: (rows: ActorOperations, manager: EntityManager) => Promise<void>,
    keep = true,
  ): Promise<void> {
    await started.dataSource
      .transaction(async (manager) => {
        await work(started.app.get(RestifyResources).of(entity).as(null, { manager }), manager);
        if (!keep) throw new RolledBack();
      })
      .catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
      });
  }
  const namesOf = async (entity: typeof JtPlain | typeof JtHeard): Promise<unknown> => {
    const rows = await started.dataSource.getRepository<JtPlain>(entity).find({ order: { name: 'ASC' } });
    return rows.map(({ name }) => name);
  };

  for (const entity of [JtPlain, JtHeard]) {
    test(`see its rows, and are rolled back with it: ${entity.name}`, async () => {
      await inTransaction(
        entity,
        async (rows, manager) => {
          await manager.getRepository<JtPlain>(entity).insert({ name: 'own' });
          expect(await rows.list()).toMatchObject([{ name: 'own' }]);
          const own = (await rows.list())[0] as { id: number };
          const made = (await rows.create({ name: 'made', up: own.id })) as { id: number };
          expect(await rows.retrieve(made.id)).toMatchObject({ name: 'made', up: own.id });
          await rows.partialUpdate(made.id, { name: 'changed' });
          expect(await manager.getRepository<JtPlain>(entity).findOneBy({ id: made.id })).toMatchObject({
            name: 'changed',
          });
          const seen: unknown[] = [];
          for await (const row of rows.stream({ ordering: 'name' }))
            seen.push((row as { name: string }).name);
          expect(seen).toEqual(['changed', 'own']);
          await rows.destroy(made.id);
          expect(await rows.list()).toHaveLength(1);
        },
        false,
      );
      expect(await namesOf(entity)).toEqual([]);
    });

    test(`are committed with it, and a write that fails changes nothing of it: ${entity.name}`, async () => {
      await inTransaction(entity, async (rows, manager) => {
        await rows.create({ name: 'a' });
        await expect(rows.create({ name: 'a' })).rejects.toMatchObject(INVALID);
        await expect(rows.create({ name: 'b', up: 99 })).rejects.toMatchObject(INVALID);
        await rows.create({ name: 'b' });
        const { id } = (await rows.list({ name: 'b' }))[0] as { id: number };
        await expect(rows.partialUpdate(id, { name: 'a' })).rejects.toMatchObject(INVALID);
        await manager.getRepository<JtPlain>(entity).insert({ name: 'own' });
      });
      expect(await namesOf(entity)).toEqual(['a', 'b', 'own']);
    });
  }

  test('keep what the application has set for the transaction', async () => {
    if (database.name !== 'postgres') return;
    await inTransaction(JtHeard, async (rows, manager) => {
      await manager.query("SET LOCAL TIME ZONE 'Asia/Kolkata'");
      const zone = async (): Promise<unknown> => manager.query("SELECT current_setting('TimeZone') AS zone");
      await rows.create({ name: 'a' });
      expect(await zone()).toEqual([{ zone: 'Asia/Kolkata' }]);
      await expect(rows.create({ name: 'a' })).rejects.toMatchObject(INVALID);
      expect(await zone()).toEqual([{ zone: 'Asia/Kolkata' }]);
    });
  });

  test('need an active transaction of the same data source', async () => {
    const resources = started.app.get(RestifyResources).of(JtPlain);
    const { dataSource } = started;
    await expect(resources.as(null, { manager: dataSource.manager }).list()).rejects.toThrow(
      'no active transaction',
    );
    let ended: EntityManager | undefined;
    await dataSource.transaction((manager) => {
      ended = manager;
      return Promise.resolve();
    });
    if (ended)
      await expect(resources.as(null, { manager: ended }).list()).rejects.toThrow('no active transaction');
    const other = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    await other.transaction(async (manager) => {
      await expect(resources.as(null, { manager }).create({ name: 'x' })).rejects.toThrow(
        'another data source',
      );
    });
    await other.destroy();
  });

  test('are refused at the same time, where one would undo the other', async () => {
    await inTransaction(JtHeard, async (rows) => {
      const both = await Promise.allSettled([rows.create({ name: 'a' }), rows.create({ name: 'b' })]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await rows.list()).toHaveLength(1);
    });
  });
});
