// @tags nest
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { IdempotencyRecord, ResourceController, Restify, RestifyController } from 'nestjs-restify';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Answer } from '../support/client.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { AWAY } from './domain.js';
import { pause } from './faulty-server.js';

@Restify({ app: 'lock', bulk: true })
@Entity('lock_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@Restify({ app: 'lock', bulk: true, idempotency: true })
@Entity('lock_letter')
class Letter {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

/** Read through TypeORM. */
@Restify({ app: 'lock', computed: { loud: (memo: object) => (memo as Memo).text.toUpperCase() } })
@Entity('lock_memo')
class Memo {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

/** How often a hook has run. */
let ran = 0;

@RestifyController(Letter)
class LetterController extends ResourceController<Letter> {
  override beforeWrite(): Promise<void> {
    ran += 1;
    return Promise.resolve();
  }
}

const NOTES = '/rest/v1/lock/note/';
const LETTERS = '/rest/v1/lock/letter/';
const MEMOS = '/rest/v1/lock/memo/';
const HELD = 600;
/** The application's own time to wait. A process that waits in its own thread stands still for all of it, for nobody releases the file then. */
const DRIVER_TIMEOUT = 120_000;
/** Half of that: no machine with other work reaches it. */
const STILL = 60_000;

let folder: string;
let started: StartedApp;
let holder: DataSource;

beforeEach(async () => {
  ran = 0;
  folder = await mkdtemp(join(tmpdir(), 'restify-locked-'));
});

afterEach(async () => {
  await holder.destroy();
  await started.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(mode: 'delete' | 'wal', acquireTimeout = 10_000): Promise<StartedApp> {
  const database = join(folder, 'locked.sqlite');
  started = await startApp({
    compare: false,
    entities: [Note, Letter, Memo, IdempotencyRecord],
    controllers: [LetterController],
    restify: { acquireTimeout },
    dataSource: { type: 'better-sqlite3', database, timeout: DRIVER_TIMEOUT },
  });
  await started.dataSource.query(`PRAGMA journal_mode = ${mode}`);
  for (const path of [NOTES, LETTERS, MEMOS])
    for (const text of ['first', 'second'])
      expect((await started.client.post(path, { text })).status).toBe(201);
  ran = 0;
  // As another process would: locks are between connections.
  holder = await new DataSource({ type: 'better-sqlite3', database, timeout: 0 }).initialize();
  return started;
}

/** The longest time for which nothing else ran in this process. */
function watchLoop(): () => number {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  return () => {
    clearInterval(timer);
    return Math.max(longest, performance.now() - last);
  };
}

/** What others are answered while the file is locked, and what those who need it are answered behind that. */
async function whileLocked<Answers>(
  lock: readonly string[],
  send: () => Answers,
): Promise<{ readonly answers: Answers; readonly longest: number; readonly meanwhile: readonly number[] }> {
  const { client } = started;
  for (const statement of lock) await holder.query(statement);
  const longest = watchLoop();
  const answers = send();
  await pause(50);
  const begun = performance.now();
  const others = await Promise.all([
    client.get('/'),
    client.send('OPTIONS', NOTES),
    client.get(`${NOTES}x/y/z/`),
    client.put(NOTES, {}),
    client.get(NOTES, { headers: { accept: 'image/png' } }),
  ]);
  expect(performance.now() - begun).toBeLessThan(STILL);
  await pause(HELD);
  const found = longest();
  await holder.query('ROLLBACK');
  return { answers, longest: found, meanwhile: others.map(({ status }) => status) };
}

const OTHERS = [200, 200, 404, 405, 406];

function writes(): readonly Promise<Answer>[] {
  const { client } = started;
  return [
    client.post(NOTES, { text: 'one' }),
    client.post(NOTES, [{ text: 'two' }, { text: 'three' }]),
    client.patch(`${NOTES}1/`, { text: 'changed' }),
    client.delete(`${NOTES}2/`),
    client.post(LETTERS, { text: 'one' }),
    client.post(LETTERS, { text: 'once' }, { headers: { 'idempotency-key': 'once' } }),
  ];
}

async function texts(path: string): Promise<unknown> {
  return ((await started.client.get(path)).json as { text: string }[]).map(({ text }) => text).sort();
}

async function busyTimeout(): Promise<unknown> {
  const [record] = await started.dataSource.query<Record<string, unknown>[]>('PRAGMA busy_timeout');
  return Object.values(record ?? {})[0];
}

describe.each(['delete', 'wal'] as const)(
  'a file that another process writes to, with the journal mode %s',
  (mode) => {
    test('delays writers only', async () => {
      await start(mode);
      const { answers, longest, meanwhile } = await whileLocked(
        [mode === 'wal' ? 'BEGIN IMMEDIATE' : 'BEGIN EXCLUSIVE'],
        writes,
      );
      expect(meanwhile).toEqual(OTHERS);
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([
        201, 201, 200, 204, 201, 201,
      ]);
      expect(longest).toBeLessThan(STILL);
      expect(await texts(NOTES)).toEqual(['changed', 'one', 'three', 'two']);
      expect(await texts(LETTERS)).toEqual(['first', 'once', 'one', 'second']);
      expect(ran).toBe(2);
      expect(await busyTimeout()).toBe(DRIVER_TIMEOUT);
    });

    test('is waited for by those who read, where it keeps them out', async () => {
      await start(mode);
      const { client } = started;
      const sent = (): readonly Promise<Answer>[] => [
        client.get(NOTES),
        client.get(`${NOTES}1/`),
        client.get(MEMOS),
        client.get(`${MEMOS}1/`),
        client.get(`${NOTES}99/`),
      ];
      const { answers, longest, meanwhile } = await whileLocked(
        [mode === 'wal' ? 'BEGIN IMMEDIATE' : 'BEGIN EXCLUSIVE'],
        sent,
      );
      expect(meanwhile).toEqual(OTHERS);
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
      expect(longest).toBeLessThan(STILL);
      expect(await busyTimeout()).toBe(DRIVER_TIMEOUT);
    });

    test('is 503 when it is not free in time, and nothing is stored', async () => {
      await start(mode, 300);
      const { answers, longest } = await whileLocked(['BEGIN IMMEDIATE'], () => Promise.all(writes()));
      for (const { status, json, headers } of await answers)
        expect([status, json, headers['retry-after']]).toEqual([503, AWAY, '5']);
      expect(longest).toBeLessThan(STILL);
      expect([await texts(NOTES), await texts(LETTERS), ran]).toEqual([
        ['first', 'second'],
        ['first', 'second'],
        0,
      ]);
      expect((await Promise.all(writes())).map(({ status }) => status)).toEqual([
        201, 201, 200, 204, 201, 201,
      ]);
      expect(await busyTimeout()).toBe(DRIVER_TIMEOUT);
    });
  },
);

test('reads go on while a write waits for the file, where it does not keep them out', async () => {
  const { client } = await start('wal');
  const { answers } = await whileLocked(['BEGIN IMMEDIATE'], async () => {
    const write = client.post(LETTERS, { text: 'one' });
    await pause(50);
    const begun = performance.now();
    const statuses = (await Promise.all([client.get(NOTES), client.get(`${MEMOS}1/`)])).map(
      ({ status }) => status,
    );
    return { write, statuses, taken: performance.now() - begun };
  });
  const { write, statuses, taken } = await answers;
  expect(statuses).toEqual([200, 200]);
  expect(taken).toBeLessThan(STILL);
  expect((await write).status).toBe(201);
});

describe('a COMMIT that is refused because another process reads', () => {
  const READER = ['BEGIN', 'SELECT * FROM lock_note'];

  test('is repeated, and what it commits is done once', async () => {
    const { client } = await start('delete');
    const { answers, longest, meanwhile } = await whileLocked(
      READER,
      () => [client.post(LETTERS, { text: 'one' }), client.get(LETTERS)] as const,
    );
    expect(meanwhile).toEqual(OTHERS);
    const [made, list] = await Promise.all(answers);
    expect([made.status, list.status]).toEqual([201, 200]);
    expect(longest).toBeLessThan(STILL);
    expect([await texts(LETTERS), ran]).toEqual([['first', 'one', 'second'], 1]);
  });

  test('is 503 when it is not taken in time, and nothing is stored', async () => {
    const { client } = await start('delete', 300);
    const { answers } = await whileLocked(READER, () =>
      Promise.all([client.post(LETTERS, { text: 'one' }), client.post(NOTES, { text: 'one' })]),
    );
    expect((await answers).map(({ status }) => status)).toEqual([503, 503]);
    expect([await texts(LETTERS), await texts(NOTES), ran]).toEqual([
      ['first', 'second'],
      ['first', 'second'],
      1,
    ]);
    expect((await client.post(LETTERS, { text: 'one' })).status).toBe(201);
  });
});
