// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MaxLength } from 'class-validator';
import { allow, restify, RestifyResources, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { BeforeInsert, Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Written by statements of the adapter. */
@Entity('duplicate_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ default: true }) open: boolean;
  @ManyToOne(() => Plain) up: Relation<Plain> | null;
}

/** Written by statements of the adapter once validators have seen the entity. */
@Entity('duplicate_valid')
class Valid {
  @PrimaryGeneratedColumn() id: number;
  @MaxLength(10) @Column({ length: 20, unique: true }) name: string;
  @Column({ default: true }) open: boolean;
  @ManyToOne(() => Valid) up: Relation<Valid> | null;
}

/** Written by TypeORM. */
@Entity('duplicate_heard')
class Heard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ default: true }) open: boolean;
  @ManyToOne(() => Heard) up: Relation<Heard> | null;

  @BeforeInsert() inserted(): void {
    // Has a listener.
  }
}

const ENTITIES = [Plain, Valid, Heard];

class OpenRows implements Permission {
  decide(): Grant {
    return allow({ rows: where('open', true) });
  }
}

for (const entity of ENTITIES) restify<Plain>(entity, { app: 'duplicate', permissions: [OpenRows] });

const MUST_BE_UNIQUE = { name: ['This field must be unique.'] };

onEachDatabase('a duplicate value costs one failed statement', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  let first: number;
  let second: number;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      database,
      dataSource: { logging: ['query', 'error'], logger: log },
      compare: false,
    });
  });
  afterAll(() => started.close());

  for (const entity of ENTITIES) {
    const path = `/rest/v1/duplicate/${entity.name.toLowerCase()}/`;

    async function prepareRows(): Promise<void> {
      const rows = started.dataSource.getRepository<Plain>(entity);
      await rows.createQueryBuilder().update().set({ up: null }).execute();
      await rows.createQueryBuilder().delete().execute();
      ({ id: first } = await rows.save({ name: 'a' }));
      ({ id: second } = await rows.save({ name: 'b' }));
      log.clear();
    }

    test(`over HTTP: ${entity.name}`, async () => {
      await prepareRows();
      const { client } = started;
      for (const send of [
        () => client.post(path, { name: 'a' }),
        () => client.post(path, { name: 'a', up: second }),
        () => client.patch(`${path}${second}/`, { name: 'a' }),
        () => client.patch(`${path}${second}/`, { name: 'a', up: first }),
        () => client.put(`${path}${second}/`, { name: 'a' }),
      ]) {
        log.clear();
        expect(await send()).toMatchObject({ status: 400, json: MUST_BE_UNIQUE });
        expect(log.failed).toHaveLength(1);
      }
      const rows = started.dataSource.getRepository<Plain>(entity);
      expect((await rows.find({ order: { id: 'ASC' } })).map(({ name }) => name)).toEqual(['a', 'b']);
    });

    test(`other errors are reported before it: ${entity.name}`, async () => {
      await prepareRows();
      const { client } = started;
      expect(await client.post(path, { name: 'a', up: 0 })).toMatchObject({
        status: 400,
        json: { up: expect.anything() },
      });
      expect(await client.patch(`${path}${second}/`, { name: 'a', up: 0 })).toMatchObject({
        status: 400,
        json: { up: expect.anything() },
      });
      // The grant hides the row that the write would make.
      expect((await client.post(path, { name: 'a', open: false })).status).toBe(403);
      expect((await client.patch(`${path}${second}/`, { name: 'a', open: false })).status).toBe(403);
      expect((await client.patch(`${path}0/`, { name: 'a' })).status).toBe(404);
    });

    test(`in a transaction of the application: ${entity.name}`, async () => {
      await prepareRows();
      await started.dataSource.transaction(async (manager) => {
        const rows = started.app.get(RestifyResources).of(entity).as(null, { manager });
        for (const write of [
          () => rows.create({ name: 'a' }),
          () => rows.partialUpdate(second, { name: 'a' }),
        ]) {
          log.clear();
          await expect(write()).rejects.toMatchObject({ response: { status: 400, body: MUST_BE_UNIQUE } });
          expect(log.failed).toHaveLength(1);
        }
        await rows.create({ name: 'c' });
      });
      const rows = started.dataSource.getRepository<Plain>(entity);
      expect(await rows.countBy({ name: 'c' })).toBe(1);
    });
  }
});
