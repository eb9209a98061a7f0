// @tags db nest
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import type { OpenedDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { answer, CompiledSample, listenSomewhere, urlOf } from './sample-process.js';
import type { Environment, SampleProcess } from './sample-process.js';

/** Each test starts three processes and more; compiling the application takes some time too. */

/** A connection of its own for each request, so that workers take turns. */
const APART = { headers: { connection: 'close' } };

const AUTHORS = '/rest/v1/library/author/';

let sample: CompiledSample;
beforeAll(async () => {
  sample = await CompiledSample.compile();
}, 180_000);
afterEach(() => sample.killAll());
afterAll(() => sample.remove());

function start(environment: Environment): Promise<SampleProcess> {
  return sample.start(environment, 'cluster.js');
}

/** A worker as the supervisor has told it. */
interface Told {
  readonly place: string;
  readonly pid: number;
}

/** Those that have answered so far, in the order in which they came. */
function workersOf({ said }: SampleProcess): readonly Told[] {
  return said.flatMap((line) => {
    const [, place, pid] = /^Worker (\d+) answers: process (\d+)$/.exec(line) ?? [];
    return place === undefined ? [] : { place, pid: Number(pid) };
  });
}

/** The one that came as the `index`th. */
function workerOf(app: SampleProcess, index: number): Told {
  const worker = workersOf(app)[index];
  if (!worker) throw new Error(`There are no ${index + 1} workers: ${app.output}`);
  return worker;
}

function isAlive({ pid }: Told): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether nobody listens there any more. */
function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: Error & { code?: string }) => {
      resolve(error.code === 'ECONNREFUSED');
    });
  });
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isSo());) {
    if (Date.now() > deadline) throw new Error(`It does not become so: ${isSo.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

onEachDatabase(
  'the sample application as a cluster',
  (database) => {
    let opened: OpenedDatabase;
    let observer: pg.Client;
    beforeEach(async () => {
      opened = await database.open();
      observer = new pg.Client({ connectionString: urlOf(opened.options) });
      await observer.connect();
    });
    afterEach(async () => {
      await sample.killAll();
      await observer.end();
      await opened.drop();
    });

    const named = `restify-cluster-${process.pid}`;
    const cluster = (more: Environment = {}): Promise<SampleProcess> =>
      start({ DATABASE_URL: urlOf(opened.options), WORKERS: '2', PGAPPNAME: named, ...more });

    /** Those of the workers whose statements wait for the locked table of authors. */
    const waiting = async (): Promise<readonly string[]> => {
      const { rows } = await observer.query<{ name: string }>(
        `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name LIKE '${named} %' AND wait_event_type = 'Lock' ORDER BY 1`,
      );
      return rows.map(({ name }) => name);
    };

    /** Eight new authors, which both workers have begun to write and cannot finish before the table is unlocked. */
    const heldUp = async (
      app: SampleProcess,
    ): Promise<{ readonly answers: Promise<readonly (readonly [number, unknown])[]> }> => {
      await observer.query('BEGIN; LOCK TABLE library_author IN ACCESS EXCLUSIVE MODE');
      // One after the other: of simultaneous connections, a busy machine may give all to one worker.
      const sent: ReturnType<typeof answer>[] = [];
      for (let index = 0; index < 8; index += 1) {
        sent.push(answer(app.client.post(AUTHORS, { name: `Author ${index}` }, APART)));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const answers = Promise.all(sent);
      // Judged where it is awaited.
      answers.catch(() => undefined);
      await until(async () => (await waiting()).length === 2);
      return { answers };
    };

    test('creates its tables and rows once, logs its steps, and serves by all workers on one port', async () => {
      const app = await (await cluster({ SAMPLE_ROWS: 'yes' })).listening();
      const worker = expect.stringMatching(/^Worker [12] answers: process \d+$/);
      expect(app.said).toEqual([
        expect.stringMatching(/^Opening the database postgres:\/\/\*\*\*@/),
        'Wrote sample rows',
        worker,
        worker,
        `Listening on http://127.0.0.1:${app.port}/ with 2 workers`,
      ]);
      expect(
        workersOf(app)
          .map(({ place }) => place)
          .sort(),
      ).toEqual(['1', '2']);
      expect((await observer.query<{ count: string }>('SELECT count(*) FROM migrations')).rows).toEqual([
        { count: '3' },
      ]);
      expect((await app.client.get('/rest/v1/polls/question/')).json).toHaveLength(9);
      const { answers } = await heldUp(app);
      expect(await waiting()).toEqual([`${named} worker 1`, `${named} worker 2`]);
      await observer.query('COMMIT');
      expect((await answers).map(([status]) => status)).toEqual(Array(8).fill(201));
      expect(app.output).not.toMatch(/ERROR|WARN/);
    });

    test('finds by each worker at once what another one wrote, changed and deleted', async () => {
      const app = await (await cluster()).listening();
      for (let round = 0; round < 20; round += 1) {
        const made = await app.client.post(AUTHORS, { name: `made ${round}` }, APART);
        const { id } = made.json as { id: number };
        const url = `${AUTHORS}${id}/`;
        // Four connections in turns: two for each worker.
        const everywhere = (): Promise<readonly (readonly [number, unknown])[]> =>
          Promise.all(Array.from({ length: 4 }, () => answer(app.client.get(url, APART))));
        expect(await everywhere()).toEqual(Array(4).fill([200, made.json]));
        const changed = await app.client.patch(url, { name: `changed ${round}` }, APART);
        expect(await everywhere()).toEqual(
          Array(4).fill([200, { ...(made.json as object), name: `changed ${round}` }]),
        );
        expect(changed.status).toBe(200);
        expect((await app.client.delete(url, APART)).status).toBe(204);
        expect(await everywhere()).toEqual(Array(4).fill([404, { detail: 'Not found.' }]));
      }
    });

    test('goes on answering while a worker is killed, and replaces it', async () => {
      const app = await (await cluster()).listening();
      const [victim, survivor] = [workerOf(app, 0), workerOf(app, 1)];
      process.kill(victim.pid, 'SIGKILL');
      await until(() => !isAlive(victim));
      for (let round = 0; workersOf(app).length < 3 || round < 20; round += 1)
        expect((await app.client.get(AUTHORS, APART)).status).toBe(200);
      const replacement = workerOf(app, 2);
      expect(app.said.slice(-2)).toEqual([
        `Worker ${victim.place} (process ${victim.pid}) ended (SIGKILL): starting another`,
        `Worker ${victim.place} answers: process ${replacement.pid}`,
      ]);
      // The replacement answers, under the name of the one before.
      const { answers } = await heldUp(app);
      await observer.query('COMMIT');
      expect((await answers).map(([status]) => status)).toEqual(Array(8).fill(201));
      expect(await app.stop()).toBe(0);
      expect([survivor, replacement].some(isAlive)).toBe(false);
    });

    test('replaces a worker that receives SIGTERM, after its running requests', async () => {
      const app = await (await cluster({ RESTARTS: '1' })).listening();
      for (const turn of [0, 1]) {
        const told = workerOf(app, turn);
        const { answers } = await heldUp(app);
        process.kill(told.pid, 'SIGTERM');
        await observer.query('COMMIT');
        expect((await answers).map(([status]) => status)).toEqual(Array(8).fill(201));
        await app.saying(`(process ${told.pid}) ended (0): starting another`);
        await until(() => workersOf(app).length === 3 + turn);
      }
      // Nothing was lost: so many may be renewed as there are.
      expect(app.output).not.toMatch(/ERROR|WARN/);
      expect((await app.client.get(AUTHORS, APART)).status).toBe(200);
    });

    test('exits with 0 on SIGTERM while its workers start', async () => {
      const app = await (await cluster({ SAMPLE_ROWS: 'yes' })).saying('Wrote sample rows');
      expect(await app.stop()).toBe(0);
      expect(app.said.slice(2)).toEqual(['SIGTERM: stopping 2 workers', 'All workers have ended']);
    });

    test.each(['SIGTERM', 'SIGINT'] as const)(
      'finishes running requests on %s, and leaves no process',
      async (signal) => {
        const app = await (await cluster()).listening();
        const { answers } = await heldUp(app);
        app.signal(signal);
        await app.saying(`${signal}: stopping 2 workers`);
        // A terminal sends it to every process of the group, and so may a supervisor of services.
        for (const { pid } of workersOf(app)) process.kill(pid, signal);
        await until(() => isRefused(app.port));
        expect(workersOf(app).every(isAlive)).toBe(true);
        await observer.query('COMMIT');
        expect((await answers).map(([status]) => status)).toEqual(Array(8).fill(201));
        expect(await app.exit()).toBe(0);
        expect(workersOf(app).some(isAlive)).toBe(false);
        expect(app.said.slice(-2)).toEqual([`${signal}: stopping 2 workers`, 'All workers have ended']);
        expect(app.output).not.toMatch(/ERROR|WARN/);
        expect(
          (await observer.query(`SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '${named} %'`))
            .rows,
        ).toEqual([]);
      },
    );

    test('kills a worker that does not close in time, and exits with an error code', async () => {
      const app = await (await cluster({ SHUTDOWN_SECONDS: '1' })).listening();
      const { answers } = await heldUp(app);
      expect(await app.stop()).toBe(1);
      await observer.query('COMMIT');
      await expect(answers).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(app.output).toMatch(/Worker 1 did not close within 1 s: ending it/);
      expect(workersOf(app).some(isAlive)).toBe(false);
    });

    test('gives up when workers end again and again', async () => {
      const app = await (await cluster({ RESTARTS: '1' })).listening();
      const [first, second] = [workerOf(app, 0), workerOf(app, 1)];
      process.kill(first.pid, 'SIGKILL');
      await until(() => workersOf(app).length === 3);
      process.kill(second.pid, 'SIGKILL');
      expect(await app.exit()).toBe(1);
      expect(app.said.join('\n')).toMatch(
        new RegExp(
          `\\(process ${second.pid}\\) ended \\(SIGKILL\\), as 2 workers did within a minute: stopping`,
        ),
      );
      expect(workersOf(app).some(isAlive)).toBe(false);
    });

    test('leaves no worker behind when the supervisor itself is killed', async () => {
      const app = await (await cluster()).listening();
      await app.kill();
      await until(() => !workersOf(app).some(isAlive));
    });

    test('logs that the port is in use, and exits with 1', async () => {
      const other = await listenSomewhere();
      const { port } = other.address() as AddressInfo;
      const app = sample.startAt(port, { DATABASE_URL: urlOf(opened.options), WORKERS: '2' }, 'cluster.js');
      try {
        expect(await app.exit()).toBe(1);
        expect(app.said).toContain(`bind EADDRINUSE 127.0.0.1:${port}`);
        expect(app.said.filter((line) => line.includes('before all had started: stopping'))).toHaveLength(1);
        expect(app.output).not.toContain('starting another');
      } finally {
        await new Promise((resolve) => other.close(resolve));
      }
    });
  },
  ['postgres'],
);

describe('a cluster that cannot be', () => {
  const refusal = async (environment: Environment): Promise<readonly (string | undefined)[]> => {
    const app = await start(environment);
    expect(await app.exit()).toBe(1);
    expect(app.said).toHaveLength(1);
    return app.said;
  };

  test.each([
    ['sample-app.sqlite', {}],
    ['sqlite::memory:', { DATABASE_URL: 'sqlite::memory:' }],
    ['sqlite:a-file.sqlite', { DATABASE_URL: 'sqlite:a-file.sqlite' }],
  ])('is refused on %s, with the supported databases', async (name, environment) => {
    expect(await refusal(environment)).toEqual([
      `A cluster needs a database that several processes can use at once, and ${name} is SQLite: in memory each worker would have another one, and a file is written by one at a time. ` +
        'Let DATABASE_URL name PostgreSQL (postgres://user:password@host:5432/database), or serve SQLite from one process: npm start.',
    ]);
  });

  const url = 'postgres://postgres@127.0.0.1:1/nowhere';

  test.each([
    [{ WORKERS: 'many' }, 'WORKERS is "many". It is a whole number from 1 upwards.'],
    [{ RESTARTS: '0' }, 'RESTARTS is "0". It is a whole number from 1 upwards.'],
    [{ SHUTDOWN_SECONDS: '-1' }, 'SHUTDOWN_SECONDS is "-1". It is a whole number from 1 upwards.'],
  ])('is refused where a number is none: %j', async (environment, message) => {
    expect(await refusal({ DATABASE_URL: url, ...environment })).toEqual([message]);
  });

  test('logs that its database is unavailable, and exits with 1 before it starts workers', async () => {
    const app = await start({ DATABASE_URL: url, WORKERS: '2' });
    expect(await app.exit()).toBe(1);
    expect(app.said).toEqual([
      'Opening the database postgres://***@127.0.0.1:1/nowhere',
      expect.stringContaining('ECONNREFUSED'),
    ]);
  });

  test('and a replica of another kind, or of SQLite, are refused in one process too', async () => {
    const other = await sample.start({
      DATABASE_URL: url,
      REPLICA_URL: 'mariadb://root@127.0.0.1:1/nowhere',
    });
    expect(await other.exit()).toBe(1);
    expect(other.said.at(-1)).toBe(
      'REPLICA_URL begins with "mariadb:", and DATABASE_URL with "postgres:". A replica is a copy of the same kind of server.',
    );
    const embedded = await sample.start({
      DATABASE_URL: `sqlite:${join(sample.folder, 'x.sqlite')}`,
      REPLICA_URL: url,
    });
    expect(await embedded.exit()).toBe(1);
    expect(embedded.said.at(-1)).toBe(
      'REPLICA_URL names a replica, and SQLite has none. Let DATABASE_URL name a server (postgres:, mariadb:, mysql:), or leave REPLICA_URL out.',
    );
  });
});
