// @tags db http nest
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { LoggerService } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController, RestifyResources } from 'nestjs-restify';
import type { AfterCommit, CommittedWrite, ErrorContext, ErrorListener } from 'nestjs-restify';
import { Column, Entity, EventSubscriber, PrimaryGeneratedColumn } from 'typeorm';
import type { EntitySubscriberInterface } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify({ app: 'called', bulk: true })
@Entity('called_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;
}

/** Written by `afterCommit`. */
@Restify('called')
@Entity('called_copy')
class Copy {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;
}

/** Written inside of a transaction with a hook. */
@Restify('called')
@Entity('called_hooked')
class Hooked {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;
}

const told: string[] = [];
const logged: unknown[][] = [];
const warned: unknown[] = [];
const heard: [string, ErrorContext][] = [];
let during: (writes: readonly CommittedWrite[]) => void | Promise<void>;
let inHook: () => void | Promise<void>;
let isFailing = false;

function textsOf(writes: readonly CommittedWrite[]): string {
  return writes.map(({ operation, values }) => `${operation} ${String(values?.text)}`).join(', ');
}

@Injectable()
class OfPrefix implements AfterCommit {
  async afterCommit(writes: readonly CommittedWrite[]): Promise<void> {
    told.push(textsOf(writes));
    await during(writes);
  }
}

@RestifyController(Note)
class NoteController extends ResourceController<Note> {
  override afterCommit(writes: readonly CommittedWrite[]): void {
    told.push(`own ${textsOf(writes)}`);
  }
}

@RestifyController(Hooked)
class HookedController extends ResourceController<Hooked> {
  override afterWrite(): void | Promise<void> {
    return inHook();
  }
}

@Injectable()
class Listener implements ErrorListener {
  onError(error: unknown, context: ErrorContext): void {
    heard.push([(error as Error).message, context]);
  }
}

@EventSubscriber()
class Failing implements EntitySubscriberInterface {
  afterTransactionCommit(): void {
    if (isFailing) throw new Error('The mail server is away');
  }
}

const logger: LoggerService = {
  log: () => undefined,
  warn: (text) => {
    warned.push(text);
  },
  error: (...given: unknown[]) => {
    logged.push(given);
  },
};

/** Errors after which a transaction is repeated. */
const CONFLICTS: Readonly<Record<string, object>> = {
  sqlite: { code: 'SQLITE_BUSY' },
  postgres: { code: '40001' },
  mariadb: { errno: 1213, code: 'ER_LOCK_DEADLOCK' },
};

onEachDatabase('calls of afterCommit', (database) => {
  let started: StartedApp | undefined;
  const start = async (settings: Partial<AppSettings> = {}): Promise<StartedApp> =>
    (started = await startCalled(database, settings));
  beforeEach(() => {
    for (const list of [told, logged, warned, heard]) list.length = 0;
    during = () => undefined;
    inHook = () => undefined;
    isFailing = false;
  });
  afterEach(async () => {
    await started?.close();
    started = undefined;
  });

  const post = async (
    text: string,
    { client }: StartedApp,
    headers: Record<string, string> = {},
  ): Promise<number> =>
    (await client.send('POST', '/rest/v1/called/note/', { body: { text }, headers })).status;
  const ended = ({ app }: StartedApp): Promise<void> => app.get(RestifyResources).afterCommitEnded();
  const rowsOf = async (
    entity: typeof Note | typeof Copy,
    { dataSource }: StartedApp,
  ): Promise<readonly string[]> =>
    (await dataSource.getRepository(entity).find({ order: { id: 'ASC' } })).map(({ text }) => text);

  describe('that fail', () => {
    test.each<[string, () => void | Promise<void>]>([
      [
        'by throwing',
        () => {
          throw new Error('No mail');
        },
      ],
      ['by rejecting', () => Promise.reject(new Error('No mail'))],
    ])('%s change no answer, are logged, and stop no other', async (_how, fail) => {
      const app = await start();
      during = fail;
      expect(await post('a', app, { 'x-request-id': 'req-7' })).toBe(201);
      await ended(app);
      expect(told).toEqual(['create a', 'own create a']);
      expect(logged).toEqual([
        [
          expect.objectContaining({ message: 'No mail' }),
          expect.stringMatching(
            /^Writes are committed, and afterCommit of Note has failed after the request \S+ \(called\.note, create\)$/,
          ),
          'Restify',
        ],
      ]);
      expect(heard).toMatchObject([
        ['No mail', { method: 'POST', model: 'called.note', operation: 'create', status: undefined }],
      ]);
      expect(String(logged[0]?.[1])).toContain(` ${heard[0]?.[1].requestId ?? '?'} `);
      during = () => undefined;
      expect(await post('b', app)).toBe(201);
      await ended(app);
      expect(told.slice(2)).toEqual(['create b', 'own create b']);
    });
  });

  test('do not delay the response, and a limited number of them runs at once', async () => {
    const app = await start();
    let release = (): void => undefined;
    let running = 0;
    let most = 0;
    const released = new Promise<void>((resolve) => (release = resolve));
    during = async () => {
      running += 1;
      most = Math.max(most, running);
      await released;
      running -= 1;
    };
    for (let index = 0; index < 14; index++) expect(await post(`n${index}`, app)).toBe(201);
    while (running < 10) await pause(5);
    await pause(50);
    expect(running).toBe(10);
    release();
    await ended(app);
    expect(most).toBe(10);
    expect(told.filter((text) => !text.startsWith('own'))).toEqual(
      Array.from({ length: 14 }, (_, index) => `create n${index}`),
    );
  });

  test('may write, in transactions of their own, which are reported to others', async () => {
    const app = await start();
    during = async ([write]) => {
      if (write?.values && 'text' in write.values && String(write.values.text).startsWith('copy of')) return;
      await app.app
        .get(RestifyResources)
        .of(Copy)
        .as(null)
        .create({ text: `copy of ${String(write?.values?.text)}` });
    };
    const { client, dataSource } = app;
    await Promise.all(['a', 'b', 'c'].map((text) => post(text, app)));
    expect((await client.post('/rest/v1/called/note/', [{ text: 'd' }, { text: 'e' }])).status).toBe(201);
    await dataSource.transaction(async (manager) => {
      await app.app.get(RestifyResources).of(Note).as(null, { manager }).create({ text: 'f' });
    });
    await ended(app);
    expect([...(await rowsOf(Copy, app))].sort()).toEqual(
      ['a', 'b', 'c', 'd', 'f'].map((text) => `copy of ${text}`),
    );
    expect(told.filter((text) => text.startsWith('create copy'))).toHaveLength(5);
    expect(logged).toEqual([]);
  });

  test('are made of the attempt that commits', async () => {
    const app = await start();
    let attempts = 0;
    inHook = () => {
      attempts += 1;
      if (attempts < 3) throw Object.assign(new Error('conflict'), CONFLICTS[database.name]);
    };
    expect((await app.client.post('/rest/v1/called/hooked/', { text: 'a' })).status).toBe(201);
    await ended(app);
    expect([attempts, told]).toEqual([3, ['create a']]);
  });

  describe('when afterTransactionCommit of a subscriber throws', () => {
    const settings = { dataSource: { subscribers: [Failing] } };

    test('are made after a COMMIT, and the error is logged', async () => {
      const app = await start(settings);
      isFailing = true;
      expect(await post('a', app)).toBe(201);
      await ended(app);
      expect(told).toEqual(['create a', 'own create a']);
      expect(logged.map(([error]) => error)).toMatchObject([{ message: 'The mail server is away' }]);
      isFailing = false;
      expect(await rowsOf(Note, app)).toEqual(['a']);
    });

    test('are not made after the release of a savepoint: the error reaches the application', async () => {
      const app = await start(settings);
      const { dataSource } = app;
      const notes = app.app.get(RestifyResources).of(Note);
      isFailing = true;
      await expect(
        dataSource.transaction((manager) => notes.as(null, { manager }).create({ text: 'a' })),
      ).rejects.toThrow('The mail server is away');
      isFailing = false;
      await expect(
        dataSource.transaction(async (manager) => {
          await notes.as(null, { manager }).create({ text: 'b' });
          await manager
            .transaction(async (inner) => {
              await notes.as(null, { manager: inner }).create({ text: 'c' });
              isFailing = true;
            })
            .catch(() => {
              // TypeORM has rolled the outer transaction back.
              isFailing = false;
            });
        }),
      ).rejects.toThrow(/transaction/i);
      await ended(app);
      expect([told, await rowsOf(Note, app)]).toEqual([[], []]);
      expect(await post('d', app)).toBe(201);
      await ended(app);
      expect([told, await rowsOf(Note, app)]).toEqual([['create d', 'own create d'], ['d']]);
    });
  });

  describe('while the application closes', () => {
    const close = async (app: StartedApp): Promise<number> => {
      const begun = performance.now();
      await app.close();
      started = undefined;
      return performance.now() - begun;
    };

    test('are waited for, those that wait included, and may use the database', async () => {
      const app = await start();
      const copies = app.app.get(RestifyResources).of(Copy);
      const written: unknown[] = [];
      during = async ([write]) => {
        if (String(write?.values?.text).startsWith('copy')) return;
        await pause(60);
        written.push((await copies.as(null).create({ text: 'copy' })).text);
      };
      for (let index = 0; index < 12; index++) expect(await post(`n${index}`, app)).toBe(201);
      await close(app);
      expect(written).toEqual(Array.from({ length: 12 }, () => 'copy'));
      expect(warned.filter((text) => /afterCommit/.test(String(text)))).toEqual([]);
    });

    test('are waited for after the last requests, too', async () => {
      const app = await start();
      const copies = app.app.get(RestifyResources).of(Copy);
      const written: unknown[] = [];
      during = async ([write]) => {
        if (String(write?.values?.text).startsWith('copy')) return;
        await pause(60);
        written.push((await copies.as(null).create({ text: 'copy' })).text);
      };
      let closing: Promise<number> | undefined;
      inHook = () => {
        closing = close(app);
        return pause(400);
      };
      expect((await app.client.post('/rest/v1/called/hooked/', { text: 'last' })).status).toBe(201);
      await closing;
      expect(written).toEqual(['copy']);
    });

    test('are abandoned with a warning after the grace period', async () => {
      const app = await start({ restify: { afterCommit: OfPrefix, shutdownGrace: 150 } });
      during = () => new Promise(() => undefined);
      expect(await post('a', app)).toBe(201);
      expect(await close(app)).toBeLessThan(20_000);
      expect(warned.filter((text) => /afterCommit/.test(String(text)))).toEqual([
        'Calls of afterCommit that have not ended as the application closes: 1.',
      ]);
    });
  });

  test('cost statements only where a model has them', async () => {
    const counts: number[][] = [];
    for (const restify of [{}, { afterCommit: OfPrefix }]) {
      const log = new StatementLog();
      const app = await start({
        restify,
        dataSource: { logging: ['query'], logger: log },
      });
      const { client } = app;
      const of = async (write: () => Promise<{ readonly status: number }>): Promise<number> => {
        log.clear();
        expect((await write()).status).toBeLessThan(300);
        return log.statements.length;
      };
      const url = '/rest/v1/called/copy/';
      // The first ones read the catalogue.
      for (let index = 0; index < 2; index++) {
        await client.post(url, { text: 'a' });
        await client.patch(`${url}${index + 1}/`, { text: 'b' });
      }
      await client.delete(`${url}1/`);
      counts.push([
        await of(() => client.post(url, { text: 'c' })),
        await of(() => client.patch(`${url}2/`, { text: 'd' })),
        await of(() => client.delete(`${url}2/`)),
      ]);
      await app.close();
      started = undefined;
    }
    const [without = [], with_ = []] = counts;
    if (database.name !== 'mariadb') expect(without).toEqual([1, 1, 1]);
    expect(with_.every((count, index) => count > (without[index] ?? 0))).toBe(true);
  });
});

function startCalled(database: TestDatabase, settings: Partial<AppSettings>): Promise<StartedApp> {
  return startApp({
    entities: [Note, Copy, Hooked],
    database,
    controllers: [NoteController, HookedController],
    providers: [OfPrefix, Listener],
    nest: { logger },
    compare: false,
    undescribed: 'all',
    ...settings,
    restify: { onError: Listener, ...(settings.restify ?? { afterCommit: OfPrefix }) },
  });
}
