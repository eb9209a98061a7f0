// @tags db nest
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { allow, deny, Restify, RestifyResources, where } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { QueryRunner, Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Nobody implements Permission {
  decide({ method }: AccessContext): Grant | Denial {
    return method === 'GET' ? deny() : allow();
  }
}

class OwnRows implements Permission {
  decide(): Grant {
    return allow({ rows: where('owner', 'me') });
  }
}

class OfOpenWards implements Permission {
  decide(): Grant {
    return allow({ rows: where('ward.owner', 'me') });
  }
}

@Restify({ app: 'del', permissions: [OwnRows], conditional: true })
@Entity('del_ward')
class Ward {
  @PrimaryColumn() id: number;
  @Column({ length: 20, default: 'me' }) owner: string;
}

@Restify('del')
@Entity('del_bed')
class Bed {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Ward, { onDelete: 'RESTRICT' }) ward: Relation<Ward>;
}

@Restify({ app: 'del', permissions: [Nobody] })
@Entity('del_secret')
class Secret {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Ward, { onDelete: 'RESTRICT' }) ward: Relation<Ward>;
}

@Restify('del')
@Entity('del_visit')
class Visit {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Ward, { onDelete: 'CASCADE' }) ward: Relation<Ward>;
}

/** Its rows of no ward are unique. */
@Restify('del')
@Entity('del_shift')
@Unique('del_shift_once', ['ward', 'day'])
class Shift {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 0 }) day: number;
  @ManyToOne(() => Ward, { nullable: true, onDelete: 'SET NULL' }) ward: Relation<Ward> | null;
}

@Restify({ app: 'del', permissions: [OfOpenWards] })
@Entity('del_chart')
class Chart {
  @PrimaryColumn() id: number;
  @Column({ default: 0 }) pages: number;
  @ManyToOne(() => Ward) ward: Relation<Ward>;
}

@Restify({ app: 'del', bulk: true })
@Entity('del_note')
class Note {
  @PrimaryColumn() id: number;
  @VersionColumn() version: number;
  @UpdateDateColumn() updated: Date;
  @DeleteDateColumn() deleted: Date | null;
}

@Restify('del')
@Entity('del_cell')
class Cell {
  @PrimaryColumn({ length: 10 }) row: string;
  @PrimaryColumn() line: number;
}

const ENTITIES = [Ward, Bed, Secret, Visit, Shift, Chart, Note, Cell];
const PATH = '/rest/v1/del';

onEachDatabase('the deletion of one object', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, dataSource: { logging: true, logger: log } });
  });
  afterEach(async () => {
    for (const entity of [...ENTITIES].reverse())
      await started.dataSource.getRepository<object>(entity).createQueryBuilder().delete().execute();
  });
  afterAll(() => started.close());

  const insert = (entity: new () => object, row: object): Promise<object> =>
    started.dataSource.getRepository<object>(entity).insert(row);
  const remove = async (path: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const { status, json } = await started.client.delete(`${PATH}/${path}/`, { headers });
    return status === 204 ? status : [status, json];
  };
  const count = (entity: new () => object): Promise<number> =>
    started.dataSource.getRepository<object>(entity).count({ withDeleted: true });

  test('deletes the row, and what the database deletes with it', async () => {
    await insert(Ward, { id: 1 });
    await insert(Visit, { ward: { id: 1 } });
    await insert(Shift, { ward: { id: 1 } });
    expect(await remove('ward/1')).toBe(204);
    expect([await count(Ward), await count(Visit)]).toEqual([0, 0]);
    expect((await started.client.get(`${PATH}/shift/`)).json).toMatchObject([{ ward: null }]);
  });

  test('is 404 for an object that the caller may not delete, which stays', async () => {
    await insert(Ward, { id: 1, owner: 'other' });
    expect([await remove('ward/1'), await remove('ward/2')]).toEqual([
      [404, { detail: 'Not found.' }],
      [404, { detail: 'Not found.' }],
    ]);
    expect(await count(Ward)).toBe(1);
  });

  test('names the model that refers to the row only to those who may view it', async () => {
    await insert(Ward, { id: 1 });
    await insert(Bed, { ward: { id: 1 } });
    const [status, json] = (await remove('ward/1')) as [number, { detail: string }];
    expect([status, json.detail]).toEqual([409, expect.stringContaining('del.bed')]);
    await started.dataSource.getRepository(Bed).createQueryBuilder().delete().execute();
    await insert(Secret, { ward: { id: 1 } });
    const [hidden, answer] = (await remove('ward/1')) as [number, { detail: string }];
    expect([hidden, answer.detail]).toEqual([409, expect.not.stringContaining('secret')]);
    expect(await count(Ward)).toBe(1);
  });

  test('compares If-Match with the content', async () => {
    await insert(Ward, { id: 1 });
    const { headers } = await started.client.get(`${PATH}/ward/1/`);
    expect(await remove('ward/1', { 'if-match': '"other"' })).toMatchObject([412, {}]);
    expect(await count(Ward)).toBe(1);
    expect(await remove('ward/1', { 'if-match': headers.etag ?? '' })).toBe(204);
  });

  test('is granted by another row', async () => {
    await insert(Ward, { id: 1 });
    await insert(Ward, { id: 2, owner: 'other' });
    await insert(Chart, { id: 1, ward: { id: 1 } });
    await insert(Chart, { id: 2, ward: { id: 2 } });
    expect([await remove('chart/1'), await remove('chart/2')]).toEqual([
      204,
      [404, { detail: 'Not found.' }],
    ]);
    expect(await count(Chart)).toBe(1);
  });

  test('below a parent is 404 for a row of another one', async () => {
    await insert(Ward, { id: 1 });
    await insert(Ward, { id: 2 });
    await insert(Bed, { id: 7, ward: { id: 1 } });
    expect(await remove('ward/2/beds/7')).toEqual(await remove('ward/2/beds/8'));
    expect(await count(Bed)).toBe(1);
  });

  test('finds the row by a key of two columns', async () => {
    await insert(Cell, { row: 'a', line: 1 });
    await insert(Cell, { row: 'a', line: 2 });
    expect(await remove('cell/a,1')).toBe(204);
    expect(await started.dataSource.getRepository(Cell).find()).toEqual([{ row: 'a', line: 2 }]);
  });

  describe('with a date of the deletion', () => {
    const text = (name: string): string =>
      database.name === 'postgres'
        ? `to_char(${name}, 'YYYY-MM-DD HH24:MI:SS.US')` // `::text` leaves trailing zeros out
        : `CAST(${name} AS CHAR)`;

    /** The columns of a row as texts, with their digits replaced where the clock makes them. */
    async function stored(id: number): Promise<unknown> {
      const [row] = await started.dataSource.query<{ version: number; updated: string; deleted: string }[]>(
        `SELECT version, ${text('updated')} AS updated, ${text('deleted')} AS deleted FROM del_note WHERE id = ${id}`,
      );
      const age = (given = ''): string => given.replace(/\d/g, '0');
      return { version: row?.version, updated: age(row?.updated), deleted: age(row?.deleted) };
    }

    test('changes what TypeORM changes', async () => {
      for (const id of [1, 2, 3]) await insert(Note, { id });
      await started.dataSource.getRepository(Note).softDelete(1);
      log.clear();
      expect(await remove('note/2')).toBe(204);
      expect(log.statements.filter((sql) => sql.startsWith('UPDATE'))).toHaveLength(1);
      expect((await started.client.delete(`${PATH}/note/?keys=3`)).status).toBe(204);
      expect(await stored(2)).toEqual(await stored(1));
      expect(await stored(3)).toEqual(await stored(1));
      expect(await remove('note/2')).toEqual([404, { detail: 'Not found.' }]);
      expect((await started.dataSource.getRepository(Note).findOneBy({ id: 1 }))?.version).toBeUndefined();
    });
  });

  test('runs in a transaction of the application, and is rolled back with it', async () => {
    await insert(Ward, { id: 1 });
    await insert(Note, { id: 1 });
    const resources = started.app.get(RestifyResources);
    const failing = started.dataSource.transaction(async (manager) => {
      await resources.of(Ward).as(null, { manager }).destroy(1);
      await resources.of(Note).as(null, { manager }).destroy(1);
      expect(await manager.count(Ward)).toBe(0);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect([await count(Ward), await started.dataSource.getRepository(Note).count()]).toEqual([1, 1]);
  });
});

onEachServer('the deletion of one object beside another transaction', (database) => {
  let started: StartedApp;
  let other: QueryRunner;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, compare: false });
    other = started.dataSource.createQueryRunner();
  });
  afterEach(async () => {
    if (other.isTransactionActive) await other.rollbackTransaction();
    for (const entity of [...ENTITIES].reverse())
      await started.dataSource.getRepository<object>(entity).createQueryBuilder().delete().execute();
  });
  afterAll(async () => {
    await other.release();
    await started.close();
  });

  /** Whether a statement of another connection waits for a lock. */
  async function isWaiting(): Promise<boolean> {
    const sql =
      database.name === 'postgres'
        ? "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%del_%'"
        : "SELECT 1 FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()";
    return (await started.dataSource.query<unknown[]>(sql)).length > 0;
  }

  async function untilWaiting(): Promise<void> {
    // MariaDB reads its locks anew only if nobody has asked for 100 ms.
    while (!(await isWaiting())) await new Promise((resolve) => setTimeout(resolve, 150));
  }

  test('is 404 if the row that granted it no longer does so', async () => {
    const { client, dataSource } = started;
    await dataSource.getRepository(Ward).insert({ id: 1 });
    await dataSource.getRepository(Chart).insert({ id: 1, ward: { id: 1 } });
    await other.startTransaction();
    await other.query("UPDATE del_ward SET owner = 'other' WHERE id = 1");
    await other.query('UPDATE del_chart SET pages = 1 WHERE id = 1');
    const deleting = client.delete(`${PATH}/chart/1/`);
    await untilWaiting();
    await other.commitTransaction();
    expect((await deleting).status).toBe(404);
    expect(await dataSource.getRepository(Chart).count()).toBe(1);
  });

  test('is 404 if the row itself is no longer granted', async () => {
    const { client, dataSource } = started;
    await dataSource.getRepository(Ward).insert({ id: 1 });
    await other.startTransaction();
    await other.query("UPDATE del_ward SET owner = 'other' WHERE id = 1");
    const deleting = client.delete(`${PATH}/ward/1/`);
    await untilWaiting();
    await other.commitTransaction();
    expect((await deleting).status).toBe(404);
    expect(await dataSource.getRepository(Ward).count()).toBe(1);
  });

  test('is 409 if a row that refers to it was inserted meanwhile', async () => {
    const { client, dataSource } = started;
    await dataSource.getRepository(Ward).insert({ id: 1 });
    await other.startTransaction();
    await other.manager.insert(Bed, { ward: { id: 1 } });
    const deleting = client.delete(`${PATH}/ward/1/`);
    await untilWaiting();
    await other.commitTransaction();
    const { status, json } = await deleting;
    expect([status, (json as { detail: string }).detail]).toEqual([409, expect.stringContaining('del.bed')]);
  });
});
