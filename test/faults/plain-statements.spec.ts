// @tags db nest
import { afterEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { AWAY, ENTITIES, JOBS } from './domain.js';
import { faultyServer, lentOut, until } from './faulty-server.js';
import type { FaultyServer } from './faulty-server.js';
import { StatementLog } from './statement-log.js';

@Restify('works')
@Entity('works_late')
@Unique('late_code', ['code'], { deferrable: 'INITIALLY DEFERRED' })
class Late {
  @PrimaryGeneratedColumn() id: number;
  @Column() code: string;
}

let started: StartedApp | undefined;
let server: FaultyServer | undefined;

async function start(settings: Partial<AppSettings>): Promise<StartedApp> {
  started = await startApp({ compare: false, entities: ENTITIES, ...settings });
  return started;
}

afterEach(async () => {
  await started?.close();
  await server?.leave();
  started = server = undefined;
});

onEachServer('the first write of a table', (database) => {
  test('is 503 while the database is unavailable, and written afterwards', async () => {
    server = faultyServer(database);
    const { client } = await start({ database: server.database });
    await server.cut();
    const answer = await client.post(JOBS, { code: 'lost' });
    expect([answer.status, answer.json]).toEqual([503, AWAY]);
    await server.mend();
    await until(async () => (await client.get(JOBS)).status === 200);
    expect((await client.post(JOBS, { code: 'kept' })).status).toBe(201);
    expect(await server.query('SELECT code FROM works_job')).toEqual([{ code: 'kept' }]);
  });
});

/** Every connection of the pool. */
async function onAll(
  app: StartedApp,
  act: (runner: QueryRunner, index: number) => Promise<unknown>,
): Promise<void> {
  const runners = Array.from({ length: 4 }, () => app.dataSource.createQueryRunner());
  await Promise.all(runners.map((runner) => runner.connect()));
  for (const [index, runner] of runners.entries()) await act(runner, index);
  await Promise.all(runners.map((runner) => runner.release()));
}

async function names(app: StartedApp): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  await onAll(app, async (runner) => {
    for (const { name, statement } of (await runner.query(
      'SELECT name, statement FROM pg_prepared_statements',
    )) as { name: string; statement: string }[])
      found.set(name, statement);
  });
  return found;
}

/** Each way of asking, several at once, so that all of the pool are used. */
async function askAll({ client }: StartedApp, votes: number): Promise<void> {
  const answers = await Promise.all(
    [1, 2, 3, 4].flatMap((round) => [
      client.get(JOBS),
      client.get(`${JOBS}1/`),
      client.get(`${JOBS}1/parts/`),
      client.get(`${JOBS}99/parts/`),
      client.patch(`${JOBS}1/`, { votes }),
      client.post(JOBS, { code: `v${votes} ${round}` }),
    ]),
  );
  expect(answers.map(({ status }) => status)).toEqual(
    [1, 2, 3, 4].flatMap(() => [200, 200, 200, 404, 200, 201]),
  );
}

onEachDatabase(
  'statements that are kept prepared',
  (database) => {
    const begin = async (): Promise<StartedApp> => {
      const app = await start({ database });
      await app.client.post(JOBS, { code: 'one' });
      await askAll(app, 1);
      await askAll(app, 2);
      return app;
    };

    test('are prepared again after the sessions have lost them', async () => {
      const app = await begin();
      // A list, an object and a create; the nested list is planned for each parent.
      expect((await names(app)).size).toBeGreaterThan(2);
      await onAll(app, (runner) => runner.query('DEALLOCATE ALL'));
      await askAll(app, 3);
      // Some that were on their way are prepared once more, and none behind them.
      const left = [...(await names(app)).keys()].sort();
      await askAll(app, 4);
      expect([...(await names(app)).keys()].sort()).toEqual(left);
    });

    test('are executed although other code has prepared the same names in the session', async () => {
      const app = await begin();
      const known = [...(await names(app)).keys()];
      await app.close();
      const other = await start({ database });
      await other.client.post(JOBS, { code: 'one' });
      await onAll(other, async (runner) => {
        for (const name of known) await runner.query(`PREPARE "${name}" AS SELECT 1`).catch(() => undefined);
      });
      await askAll(other, 1);
      await askAll(other, 2);
    });

    test('outlive a change of the table while the application runs', async () => {
      const app = await begin();
      await app.dataSource.query(
        'ALTER TABLE works_job ALTER COLUMN votes TYPE smallint, ALTER COLUMN code TYPE text',
      );
      await askAll(app, 3);
      await askAll(app, 4);
      expect((await app.client.get(`${JOBS}1/`)).json).toMatchObject({ code: 'one', votes: 4 });
    });

    test('are as many as shapes, and values stand in none', async () => {
      const app = await begin();
      const before = (await names(app)).size;
      await askAll(app, 5);
      const after = await names(app);
      expect(after.size).toBe(before);
      expect([...after.values()].join()).not.toMatch(/'v\d|= ?\d+ AND/);
    });
  },
  ['postgres'],
);

onEachServer('a connection that is lost in a plain write', (database) => {
  test('is 503, and the write is not tried twice', async () => {
    server = faultyServer(database);
    const log = new StatementLog();
    const app = await start({ database: server.database, dataSource: { logger: log, logging: true } });
    await app.client.post(JOBS, { code: 'first' });
    log.statements.length = 0;
    const holder = await server.runner();
    await holder.startTransaction();
    await holder.query(`INSERT INTO works_job (code) VALUES ('x')`);
    const waiting = app.client.post(JOBS, { code: 'x' });
    await until(() => log.statements.some((each) => each.startsWith('INSERT')));
    await server.cut();
    const answer = await waiting;
    await server.mend();
    await holder.rollbackTransaction();
    await holder.release();
    expect([answer.status, answer.json]).toEqual([503, AWAY]);
    expect(log.statements.filter((each) => each.startsWith('INSERT'))).toHaveLength(1);
    await until(async () => (await app.client.get(JOBS)).status === 200);
    expect((await app.client.post(JOBS, { code: 'y' })).status).toBe(201);
    expect(lentOut(app.dataSource)).toEqual({ lent: 0, waiting: 0 });
  });

  test('is logged as slow, where it waits for others', async () => {
    server = faultyServer(database);
    const log = new StatementLog();
    const { client } = await start({
      database: server.database,
      dataSource: { logger: log, logging: true, maxQueryExecutionTime: 100 },
    });
    await client.post(JOBS, { code: 'first' });
    log.statements.length = log.slow.length = 0;
    const holder = await server.runner();
    await holder.startTransaction();
    await holder.query('UPDATE works_job SET votes = 7');
    const waiting = client.patch(`${JOBS}1/`, { code: 'second' });
    await until(() =>
      log.statements.some((each) => each.startsWith('UPDATE') || each.includes('FOR UPDATE')),
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    await holder.commitTransaction();
    await holder.release();
    expect((await waiting).json).toMatchObject({ code: 'second', votes: 7 });
    expect(log.slow).toHaveLength(1);
  });
});

onEachDatabase('statements of plain rows', (database) => {
  test('are seen by the logger, and by a subscriber that comes while the application runs', async () => {
    const log = new StatementLog();
    const { client, dataSource } = await start({ database, dataSource: { logger: log, logging: true } });
    const ask = async (code: string, votes: number): Promise<void> => {
      expect((await client.post(JOBS, { code })).status).toBe(201);
      expect((await client.patch(`${JOBS}1/`, { votes })).status).toBe(200);
      expect((await client.get(`${JOBS}1/`)).status).toBe(200);
      expect((await client.post(JOBS, { code })).status).toBe(400);
    };
    const kinds = (statements: readonly string[]): readonly boolean[] =>
      ['INSERT', 'UPDATE', 'SELECT'].map((verb) => statements.some((each) => each.startsWith(verb)));
    await ask('logged', 3);
    expect([...kinds(log.statements), log.failed.some((each) => each.startsWith('INSERT'))]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    const seen: string[] = [];
    const subscriber: EntitySubscriberInterface = { beforeQuery: ({ query }) => void seen.push(query) };
    dataSource.subscribers.push(subscriber);
    await ask('watched', 4);
    expect(kinds(seen)).toEqual([true, true, true]);
  });
});

onEachDatabase(
  'a plain write whose constraint is looked at when it is done',
  (database) => {
    test('is refused by it', async () => {
      const { client } = await start({ database, entities: [Late] });
      const url = '/rest/v1/works/late/';
      for (const code of ['a', 'b']) expect((await client.post(url, { code })).status).toBe(201);
      for (const refused of [
        await client.post(url, { code: 'a' }),
        await client.patch(`${url}2/`, { code: 'a' }),
      ]) {
        expect([refused.status, refused.json]).toEqual([400, { code: ['This field must be unique.'] }]);
      }
      expect((await client.get(url)).json).toEqual([
        { id: 1, code: 'a' },
        { id: 2, code: 'b' },
      ]);
    });
  },
  ['postgres'],
);
