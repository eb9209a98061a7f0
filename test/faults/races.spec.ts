// @tags db nest
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { EventSubscriber } from 'typeorm';
import type { EntitySubscriberInterface, QueryRunner, UpdateEvent } from 'typeorm';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { AWAY, ENTITIES, Job, JOBS, Tag } from './domain.js';
import { faultyServer, lentOut, pause, until } from './faulty-server.js';
import type { FaultyServer } from './faulty-server.js';

onEachDatabase('many who write the same at once', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ compare: false, entities: ENTITIES, database });
  });
  afterAll(() => started.close());

  test.each(['a', 'b', 'c'])(
    'make one object of a unique key: one 201, the others 400 (%s)',
    async (code) => {
      const answers = await Promise.all(
        Array.from({ length: 24 }, () => started.client.post(JOBS, { code })),
      );
      const refused = answers.filter(({ status }) => status !== 201);
      expect(answers.length - refused.length).toBe(1);
      expect(refused.map(({ status, json }) => [status, json])).toEqual(
        Array.from({ length: 23 }, () => [400, { code: ['This field must be unique.'] }]),
      );
      expect(await started.dataSource.getRepository(Job).countBy({ code })).toBe(1);
    },
  );

  test('leave one of several with a unique key by PATCH', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) => started.client.post(JOBS, { code: `p${index}` })),
    );
    const answers = await Promise.all(
      made.map(({ json }) =>
        started.client.patch(`${JOBS}${String((json as { id: number }).id)}/`, { code: 'same' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 400),
    ]);
    expect(await started.dataSource.getRepository(Job).countBy({ code: 'same' })).toBe(1);
  });

  test('make one pair of a junction: one 201, the others 400', async () => {
    const { id } = await started.dataSource.getRepository(Tag).save({});
    const job = (await started.client.post(JOBS, { code: 'paired' })).json as { id: number };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => started.client.post(`${JOBS}${job.id}/tags/`, { tag: id })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array.from({ length: 11 }, () => 400),
    ]);
    expect(answers.find(({ status }) => status === 400)?.json).toEqual({
      non_field_errors: ['The fields job, tag must make a unique set.'],
    });
    expect((await started.client.get(`${JOBS}${job.id}/tags/`)).json).toHaveLength(1);
  });

  test('delete one object once', async () => {
    const job = (await started.client.post(JOBS, { code: 'gone' })).json as { id: number };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => started.client.delete(`${JOBS}${job.id}/`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      204,
      ...Array.from({ length: 7 }, () => 404),
    ]);
  });
});

/** What a write does to others at a moment of its transaction. */
const hooks: {
  begun?: ((runner: QueryRunner) => Promise<void>) | undefined;
  updating?: ((event: UpdateEvent<Job>) => Promise<void>) | undefined;
  committed?: (() => Promise<void>) | undefined;
} = {};
let transactions = 0;

@EventSubscriber()
class Hooks implements EntitySubscriberInterface<Job> {
  async afterTransactionStart({ queryRunner }: { queryRunner: QueryRunner }): Promise<void> {
    transactions += 1;
    await hooks.begun?.(queryRunner);
  }

  async afterUpdate(event: UpdateEvent<Job>): Promise<void> {
    await hooks.updating?.(event);
  }

  async afterTransactionCommit(): Promise<void> {
    await hooks.committed?.();
  }
}

/** PostgreSQL knows serialization failures above READ COMMITTED only; MariaDB is at REPEATABLE READ, and knows deadlocks only. */
function repeatableRead({ database }: FaultyServer): FaultyServer['database']['open'] {
  return async () => {
    const opened = await database.open();
    if (database.name !== 'postgres') return opened;
    const { options } = opened.options.extra as { options: string };
    const extra = {
      ...(opened.options.extra as object),
      options: `${options} -c default_transaction_isolation=repeatable\\ read`,
    };
    return { ...opened, options: { ...opened.options, extra } as typeof opened.options };
  };
}

onEachServer("transactions that stand in each other's way", (database) => {
  let server: FaultyServer;
  let started: StartedApp;
  beforeAll(async () => {
    server = faultyServer(database);
    started = await startApp({
      compare: false,
      entities: ENTITIES,
      database: { ...server.database, open: repeatableRead(server) },
      dataSource: { subscribers: [Hooks] },
    });
  });
  beforeEach(async () => {
    await server.query('DELETE FROM works_job');
    for (const id of [1, 2])
      await server.query(`INSERT INTO works_job (id, code, votes) VALUES (${id}, 'c${id}', 0)`);
    transactions = 0;
  });
  afterEach(() => {
    hooks.begun = hooks.updating = hooks.committed = undefined;
  });
  afterAll(async () => {
    await started.close();
    await server.leave();
  });
  const votes = async (): Promise<readonly number[]> =>
    (await server.query<{ votes: number }>('SELECT votes FROM works_job ORDER BY id')).map(
      (row) => row.votes,
    );

  test('by a deadlock are both answered with 200: the one that was rolled back is begun anew', async () => {
    let met = 0;
    let meet = (): void => undefined;
    const both = new Promise<void>((resolve) => (meet = resolve));
    hooks.updating = async ({ entity, manager }) => {
      // Each holds its own row, and wants that of the other.
      if ((met += 1) === 2) meet();
      await both;
      await manager.query(`UPDATE works_job SET votes = votes + 1 WHERE id = ${entity?.id === 1 ? 2 : 1}`);
    };
    const answers = await Promise.all([
      started.client.patch(`${JOBS}1/`, { code: 'one' }),
      started.client.patch(`${JOBS}2/`, { code: 'two' }),
    ]);
    expect(answers.map(({ status, json }) => [status, (json as { code: string }).code])).toEqual([
      [200, 'one'],
      [200, 'two'],
    ]);
    // Three, and a fourth where the one that begins anew still sees the rows of before the other's commit.
    expect([3, 4]).toContain(transactions);
    expect(await votes()).toEqual([1, 1]);
    expect((await server.sessions()).busy).toBe(0);
  });

  /** Another transaction gets in the way of so many attempts of ours, so that the database gives ours up. */
  function standInTheWay(times: number): void {
    let left = times;
    const other = async (): Promise<QueryRunner | undefined> => {
      if (left === 0) return undefined;
      left -= 1;
      const runner = await server.runner();
      await runner.query('START TRANSACTION');
      return runner;
    };
    const end = async (runner: QueryRunner): Promise<void> => {
      await runner.query('COMMIT');
      await runner.release();
    };
    if (database.name === 'postgres') {
      hooks.begun = async () => {
        const runner = await other();
        if (!runner) return;
        await runner.query('UPDATE works_job SET votes = votes + 1 WHERE id = 1');
        // Ours waits for the row by then, with an older state of it.
        void pause(100).then(() => end(runner));
      };
      return;
    }
    hooks.updating = async ({ manager }) => {
      const runner = await other();
      if (!runner) return;
      // The heavier one wins.
      for (let count = 0; count < 20; count += 1)
        await runner.query('UPDATE works_job SET votes = votes + 1 WHERE id = 2');
      void runner.query('UPDATE works_job SET votes = votes + 1 WHERE id = 1').then(() => end(runner));
      await pause(100);
      await manager.query('UPDATE works_job SET votes = votes + 1 WHERE id = 2');
    };
  }

  test.each([1, 2, 4])('%d times are begun anew, and answered with 200 in the end', async (times) => {
    standInTheWay(times);
    const answer = await started.client.patch(`${JOBS}1/`, { code: 'new' });
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({ code: 'new', votes: times }),
    ]);
    expect(transactions).toBe(times + 1);
    expect((await votes())[0]).toBe(times);
  });

  test('again and again are 503 after five attempts, and nothing of it stays', async () => {
    standInTheWay(50);
    const answer = await started.client.patch(`${JOBS}1/`, { code: 'new' });
    expect([answer.status, answer.json, answer.headers['retry-after']]).toEqual([503, AWAY, '5']);
    expect(transactions).toBe(5);
    hooks.begun = hooks.updating = undefined;
    await until(async () => (await votes())[0] === 5);
    expect(await server.query('SELECT code FROM works_job ORDER BY id')).toEqual([
      { code: 'c1' },
      { code: 'c2' },
    ]);
    expect(lentOut(started.dataSource).lent).toBe(0);
    expect((await started.client.patch(`${JOBS}1/`, { code: 'new' })).status).toBe(200);
  });

  test('behind the COMMIT are not begun anew: it is written once', async () => {
    let failed = 0;
    hooks.committed = () => {
      failed += 1;
      return Promise.reject(
        Object.assign(new Error('could not serialize access'), {
          code: database.name === 'postgres' ? '40001' : 'ER_LOCK_DEADLOCK',
        }),
      );
    };
    await server.query('DELETE FROM works_job');
    const answer = await started.client.post(JOBS, { code: 'third' });
    expect(answer.status).toBe(201);
    expect([failed, transactions]).toEqual([1, 1]);
    expect(await server.query("SELECT votes FROM works_job WHERE code = 'third'")).toHaveLength(1);
    expect(lentOut(started.dataSource).lent).toBe(0);
  });
});
