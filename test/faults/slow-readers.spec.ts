// @tags db http
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { lentOut, pause, until } from './faulty-server.js';
import { StatementLog } from './statement-log.js';

@Restify({ app: 'slow', computed: { loud: (note: object) => loud((note as Note).id) } })
@Entity('slow_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('slow')
@Entity('slow_scroll')
class Scroll {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text' })
  body: string;
}

const SCROLLS = '/rest/v1/slow/scroll/';
const NOTES = '/rest/v1/slow/note/';
/** Wide ones: several times what the sockets between server and client hold. */
const ROWS = 8000;
const WIDTH = 2500;
/** More than a pool has connections. */
const READERS = 12;

let failing: number | undefined;

function loud(id: number): string {
  if (id === failing) throw new Error('This note has no voice');
  return `${id}!`;
}

const log = new StatementLog();
const errors: string[] = [];
const readers: Reader[] = [];
let started: StartedApp;

/** A client that has the headers of an answer, and takes nothing of its body until it is told to. */
class Reader {
  private constructor(readonly incoming: IncomingMessage) {
    incoming.on('error', () => undefined);
    readers.push(this);
  }

  static open(path: string, method = 'GET'): Promise<Reader> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port: started.port, path, method, agent: false },
        (incoming) => {
          resolve(new Reader(incoming));
        },
      );
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  /** Takes what is left. */
  finish(): Promise<{ readonly text: string; readonly whole: boolean }> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      this.incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      this.incoming.once('close', () => {
        resolve({ text: Buffer.concat(chunks).toString('utf8'), whole: this.incoming.complete });
      });
      if (this.incoming.closed) resolve({ text: '', whole: this.incoming.complete });
    });
  }

  leave(): void {
    this.incoming.destroy();
  }
}

/** Rows that the statements of lists have asked for. */
function rowsRead(): number {
  return log.statements.reduce(
    (sum, each) => sum + (/slow_scroll/.test(each) ? Number(/ LIMIT (\d+)/.exec(each)?.[1] ?? 0) : 0),
    0,
  );
}

/** Rows that have been read when nothing is read any more. */
async function heldBack(): Promise<number> {
  let before = -1;
  while (before !== rowsRead()) {
    before = rowsRead();
    await pause(300);
  }
  return rowsRead();
}

onEachDatabase('a client that does not take a long list', (database) => {
  beforeAll(async () => {
    const logger = {
      log: () => undefined,
      warn: () => undefined,
      error: (_error: unknown, text: unknown) => errors.push(String(text)),
    };
    started = await startApp({
      compare: false,
      entities: [Note, Scroll],
      database,
      dataSource: { logging: true, logger: log },
      nest: { logger },
    });
    const { dataSource } = started;
    const insert = (entity: typeof Note | typeof Scroll, values: object[]): Promise<unknown> =>
      dataSource.createQueryBuilder().insert().into(entity).values(values).updateEntity(false).execute();
    for (let at = 0; at < 1000; at += 250)
      await insert(
        Scroll,
        Array.from({ length: 250 }, () => ({ body: 'x'.repeat(WIDTH) })),
      );
    for (let rows = 1000; rows < ROWS; rows *= 2)
      await dataSource.query('INSERT INTO slow_scroll (body) SELECT body FROM slow_scroll');
    for (let at = 0; at < 3000; at += 500)
      await insert(
        Note,
        Array.from({ length: 500 }, (_, index) => ({ id: at + index + 1 })),
      );
  });
  afterEach(async () => {
    failing = undefined;
    for (const reader of readers.splice(0)) reader.leave();
    await until(
      () => lentOut(started.dataSource).lent === 0 && lentOut(started.dataSource).waiting === 0,
      () => lentOut(started.dataSource),
    );
    log.clear();
    errors.length = 0;
  });
  afterAll(() => started.close());

  test('holds the reading of further pages back, and ends it by going away', async () => {
    const reader = await Reader.open(SCROLLS);
    const held = await heldBack();
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(ROWS * 0.8);
    reader.leave();
    await pause(300);
    expect(rowsRead()).toBeLessThanOrEqual(held + 1000);
    expect(errors).toEqual([]);
  });

  test('gets all of it when it goes on', async () => {
    const reader = await Reader.open(SCROLLS);
    const held = await heldBack();
    const { text, whole } = await reader.finish();
    expect(whole).toBe(true);
    const rows = JSON.parse(text) as { id: number; body: string }[];
    expect([
      rows.length,
      new Set(rows.map(({ id }) => id)).size,
      rows.every(({ body }) => body.length === WIDTH),
    ]).toEqual([ROWS, ROWS, true]);
    expect(rowsRead()).toBeGreaterThan(held);
  });

  test('keeps no connection, and does not delay other requests, however many there are', async () => {
    await Promise.all(Array.from({ length: READERS }, () => Reader.open(SCROLLS)));
    await heldBack();
    expect(lentOut(started.dataSource)).toEqual(expect.objectContaining({ waiting: 0, lent: 0 }));
    const { client } = started;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => client.get(`${SCROLLS}${index + 1}/`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const made = await client.post(SCROLLS, { body: 'short' });
    expect(made.status).toBe(201);
    expect(
      (await client.patch(`${SCROLLS}${(made.json as { id: number }).id}/`, { body: 'shorter' })).status,
    ).toBe(200);
    expect((await client.delete(`${SCROLLS}${(made.json as { id: number }).id}/`)).status).toBe(204);
  });

  test('that disconnects repeatedly does not block the server', async () => {
    for (let round = 0; round < 2; round += 1) {
      const opened = await Promise.all(
        Array.from({ length: 8 }, () => Reader.open(`${SCROLLS}?ordering=-id`)),
      );
      for (const reader of opened) reader.leave();
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => started.client.get(`${SCROLLS}5/`)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(errors).toEqual([]);
  });

  test('is broken off where a later page fails, so that it takes no part for the whole', async () => {
    const reader = await Reader.open(SCROLLS);
    await heldBack();
    await started.dataSource.query('ALTER TABLE slow_scroll RENAME TO slow_away');
    const { text, whole } = await reader.finish();
    await started.dataSource.query('ALTER TABLE slow_away RENAME TO slow_scroll');
    expect([reader.incoming.statusCode, whole, text.startsWith('[{"id":1,'), text.endsWith(']')]).toEqual([
      200,
      false,
      true,
      false,
    ]);
    expect(text).not.toContain('slow_');
    await until(() => errors.length > 0);
    expect(errors).toEqual([expect.stringContaining(`GET ${SCROLLS} failed (`)]);
    expect((await started.client.get(`${SCROLLS}5/`)).status).toBe(200);
  });

  test('is broken off where a later row cannot be represented', async () => {
    failing = 2500;
    const reader = await Reader.open(NOTES);
    const { text, whole } = await reader.finish();
    expect([reader.incoming.statusCode, whole, text.endsWith(']')]).toEqual([200, false, false]);
    await until(() => errors.length > 0);
    expect(errors).toEqual([expect.stringContaining(`GET ${NOTES} failed (`)]);
  });

  test('is an error response where one of the first rows cannot be represented', async () => {
    // On the first two pages, which are short where pages have taken long.
    failing = 3;
    const { status, json } = await started.client.get(NOTES);
    expect([status, json]).toEqual([500, { detail: 'A server error occurred.' }]);
  });

  test('has fewer rows read at once where they are wide', async () => {
    const limits = (): number[] =>
      log.statements.flatMap((each) =>
        /slow_scroll/.test(each) ? Number(/ LIMIT (\d+)/.exec(each)?.[1] ?? []) : [],
      );
    await (await Reader.open(SCROLLS)).finish();
    log.clear();
    await (await Reader.open(`${SCROLLS}?ordering=-id`)).finish();
    expect(limits().reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(ROWS);
    expect(Math.max(...limits()) * WIDTH).toBeLessThan(300_000);
  });

  test('reads two pages for HEAD', async () => {
    const reader = await Reader.open(SCROLLS, 'HEAD');
    expect(await reader.finish()).toEqual({ text: '', whole: true });
    await pause(100);
    expect(log.statements.filter((each) => /slow_scroll/.test(each))).toHaveLength(2);
  });

  test('is parted from where the application has bounded how long a socket may rest', async () => {
    const server = started.app.getHttpServer() as Server & { timeout: number };
    server.timeout = 400;
    try {
      const reader = await Reader.open(SCROLLS);
      const held = await heldBack();
      await pause(600);
      const { whole } = await reader.finish();
      expect([whole, rowsRead()]).toEqual([false, held]);
      expect((await started.client.get(`${SCROLLS}5/`)).status).toBe(200);
    } finally {
      server.timeout = 0;
    }
  });
});
