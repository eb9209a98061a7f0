// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { IdempotencyRecord, ResourceController, Restify, RestifyController, where } from 'nestjs-restify';
import type { HookContext, Json, RowFilter, Write } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn, QueryFailedError } from 'typeorm';
import type { DataSource, EntityManager } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { AWAY } from './domain.js';
import { lentOut, pause, until } from './faulty-server.js';

const TASKS = '/rest/v1/faulthook/task/';

type Act = (manager: EntityManager) => Promise<unknown>;

/** What hooks do; `once` forgets it when it has been done. */
let acts: {
  before?: Act;
  after?: Act;
  values?: () => Promise<unknown>;
  scope?: () => Promise<unknown>;
  completed?: Act;
} = {};
let ran = 0;

@Restify({ app: 'faulthook', idempotency: true, bulk: true })
@Entity('faulthook_task')
class Task {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40, unique: true }) code: string;
  @Column({ length: 40, default: '' }) text: string;
}

@RestifyController(Task)
class TaskController extends ResourceController<Task> {
  override async scope(): Promise<RowFilter> {
    await acts.scope?.();
    return where('id', 'gt', 0);
  }

  override async valuesOnCreate(_: HookContext): Promise<Readonly<Record<string, Json>>> {
    await acts.values?.();
    return {};
  }

  override async beforeWrite({ manager }: Write<Task>): Promise<void> {
    ran += 1;
    await acts.before?.(manager);
  }

  override async afterWrite({ manager }: Write<Task>): Promise<void> {
    await acts.after?.(manager);
  }
}

let started: StartedApp;

function failing(error: Error): () => Promise<never> {
  return () => Promise.reject(error);
}

/** As TypeORM tells what its driver threw. */
function ofDriver(driverError: object): QueryFailedError {
  return new QueryFailedError('SELECT 1', [], Object.assign(new Error('refused'), driverError));
}

/** An error of each kind as this database's driver has it. */
function driverErrors({
  options,
}: DataSource): Readonly<Record<'away' | 'full' | 'timeout' | 'conflict' | 'other', QueryFailedError>> {
  switch (options.type) {
    case 'postgres':
      return {
        away: ofDriver({ code: '57P01' }),
        full: ofDriver({ code: '53100' }),
        timeout: ofDriver({ code: '55P03' }),
        conflict: ofDriver({ code: '40P01' }),
        other: ofDriver({ code: '42P01' }),
      };
    case 'mariadb':
      return {
        away: ofDriver({ errno: 1927 }),
        full: ofDriver({ errno: 1021, code: 'ER_DISK_FULL' }),
        timeout: ofDriver({ errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT' }),
        conflict: ofDriver({ errno: 1213 }),
        other: ofDriver({ errno: 1146 }),
      };
    default:
      return {
        away: ofDriver({ code: 'SQLITE_IOERR_WRITE' }),
        full: ofDriver({ code: 'SQLITE_FULL' }),
        timeout: ofDriver({ code: 'SQLITE_INTERRUPT' }),
        conflict: ofDriver({ code: 'SQLITE_BUSY_SNAPSHOT' }),
        other: ofDriver({ code: 'SQLITE_ERROR' }),
      };
  }
}

const SERVER_ERROR = [500, { detail: 'A server error occurred.' }];

function told({ status, json }: Answer): readonly unknown[] {
  return [status, json];
}

/** Nothing listens at the port of a server that has been closed. */
function refusedConnection(): Promise<never> {
  return new Promise((_, reject) => connect({ host: '127.0.0.1', port: 1 }).once('error', reject));
}

async function expectUntouched(): Promise<void> {
  acts = {};
  expect((await started.client.get(`${TASKS}1/`)).json).toEqual({ id: 1, code: 'first', text: '' });
  expect(((await started.client.get(TASKS)).json as readonly unknown[]).length).toBe(1);
  expect((await started.client.patch(`${TASKS}1/`, { text: '' })).status).toBe(200);
  expect(lentOut(started.dataSource)).toEqual({ lent: 0, waiting: 0 });
}

/** Every write that a hook stands around, with a body that a hook is run for. */
function writes(headers?: Record<string, string>): readonly (() => Promise<Answer>)[] {
  const { client } = started;
  return [
    () => client.post(TASKS, { code: 'made' }),
    () =>
      client.post(
        TASKS,
        { code: 'made' },
        { headers: { 'Idempotency-Key': `"${Math.random()}"`, ...headers } },
      ),
    () => client.patch(`${TASKS}1/`, { text: 'changed' }),
    () => client.delete(`${TASKS}1/`),
    () => client.post(TASKS, [{ code: 'made' }, { code: 'other' }]),
  ];
}

onEachDatabase('a hook', (database) => {
  beforeAll(async () => {
    started = await startApp({
      entities: [Task, IdempotencyRecord],
      controllers: [TaskController],
      database,
    });
    expect((await started.client.post(TASKS, { code: 'first' })).status).toBe(201);
  });
  beforeEach(() => {
    acts = {};
    ran = 0;
  });
  afterAll(() => started.close());

  test.each(['away', 'full', 'timeout'] as const)(
    'whose statement the database fails at (%s) is 503, after one attempt',
    async (kind) => {
      for (const moment of ['before', 'after'] as const) {
        for (const write of writes()) {
          ran = 0;
          acts = { [moment]: failing(driverErrors(started.dataSource)[kind]) };
          const answer = await write();
          expect([...told(answer), answer.headers['retry-after'], ran]).toEqual([503, AWAY, '5', 1]);
          await expectUntouched();
        }
      }
    },
  );

  test('that another transaction stood in the way of is run again', async () => {
    let times = 0;
    acts = {
      after: () =>
        (times += 1) < 3 ? Promise.reject(driverErrors(started.dataSource).conflict) : Promise.resolve(),
    };
    expect((await started.client.patch(`${TASKS}1/`, { text: 'again' })).status).toBe(200);
    expect(times).toBe(3);
    expect((await started.client.patch(`${TASKS}1/`, { text: '' })).status).toBe(200);
  });

  if (database.name === 'sqlite') {
    test('that finds another file locked is run a few times at most', async () => {
      acts = { before: failing(ofDriver({ code: 'SQLITE_BUSY' })) };
      expect([...told(await started.client.patch(`${TASKS}1/`, { text: 'changed' })), ran]).toEqual([
        503,
        AWAY,
        5,
      ]);
      await expectUntouched();
    });
  }

  test('whose statement is wrong is 500', async () => {
    for (const error of [
      driverErrors(started.dataSource).other,
      new Error('The mail server: read timeout'),
    ]) {
      acts = { before: failing(error) };
      for (const write of writes()) expect(told(await write())).toEqual(SERVER_ERROR);
      await expectUntouched();
    }
  });

  test("whose own code asks another server, or a file, is 500, and keeps the transaction's connection", async () => {
    for (const act of [
      refusedConnection,
      () => readFile('/no/such/file'),
      failing(Object.assign(new Error('reset'), { code: 'ECONNRESET' })),
    ]) {
      acts = { before: act };
      for (const write of writes()) expect(told(await write())).toEqual(SERVER_ERROR);
      await expectUntouched();
    }
  });

  test('that chooses rows or values, and fails at the database, is 503; by its own code 500', async () => {
    for (const moment of ['scope', 'values'] as const) {
      acts = { [moment]: failing(driverErrors(started.dataSource).timeout) };
      const asked = (): Promise<Answer> =>
        moment === 'scope' ? started.client.get(TASKS) : started.client.post(TASKS, { code: 'made' });
      expect(told(await asked())).toEqual([503, AWAY]);
      acts = { [moment]: refusedConnection };
      expect(told(await asked())).toEqual(SERVER_ERROR);
      await expectUntouched();
    }
  });
});

onEachServer('a hook that really waits', (database) => {
  const postgres = database.name === 'postgres';
  beforeAll(async () => {
    started = await startApp({
      entities: [Task, IdempotencyRecord],
      controllers: [TaskController],
      database,
    });
    expect((await started.client.post(TASKS, { code: 'first' })).status).toBe(201);
  });
  beforeEach(() => {
    acts = {};
  });
  afterAll(() => started.close());

  test('for a lock, a statement or more room than there is, is 503', async () => {
    const slow = postgres
      ? ["SET LOCAL statement_timeout = '50ms'", 'SELECT pg_sleep(5)']
      : [
          'SET STATEMENT max_statement_time = 0.05 FOR SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c',
        ];
    const room = postgres
      ? [
          "SET LOCAL work_mem = '64kB'",
          'SET LOCAL temp_file_limit = 0',
          'SELECT count(*) FROM (SELECT a FROM generate_series(1, 100000) a ORDER BY a::text) b',
        ]
      : [
          'SET STATEMENT max_heap_table_size = 16384 FOR CREATE TEMPORARY TABLE crowded (a CHAR(255)) ENGINE = MEMORY',
          `INSERT INTO crowded SELECT REPEAT('a', 255) FROM seq_1_to_100000`,
        ];
    for (const statements of [slow, room]) {
      for (const moment of ['before', 'after'] as const) {
        acts = {
          [moment]: async (manager: EntityManager) => {
            if (!postgres) await manager.query('DROP TEMPORARY TABLE IF EXISTS crowded');
            for (const statement of statements) await manager.query(statement);
          },
        };
        for (const write of writes()) expect(told(await write())).toEqual([503, AWAY]);
        await expectUntouched();
      }
    }
  });

  test('for a row that another transaction holds is 503', async () => {
    const runner = started.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM faulthook_task WHERE id = 1 FOR UPDATE');
    acts = {
      before: async (manager) => {
        await manager.query(
          postgres ? "SET LOCAL lock_timeout = '50ms'" : 'SET SESSION innodb_lock_wait_timeout = 1',
        );
        await manager.query("UPDATE faulthook_task SET text = 'lost' WHERE id = 1");
      },
    };
    expect(told(await started.client.post(TASKS, { code: 'made' }))).toEqual([503, AWAY]);
    await runner.rollbackTransaction();
    await runner.release();
    await expectUntouched();
  });

  test('and whose session is ended meanwhile is 503, also where it asks over another connection', async () => {
    const end = async (manager: EntityManager): Promise<void> => {
      const [{ id }] = await manager.query<[{ id: number }]>(
        postgres ? 'SELECT pg_backend_pid() AS id' : 'SELECT CONNECTION_ID() AS id',
      );
      await started.dataSource.query(
        postgres ? `SELECT pg_terminate_backend(${id})` : `KILL CONNECTION ${id}`,
      );
      // The server's process is told of it, and has not ended yet.
      await pause(200);
    };
    for (const write of writes()) {
      acts = { before: async (manager) => end(manager).then(() => manager.query<unknown>('SELECT 1')) };
      expect(told(await write())).toEqual([503, AWAY]);
      acts = { before: async (manager) => end(manager).then(refusedConnection) };
      expect(told(await write())).toEqual([503, AWAY]);
      await expectUntouched();
    }
  });
});

onEachServer('what completes an Idempotency-Key', (database) => {
  const postgres = database.name === 'postgres';
  beforeAll(async () => {
    started = await startApp({
      entities: [Task, IdempotencyRecord],
      controllers: [TaskController],
      database,
    });
  });
  afterAll(() => started.close());

  test('and waits too long for its row is 503, writes nothing, and may be sent again', async () => {
    const runner = started.dataSource.createQueryRunner();
    const post = (): Promise<Answer> =>
      started.client.post(TASKS, { code: 'once' }, { headers: { 'Idempotency-Key': '"a"' } });
    acts = {
      after: async (manager) => {
        acts = {};
        await manager.query(
          postgres ? "SET LOCAL lock_timeout = '50ms'" : 'SET SESSION innodb_lock_wait_timeout = 1',
        );
        await runner.startTransaction();
        await runner.query('SELECT 1 FROM restify_idempotency FOR UPDATE');
      },
    };
    // The claim is given back once the other transaction lets go of its row.
    const asked = post();
    await until(() => runner.isTransactionActive);
    await pause(1500);
    await runner.rollbackTransaction();
    await runner.release();
    expect(told(await asked)).toEqual([503, AWAY]);
    expect((await started.client.get(TASKS)).json).toEqual([]);
    expect(told(await post())).toEqual([201, expect.objectContaining({ code: 'once' })]);
  });
});

onEachServer('bulk writes that have conflicted', (database) => {
  const WRITES = 3;
  let first = 0;
  let active = 0;
  let most = 0;
  beforeEach(() => {
    first = active = most = 0;
  });

  /** Sends bulk writes whose first attempts run at once and conflict; `work` is that of each row in the others. */
  async function conflicting(acquireTimeout: number, work: () => Promise<unknown>): Promise<void> {
    started = await startApp({
      entities: [Task, IdempotencyRecord],
      controllers: [TaskController],
      database,
      restify: { acquireTimeout },
    });
    try {
      const failed = new Set<EntityManager>();
      acts = {
        before: async (manager) => {
          if (first < WRITES) {
            first += 1;
            failed.add(manager);
            await until(() => first === WRITES);
          }
          if (failed.delete(manager)) throw driverErrors(started.dataSource).conflict;
          active += 1;
          most = Math.max(most, active);
          await work();
          active -= 1;
        },
      };
      const write = (at: number): Promise<Answer> =>
        started.client.post(TASKS, [{ code: `${at}a` }, { code: `${at}b` }]);
      const answers = await Promise.all(Array.from({ length: WRITES }, (_, at) => write(at)));
      expect(answers.map(({ status }) => status)).toEqual(Array(WRITES).fill(201));
    } finally {
      acts = {};
      await started.close();
    }
  }

  test('are tried again one after the other', async () => {
    await conflicting(10_000, () => pause(60));
    expect(most).toBe(1);
  });

  test('wait for each other as long as for a connection', async () => {
    await conflicting(200, async () => Promise.race([until(() => most > 1), pause(5000)]));
    expect(most).toBeGreaterThan(1);
  });
});
