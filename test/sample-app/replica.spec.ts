// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { launchPostgres } from '../support/launch-postgres.cjs';
import type { LaunchedPostgres } from '../support/launch-postgres.cjs';
import { answer, CompiledSample, urlOf } from './sample-process.js';
import type { SampleProcess } from './sample-process.js';

/** A connection of its own for each request, so that workers take turns. */
const APART = { headers: { connection: 'close' } };

/** Half a second of no change is taken for none. */
const A_WHILE = 500;

const BOOKS = '/rest/v1/library/book/';
const AUTHORS = '/rest/v1/library/author/';

/** A primary, a hot standby that streams from it, and the sample application as a cluster on both. */
interface Pair {
  readonly app: SampleProcess;
  readonly primary: pg.Client;
  readonly replica: pg.Client;
}

let sample: CompiledSample;
let pair: Pair | undefined;
const servers: LaunchedPostgres[] = [];

beforeAll(async () => {
  sample = await CompiledSample.compile();
  const server = await launchPostgres();
  if (server) servers.unshift(server);
  const standby = await server?.replica();
  if (!server || !standby) return;
  servers.unshift(standby);
  const [primary, replica] = [
    new pg.Client({ connectionString: server.url }),
    new pg.Client({ connectionString: standby.url }),
  ];
  await Promise.all([primary.connect(), replica.connect()]);
  const app = await sample.start(
    {
      DATABASE_URL: urlOf({ type: 'postgres', url: server.url }),
      REPLICA_URL: standby.url,
      WORKERS: '2',
      PGAPPNAME: 'sample',
    },
    'cluster.js',
  );
  pair = { app: await app.listening(), primary, replica };
  await copied(pair);
}, 180_000);

afterAll(async () => {
  await sample.remove();
  await pair?.replica.end();
  await pair?.primary.end();
  for (const server of servers) await server.stop();
});

/** Without binaries of PostgreSQL there is nothing to start, which CI does not accept. */
function onPair(title: string, run: (pair: Pair) => Promise<void>): void {
  test(title, async () => {
    if (pair) await run(pair);
    else expect(process.env.CI).toBeUndefined();
  });
}

/** Waits until the replica has what the primary has now, what that has not written to its own disk yet included. */
async function copied({ primary, replica }: Pair): Promise<void> {
  const { rows } = await primary.query<{ at: string }>('SELECT pg_current_wal_insert_lsn() AS at');
  for (const deadline = Date.now() + 60_000; ;) {
    const behind = await replica.query<{ is: boolean }>(
      'SELECT pg_last_wal_replay_lsn() < $1::pg_lsn AS is',
      [rows[0]?.at],
    );
    if (behind.rows[0]?.is === false) return;
    if (Date.now() > deadline) throw new Error('The replica does not follow');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** While `run` runs, the replica takes what the primary sends and shows nothing of it. */
async function lagging({ replica }: Pair, run: () => Promise<void>): Promise<void> {
  await replica.query('SELECT pg_wal_replay_pause()');
  // The pause is asked for first, and then begins.
  while (
    (await replica.query<{ state: string }>('SELECT pg_get_wal_replay_pause_state() AS state')).rows[0]
      ?.state !== 'paused'
  )
    await new Promise((resolve) => setTimeout(resolve, 10));
  await run().finally(() => replica.query('SELECT pg_wal_replay_resume()'));
}

onPair('each worker has a pool on the primary and one on the replica', async (each) => {
  const pools = async (client: pg.Client): Promise<readonly string[]> =>
    (
      await client.query<{ name: string }>(
        `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'sample worker %' ORDER BY 1`,
      )
    ).rows.map(({ name }) => name);
  expect(await pools(each.primary)).toEqual(['sample worker 1', 'sample worker 2']);
  expect(await pools(each.replica)).toEqual(['sample worker 1', 'sample worker 2']);
});

onPair('what was written is read from the replica as soon as that has it', async (each) => {
  const { client } = each.app;
  const made = await client.post(AUTHORS, { name: 'Knuth' }, APART);
  expect(made.status).toBe(201);
  await copied(each);
  const { id } = made.json as { id: number };
  for (let round = 0; round < 4; round += 1)
    expect(await answer(client.get(`${AUTHORS}${id}/`, APART))).toEqual([200, made.json]);
});

onPair(
  'while the replica lags, a write returns its values, a read has the old ones, and further writes the new ones',
  async (each) => {
    const { client } = each.app;
    const author = (await client.post(AUTHORS, { name: 'Hoare' })).json as { id: number };
    await copied(each);
    await lagging(each, async () => {
      // The answer of a write comes from the primary.
      const changed = await client.patch(`${AUTHORS}${author.id}/`, { name: 'Tony Hoare' }, APART);
      expect([changed.status, changed.json]).toEqual([200, { ...author, name: 'Tony Hoare' }]);
      const made = await client.post(BOOKS, { title: 'Communicating Sequential Processes' }, APART);
      const book = made.json as { id: number };
      expect(made.status).toBe(201);
      // Reads come from the replica, whichever worker is asked.
      for (let round = 0; round < 4; round += 1) {
        expect(await answer(client.get(`${AUTHORS}${author.id}/`, APART))).toEqual([200, author]);
        expect(await answer(client.get(`${BOOKS}${book.id}/`, APART))).toEqual([
          404,
          { detail: 'Not found.' },
        ]);
        expect(await answer(client.get(`${BOOKS}${book.id}/authors/`, APART))).toEqual([
          404,
          { detail: 'Not found.' },
        ]);
        expect(
          await answer(client.get(`${BOOKS}?title=Communicating%20Sequential%20Processes`, APART)),
        ).toEqual([200, []]);
      }
      // What a write looks for, it finds: the parent in the URL, the key in the body, the object.
      expect(await answer(client.post(`${BOOKS}${book.id}/authors/`, { author: author.id }, APART))).toEqual([
        201,
        { id: author.id, book: book.id, author: author.id },
      ]);
      expect((await client.put(`${BOOKS}${book.id}/`, { title: 'CSP' }, APART)).json).toEqual({
        ...book,
        title: 'CSP',
      });
      await new Promise((resolve) => setTimeout(resolve, A_WHILE));
      expect((await client.get(`${BOOKS}${book.id}/`, APART)).status).toBe(404);
      expect((await client.delete(`${BOOKS}${book.id}/`, APART)).status).toBe(204);
      const kept = await client.post(BOOKS, { title: 'Kept' }, APART);
      await each.replica.query('SELECT pg_wal_replay_resume()');
      await copied(each);
      expect(await answer(client.get(`${BOOKS}${(kept.json as { id: number }).id}/`, APART))).toEqual([
        200,
        kept.json,
      ]);
      expect((await client.get(`${BOOKS}${book.id}/`, APART)).status).toBe(404);
      expect(await answer(client.get(`${AUTHORS}${author.id}/`, APART))).toEqual([200, changed.json]);
    });
  },
);

onPair("reads have the caller's own writes if the primary waits for the replica", async (each) => {
  const { primary, app } = each;
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await primary.query('SELECT pg_reload_conf()');
  const place = new URL(servers[1]?.url ?? '');
  place.searchParams.set('options', '-c synchronous_commit=remote_apply');
  const strict = await sample.start(
    { DATABASE_URL: place.href, REPLICA_URL: servers[0]?.url ?? '', WORKERS: '2' },
    'cluster.js',
  );
  const { client } = await strict.listening();
  for (let round = 0; round < 50; round += 1) {
    const made = await client.post(AUTHORS, { name: `Author ${round}` }, APART);
    expect(made.status).toBe(201);
    expect(await answer(client.get(`${AUTHORS}${(made.json as { id: number }).id}/`, APART))).toEqual([
      200,
      made.json,
    ]);
  }
  expect(await strict.stop()).toBe(0);
  expect(app.output).not.toMatch(/ERROR|WARN/);
});
