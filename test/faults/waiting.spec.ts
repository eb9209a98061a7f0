// @tags db nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { RestifyModule } from 'nestjs-restify';
import { EventSubscriber } from 'typeorm';
import type { DataSourceOptions, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import type { Answer } from '../support/client.js';
import { DATABASES } from '../support/databases.js';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { AWAY, ENTITIES, JOBS } from './domain.js';
import { faultyServer, lentOut, pause, until } from './faulty-server.js';
import type { FaultyServer } from './faulty-server.js';

/** What a write waits for behind its INSERT. */
let blocked: Promise<void> | undefined;
let unblock = (): void => undefined;

@EventSubscriber()
class Blocker implements EntitySubscriberInterface {
  async afterInsert(): Promise<void> {
    await blocked;
  }
}

interface Timed {
  readonly answer: Answer;
  readonly milliseconds: number;
}

async function timed(sent: Promise<Answer>): Promise<Timed> {
  const begun = performance.now();
  const answer = await sent;
  return { answer, milliseconds: performance.now() - begun };
}

function expectAway({ answer }: Timed): void {
  expect([answer.status, answer.json, answer.headers['retry-after']]).toEqual([503, AWAY, '5']);
}

/** In milliseconds: below the 10 s of `acquireTimeout` when nobody chooses, and far above what the tests choose, for machines with other work. */
const BELOW_DEFAULT = 9_000;

/** The answer comes when the chosen time is over. */
function expectAwayAfter(found: Timed, least: number): void {
  expectAway(found);
  expect(found.milliseconds).toBeGreaterThan(least - 20);
  expect(found.milliseconds).toBeLessThan(BELOW_DEFAULT);
}

let started: StartedApp | undefined;
let server: FaultyServer | undefined;
const held: QueryRunner[] = [];

afterEach(async () => {
  unblock();
  blocked = undefined;
  for (const runner of held.splice(0)) {
    for (const statement of ['ROLLBACK', 'UNLOCK TABLES'])
      await runner.query(statement).catch(() => undefined);
    await runner.release();
  }
  server?.flow();
  await started?.close();
  await server?.leave();
  started = server = undefined;
});

async function start(database: TestDatabase, settings: Partial<AppSettings> = {}): Promise<StartedApp> {
  started = await startApp({
    compare: false,
    entities: ENTITIES,
    database,
    restify: { acquireTimeout: 300 },
    ...settings,
  });
  return started;
}

/** The application, with other options of its data source, on a server that can be put out of order. */
async function startFaulty(
  database: TestDatabase,
  options: Partial<Record<'postgres' | 'mariadb', { readonly extra?: object } & Partial<DataSourceOptions>>>,
): Promise<{ app: StartedApp; faulty: FaultyServer }> {
  const faulty = (server = faultyServer(database));
  const open = async (): ReturnType<TestDatabase['open']> => {
    const opened = await faulty.database.open();
    const more = database.name === 'sqlite' ? undefined : options[database.name];
    return {
      ...opened,
      options: {
        ...opened.options,
        ...more,
        extra: { ...(opened.options.extra as object | undefined), ...(more?.extra as object | undefined) },
      } as DataSourceOptions,
    };
  };
  const app = await start({ ...faulty.database, open });
  await app.client.post(JOBS, { code: 'first' });
  return { app, faulty };
}

async function expectServed({ client, dataSource }: StartedApp): Promise<void> {
  await until(async () => (await client.get(JOBS)).status === 200);
  // Three at once, for one caller has no more of four connections, and on a busy machine more would have to wait for too long.
  for (const round of [0, 1]) {
    const answers = await Promise.all(
      Array.from({ length: 3 }, (_, index) => client.post(JOBS, { code: `after${round}${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  }
  await until(
    () => lentOut(dataSource).lent === 0 && lentOut(dataSource).waiting === 0,
    () => lentOut(dataSource),
  );
}

onEachServer('a pool without a free connection', (database) => {
  test('is waited for, and a burst of requests is served one after the other', async () => {
    const { client, dataSource } = await start(database, { restify: {} });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index % 2 === 0 ? client.get(JOBS) : client.post(JOBS, { code: `c${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => (index % 2 === 0 ? 200 : 201)),
    );
    expect(lentOut(dataSource)).toEqual({ lent: 0, waiting: 0 });
  });

  test('is 503 after acquireTimeout for reads and writes, and served again as soon as one is free', async () => {
    const app = await start(database);
    const { client, dataSource } = app;
    expect((await client.post(JOBS, { code: 'first' })).status).toBe(201);
    for (let count = 0; count < 4; count += 1) {
      const runner = dataSource.createQueryRunner();
      await runner.connect();
      held.push(runner);
    }
    const refused = await Promise.all(
      [
        client.get(JOBS),
        client.get(`${JOBS}1/`),
        client.get(`${JOBS}1/parts/`),
        client.post(JOBS, { code: 'lost' }),
        client.patch(`${JOBS}1/`, { votes: 3 }),
        client.delete(`${JOBS}1/`),
      ].map(timed),
    );
    for (const each of refused) expectAwayAfter(each, 300);
    // Those that have given up still stand in the driver's queue: each connection that comes to one goes on at once.
    for (const runner of held.splice(0)) await runner.release();
    await expectServed(app);
    const jobs = (await client.get(JOBS)).json as { code: string; votes: number }[];
    expect([jobs[0]?.votes, jobs.some(({ code }) => code === 'lost')]).toEqual([0, false]);
  });

  test('is awaited for the time of each prefix', async () => {
    const { client, dataSource } = await start(database, {
      restifyModules: [
        RestifyModule.forRoot('rest/v1', { acquireTimeout: 100 }),
        RestifyModule.forRoot('rest/v2', { acquireTimeout: 900 }),
      ],
    });
    for (let count = 0; count < 4; count += 1) {
      const runner = dataSource.createQueryRunner();
      await runner.connect();
      held.push(runner);
    }
    const [short, long] = await Promise.all([
      timed(client.get(JOBS)),
      timed(client.get(JOBS.replace('v1', 'v2'))),
    ]);
    expectAwayAfter(short, 100);
    expectAwayAfter(long, 900);
    expect(long.milliseconds).toBeGreaterThan(short.milliseconds);
  });
});

onEachDatabase('a write that takes its time', (database) => {
  test('keeps others waiting on a database with one connection only, and those no longer than acquireTimeout', async () => {
    const { client } = await start(database, { dataSource: { subscribers: [Blocker] } });
    blocked = new Promise((resolve) => (unblock = resolve));
    const slow = client.post(JOBS, { code: 'slow' });
    await pause(100);
    const [reading, writing] = await Promise.all([
      timed(client.get(JOBS)),
      timed(client.patch(`${JOBS}99/`, {})),
    ]);
    if (database.name === 'sqlite') {
      expectAwayAfter(reading, 300);
      expectAwayAfter(writing, 300);
    } else {
      expect([reading.answer.status, reading.answer.json, writing.answer.status]).toEqual([200, [], 404]);
    }
    unblock();
    expect((await slow).status).toBe(201);
    expect((await client.get(JOBS)).json).toEqual([
      { id: 1, code: 'slow', votes: 0, parts: `${JOBS}1/parts/`, tags: `${JOBS}1/tags/` },
    ]);
  });
});

onEachDatabase('a clock that is set back', (database) => {
  const now = Date.now;
  afterEach(() => {
    Date.now = now;
  });

  test('while requests wait for a connection makes them wait no longer', async () => {
    const { client, dataSource } = await start(database, { dataSource: { subscribers: [Blocker] } });
    blocked = new Promise((resolve) => (unblock = resolve));
    const slow = Array.from({ length: database.name === 'sqlite' ? 1 : 3 }, (_, index) =>
      client.post(JOBS, { code: `slow${index}` }),
    );
    await pause(100);
    // Of four connections one caller has three.
    await until(() => database.name === 'sqlite' || lentOut(dataSource).lent === 3);
    const waiting = timed(client.get(JOBS));
    await pause(100);
    Date.now = () => now() - 3_600_000;
    const found = await Promise.race([waiting, pause(5000)]);
    unblock();
    if (!found) throw new Error('It still waits.');
    expectAwayAfter(found, 300);
    await Promise.all(slow);
  });
});

onEachServer('a statement that the database gives up', (database) => {
  const blockTable =
    database.name === 'postgres'
      ? ['BEGIN', 'LOCK TABLE works_job IN ACCESS EXCLUSIVE MODE']
      : ['LOCK TABLES works_job WRITE'];
  const blockRow = ['START TRANSACTION', 'SELECT id FROM works_job WHERE id = 1 FOR UPDATE'];

  /** On one connection of its own, which is released at the end of the test. */
  async function hold(statements: readonly string[]): Promise<QueryRunner> {
    const runner = await server?.runner();
    if (!runner) throw new Error('No server');
    held.push(runner);
    for (const statement of statements) await runner.query(statement);
    return runner;
  }

  async function limitStatements(app: StartedApp, sql: string): Promise<void> {
    const { pool } = app.dataSource.driver as unknown as {
      pool?: { on(event: 'connection', listener: (connection: { query(sql: string): void }) => void): void };
    };
    pool?.on('connection', (connection) => {
      connection.query(sql);
    });
    // Those that are there already have no limit.
    await server?.killSessions();
    await until(async () => (await app.client.get(JOBS)).status === 200);
  }

  test('for its own length is 503, and its connection is good for the next one', async () => {
    const { app, faulty } = await startFaulty(database, { postgres: { extra: { statement_timeout: 400 } } });
    if (database.name === 'mariadb') await limitStatements(app, 'SET SESSION max_statement_time = 0.4');
    const blocker = await hold(blockTable);
    const found = await Promise.all([
      timed(app.client.get(JOBS)),
      timed(app.client.get(`${JOBS}1/`)),
      timed(app.client.post(JOBS, { code: 'lost' })),
    ]);
    for (const each of found) expectAwayAfter(each, 380);
    await blocker.query(database.name === 'postgres' ? 'ROLLBACK' : 'UNLOCK TABLES');
    await until(() => lentOut(app.dataSource).lent === 0);
    expect((await faulty.sessions()).busy).toBe(0);
    await expectServed(app);
  });

  test('for a lock that does not come is 503, and is not tried again', async () => {
    const { app } = await startFaulty(database, { postgres: { extra: { lock_timeout: 1000 } } });
    if (database.name === 'mariadb') await limitStatements(app, 'SET SESSION innodb_lock_wait_timeout = 1');
    const blocker = await hold(blockRow);
    const [patched, deleted] = await Promise.all([
      timed(app.client.patch(`${JOBS}1/`, { votes: 5 })),
      timed(app.client.delete(`${JOBS}1/`)),
    ]);
    for (const each of [patched, deleted]) {
      expectAwayAfter(each, 900);
      // Five attempts, as after a deadlock, wait for five seconds.
      expect(each.milliseconds).toBeLessThan(4900);
    }
    await blocker.query('ROLLBACK');
    await expectServed(app);
    expect((await app.client.get(`${JOBS}1/`)).json).toEqual(
      expect.objectContaining({ code: 'first', votes: 0 }),
    );
  });
});

onEachServer('a line that lets nothing through', (database) => {
  test('is 503 when the driver gives up the statement, or no new connection comes, and served again when it flows', async () => {
    const { app, faulty } = await startFaulty(database, {
      postgres: { extra: { query_timeout: 400 } },
      mariadb: { maxQueryExecutionTime: 400, enableQueryTimeout: true },
    });
    faulty.stall();
    for (let round = 0; round < 3; round += 1) {
      const found = await Promise.all([
        timed(app.client.get(JOBS)),
        timed(app.client.post(JOBS, { code: 'lost' })),
        timed(app.client.patch(`${JOBS}1/`, { votes: 5 })),
      ]);
      for (const each of found) {
        expectAway(each);
        expect(each.milliseconds).toBeLessThan(BELOW_DEFAULT);
      }
    }
    faulty.flow();
    await expectServed(app);
    await until(async () => (await faulty.sessions()).busy === 0);
  });
});

describe('acquireTimeout', () => {
  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'of %d is refused at start',
    async (acquireTimeout) => {
      const [sqlite] = DATABASES;
      await expect(
        startApp({
          compare: false,
          entities: ENTITIES,
          ...(sqlite ? { database: sqlite } : {}),
          restify: { acquireTimeout },
        }),
      ).rejects.toThrow(
        `RestifyModule.forRoot('rest/v1').acquireTimeout: ${acquireTimeout} is not a valid waiting time. Give milliseconds, above 0 and below 2147483648; without the option they are 10000.`,
      );
    },
  );
});

describe('statementTimeout', () => {
  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '30' as never, true as never])(
    'of %p is refused at start',
    async (statementTimeout) => {
      const [sqlite] = DATABASES;
      await expect(
        startApp({
          compare: false,
          entities: ENTITIES,
          ...(sqlite ? { database: sqlite } : {}),
          restify: { statementTimeout },
        }),
      ).rejects.toThrow(
        `RestifyModule.forRoot('rest/v1').statementTimeout: ${String(statementTimeout)} is not a valid time limit for statements. Give milliseconds, above 0 and below 2147483648, or false for any time; without the option they are 30000.`,
      );
    },
  );
});
