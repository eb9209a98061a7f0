// @tags nest
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { IdempotencyRecord, ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Column,
  DataSource,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { EntityManager, Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { AWAY } from './domain.js';
import { pause } from './faulty-server.js';
import { PAGES, startWriting } from './writing-process.js';

// A comparison of both paths writes for itself, on a disk that is full.

@Restify({ app: 'full', bulk: true })
@Entity('full_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'text' }) text: string;
  @Column({ default: 0 }) votes: number;
  @ManyToOne(() => Box, (box) => box.notes, { nullable: true }) box: Relation<Box> | null;
}

@Restify('full')
@Entity('full_box')
class Box {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => Note, (note) => note.box) notes: Relation<Note[]>;
  @ManyToMany(() => Note) @JoinTable({ name: 'full_box_pinned' }) pinned: Relation<Note[]>;
}

@Restify({ app: 'full', bulk: true, idempotency: true })
@Entity('full_letter')
class Letter {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'text' }) text: string;
  @Column({ default: 0 }) votes: number;
}

/** What the hooks of the next write do, in its transaction. */
let before: (manager: EntityManager) => Promise<unknown>;
let after: (manager: EntityManager) => Promise<unknown>;

@RestifyController(Letter)
class LetterController extends ResourceController<Letter> {
  override async beforeWrite({ manager }: Write<Letter>): Promise<void> {
    await before(manager);
  }

  override async afterWrite({ manager }: Write<Letter>): Promise<void> {
    await after(manager);
  }
}

const NOTES = '/rest/v1/full/note/';
const LETTERS = '/rest/v1/full/letter/';
const LONG = 'x'.repeat(20_000);
const ANOTHER_KEY = { headers: { 'idempotency-key': 'another-one' } };
const KEY = { headers: { 'idempotency-key': 'of-this-letter' } };

let folder: string;
let file: string;
let started: StartedApp;

beforeEach(async () => {
  before = after = () => Promise.resolve();
  folder = await mkdtemp(join(tmpdir(), 'restify-full-'));
  file = join(folder, 'full.sqlite');
  started = await startApp({
    compare: false,
    entities: [Note, Box, Letter, IdempotencyRecord],
    controllers: [LetterController],
    dataSource: { type: 'better-sqlite3', database: file },
  });
  const { client } = started;
  expect((await client.post('/rest/v1/full/box/', {})).status).toBe(201);
  for (const path of [NOTES, LETTERS]) expect((await client.post(path, { text: 'first' })).status).toBe(201);
});

afterEach(async () => {
  await started.close();
  await rm(folder, { recursive: true, force: true });
});

async function pragma(sql: string): Promise<number> {
  const [record] = await started.dataSource.query<Record<string, number>[]>(`PRAGMA ${sql}`);
  return Number(Object.values(record ?? {})[0]);
}

/** `SQLITE_FULL` for whatever needs a page more. */
async function fillDisk(): Promise<void> {
  await pragma(`max_page_count = ${await pragma('page_count')}`);
}

async function giveSpace(): Promise<void> {
  await pragma('max_page_count = 1000000');
}

interface Stored {
  readonly id: number;
  readonly text: string;
  readonly votes: number;
}

/** What stands in the file for everybody else: committed, and nothing but that. */
async function stored(table: 'full_note' | 'full_letter'): Promise<readonly Stored[]> {
  const reader = await new DataSource({
    type: 'better-sqlite3',
    database: file,
    readonly: true,
  }).initialize();
  try {
    return await reader.query<Stored[]>(`SELECT id, text, votes FROM ${table} ORDER BY id`);
  } finally {
    await reader.destroy();
  }
}

async function allStored(): Promise<readonly (readonly Stored[])[]> {
  return [await stored('full_note'), await stored('full_letter')];
}

type Kept = Map<string, { readonly text: string; readonly votes: number }>;

/** Every answer of now is true: what was acknowledged is there, and nothing else. */
async function expectTrueAnswers(): Promise<void> {
  const { client } = started;
  const ledger: Kept = new Map();
  for (const [path, table] of [
    [NOTES, 'full_note'],
    [LETTERS, 'full_letter'],
  ] as const)
    for (const { id, ...rest } of await stored(table)) ledger.set(`${path}${id}/`, rest);
  const keep = (path: string, { json }: Answer): void => {
    for (const { id, text, votes } of [json].flat() as { id: number; text: string; votes: number }[])
      ledger.set(`${path}${id}/`, { text, votes });
  };
  for (const path of [NOTES, LETTERS]) {
    const made = await client.post(path, { text: 'one' });
    expect(made.status).toBe(201);
    keep(path, made);
    const several = await client.post(path, [{ text: 'a' }, { text: 'b' }]);
    expect(several.status).toBe(201);
    keep(path, several);
    expect((await client.post(path, [{ text: 'good' }, { text: null }])).status).toBe(400);
    const { id } = made.json as { id: number };
    const changed = await client.patch(`${path}${id}/`, { votes: 7 });
    expect(changed.status).toBe(200);
    keep(path, changed);
    const gone = await client.post(path, { text: 'goes again' });
    expect((await client.delete(`${path}${(gone.json as { id: number }).id}/`)).status).toBe(204);
  }
  const once = await client.post(LETTERS, { text: 'once' }, ANOTHER_KEY);
  const again = await client.post(LETTERS, { text: 'once' }, ANOTHER_KEY);
  expect([once.status, again.status, again.json]).toEqual([201, 201, once.json]);
  keep(LETTERS, once);
  const [notes = [], letters = []] = await allStored();
  const found: Kept = new Map();
  for (const { id, ...rest } of notes) found.set(`${NOTES}${id}/`, rest);
  for (const { id, ...rest } of letters) found.set(`${LETTERS}${id}/`, rest);
  expect(found).toEqual(ledger);
  expect(isInTransaction()).toBe(false);
}

function isInTransaction(): boolean {
  return (started.dataSource.driver as unknown as { databaseConnection: { inTransaction: boolean } })
    .databaseConnection.inTransaction;
}

const WRITES: Readonly<Record<string, () => Promise<Answer>>> = {
  'one row, by one statement': () => started.client.post(NOTES, { text: LONG }),
  'one row, in a transaction with hooks': () => started.client.post(LETTERS, { text: LONG }),
  'a change': () => started.client.patch(`${LETTERS}1/`, { text: LONG }),
  'a list of rows': () =>
    started.client.post(
      NOTES,
      Array.from({ length: 20 }, () => ({ text: LONG.slice(0, 4000) })),
    ),
  'a list of rows, with hooks': () =>
    started.client.post(
      LETTERS,
      Array.from({ length: 20 }, () => ({ text: LONG.slice(0, 4000) })),
    ),
  'a POST with an Idempotency-Key': () => started.client.post(LETTERS, { text: LONG }, KEY),
  'a row that a hook writes': () => {
    after = (manager) => manager.save(Note, { text: LONG });
    return started.client.post(LETTERS, { text: 'short' });
  },
  'a transaction in that of the write': () => {
    after = (manager) => manager.transaction((inner) => inner.save(Note, { text: LONG }));
    return started.client.post(LETTERS, { text: 'short' });
  },
  'a row of a hook that goes on all the same': () => {
    before = (manager) => manager.save(Note, { text: LONG }).catch(() => undefined);
    return started.client.post(LETTERS, { text: 'short' });
  },
  'a transaction of a hook that goes on all the same': () => {
    before = (manager) =>
      manager.transaction((inner) => inner.save(Note, { text: LONG })).catch(() => undefined);
    return started.client.post(LETTERS, { text: 'short' });
  },
  'the last statement of a hook that goes on all the same': () => {
    after = (manager) => manager.save(Note, { text: LONG }).catch(() => undefined);
    return started.client.post(LETTERS, { text: 'short' });
  },
};

test.each(Object.keys(WRITES))(
  'a full disk refuses %s with 503, stores nothing of it, and every answer behind it is true',
  async (name) => {
    const kept = await allStored();
    await fillDisk();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const refused = await WRITES[name]?.();
      expect([refused?.status, refused?.json]).toEqual([503, AWAY]);
      expect(await allStored()).toEqual(kept);
    }
    expect((await started.client.get(`${LETTERS}1/`)).json).toEqual({ id: 1, text: 'first', votes: 0 });
    await giveSpace();
    before = after = () => Promise.resolve();
    await expectTrueAnswers();
  },
);

test('a full disk keeps the error that a hook throws, and stores nothing', async () => {
  await fillDisk();
  before = (manager) =>
    manager.save(Note, { text: LONG }).catch(() => {
      throw new ConflictException('No room for the note');
    });
  expect((await started.client.post(LETTERS, { text: 'short' })).status).toBe(409);
  await giveSpace();
  before = () => Promise.resolve();
  await expectTrueAnswers();
});

test('a request that was refused for a full disk is made once when it comes again with its key', async () => {
  await fillDisk();
  expect((await started.client.post(LETTERS, { text: LONG }, KEY)).status).toBe(503);
  await giveSpace();
  const made = await started.client.post(LETTERS, { text: LONG }, KEY);
  const again = await started.client.post(LETTERS, { text: LONG }, KEY);
  expect([made.status, again.status, again.json]).toEqual([201, 201, made.json]);
  expect((await stored('full_letter')).filter(({ text }) => text === LONG)).toHaveLength(1);
  await expectTrueAnswers();
});

test.each([
  ['a save', (manager: EntityManager) => manager.save(Note, { text: 'behind' })],
  [
    'a save in a transaction',
    (manager: EntityManager) => manager.transaction((inner) => inner.save(Note, { text: 'behind' })),
  ],
  ['nothing', () => Promise.resolve()],
] as const)(
  "a transaction of the application's own that SQLite undoes under a request fails at its next statement: %s",
  async (_name, next) => {
    const kept = await allStored();
    const own = started.dataSource.transaction(async (manager) => {
      await manager.save(Note, { text: 'of the application' });
      await fillDisk();
      // A statement without RETURNING, which SQLite cannot undo alone.
      before = (inner) => inner.save(Note, { text: LONG });
      expect((await started.client.post(LETTERS, { text: 'short' })).status).toBe(503);
      before = () => Promise.resolve();
      await giveSpace();
      await next(manager);
    });
    await expect(own).rejects.toThrow('SQLite has rolled this transaction back');
    expect(await allStored()).toEqual(kept);
    await expectTrueAnswers();
  },
);

test("a request whose statement alone is undone leaves a transaction of the application's own", async () => {
  const [, letters] = await allStored();
  await started.dataSource.transaction(async (manager) => {
    await manager.save(Note, { text: 'of the application' });
    await fillDisk();
    expect((await started.client.post(LETTERS, { text: LONG })).status).toBe(503);
    await giveSpace();
  });
  const [notes, behind] = await allStored();
  expect([notes?.map(({ text }) => text), behind]).toEqual([['first', 'of the application'], letters]);
  await expectTrueAnswers();
});

test("a transaction of the application's own stays its own: no request commits it, and its rollback takes all", async () => {
  const kept = await stored('full_note');
  const own = started.dataSource.transaction(async (manager) => {
    await manager.save(Note, { text: 'of the application' });
    expect((await started.client.post(LETTERS, { text: 'in between' })).status).toBe(201);
    expect((await started.client.post(LETTERS, [{ text: 'good' }, { text: null }])).status).toBe(400);
    expect(await stored('full_note')).toEqual(kept);
    throw new Error('of the application');
  });
  await expect(own).rejects.toThrow('of the application');
  expect(await stored('full_note')).toEqual(kept);
  await expectTrueAnswers();
});

test('a transaction that the application has begun by a statement of its own is neither committed nor rolled back by a request', async () => {
  const { client, dataSource } = started;
  await dataSource.query('BEGIN');
  await dataSource.query("INSERT INTO full_note(text) VALUES ('of the application')");
  expect((await client.post(LETTERS, { text: 'in between' })).status).toBe(201);
  before = () => Promise.reject(new ConflictException('no'));
  expect((await client.post(LETTERS, { text: 'refused' })).status).toBe(409);
  before = () => Promise.resolve();
  expect((await allStored()).map(({ length }) => length)).toEqual([1, 1]);
  expect(isInTransaction()).toBe(true);
  await dataSource.query('COMMIT');
  expect((await allStored()).map((rows) => rows.map(({ text }) => text))).toEqual([
    ['first', 'of the application'],
    ['first', 'in between'],
  ]);
  await expectTrueAnswers();
});

test('a transaction that the application begins while a write runs is a part of it, which waits for its end', async () => {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let own: Promise<unknown> = Promise.resolve();
  after = async () => {
    own = started.dataSource.transaction(async (manager) => {
      await manager.save(Note, { text: 'of the application' });
      begin();
      await pause(100);
    });
    await begun;
  };
  expect((await started.client.post(LETTERS, { text: 'around it' })).status).toBe(201);
  expect((await allStored()).map((rows) => rows.map(({ text }) => text))).toEqual([
    ['first', 'of the application'],
    ['first', 'around it'],
  ]);
  await own;
  after = () => Promise.resolve();
  await expectTrueAnswers();
});

test('what was acknowledged while the disk was full from time to time is there when the process is killed', async () => {
  const killed = join(folder, 'killed.sqlite');
  const { child, client, end } = await startWriting({ type: 'better-sqlite3', database: killed });
  try {
    const acknowledged: string[] = [];
    const statuses = new Map<number, number>();
    let stopped = false;
    const nextAnswer = async (status: number): Promise<void> => {
      const before = statuses.get(status);
      while (statuses.get(status) === before) await pause(10);
    };
    const write = async (writer: number): Promise<void> => {
      for (let count = 0; !stopped; count += 1) {
        const text = `${writer}-${count} ${'x'.repeat(3000)}`;
        const body = count % 2 === 0 ? { text } : [{ text }, { text: `${text} too` }];
        const answer = await client
          .post(PAGES, body, { headers: { 'idempotency-key': `${writer}-${count}` } })
          .catch(() => undefined);
        if (answer) statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer?.status === 201)
          acknowledged.push(...([answer.json].flat() as { text: string }[]).map((each) => each.text));
      }
    };
    const writers = Promise.all([0, 1, 2, 3].map(write));
    await nextAnswer(201);
    for (let round = 0; round < 8; round += 1) {
      const isFull = round % 2 === 0;
      child.send(isFull ? 'full' : 'space');
      await nextAnswer(isFull ? 503 : 201);
      await pause(50);
    }
    await pause(100);
    stopped = true;
    await Promise.all([end(), writers]);
    const reader = await new DataSource({ type: 'better-sqlite3', database: killed }).initialize();
    const rows = await reader.query<{ text: string }[]>('SELECT text FROM page');
    await reader.destroy();
    const texts = rows.map(({ text }) => text);
    expect(acknowledged.filter((each) => !texts.includes(each))).toEqual([]);
    expect(new Set(texts).size).toBe(texts.length);
    // A list is stored as a whole.
    for (const text of texts.filter((each) => each.endsWith(' too')))
      expect(texts).toContain(text.slice(0, -' too'.length));
    expect([statuses.has(201), statuses.has(503), statuses.has(500)]).toEqual([true, true, false]);
  } finally {
    await end();
  }
});
