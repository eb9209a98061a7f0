// @tags db nest
import { afterEach, expect, test } from '@jest/globals';
import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Restify, RestifyResources } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { Column, Entity, EventSubscriber, PrimaryColumn } from 'typeorm';
import type { DataSourceOptions, EntitySubscriberInterface, InsertEvent } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { ENTITIES, Job, JOBS } from './domain.js';
import { lentOut, pause, until } from './faulty-server.js';

@Restify('works')
@Entity('works_slow', { synchronize: false })
class Slow {
  @PrimaryColumn()
  id: number;

  @Column({ length: 20 })
  slept: string;
}

/** What a write asks for in its transaction. */
let asking: (() => Promise<unknown>) | undefined;

@EventSubscriber()
class Asking implements EntitySubscriberInterface<Job> {
  listenTo(): typeof Job {
    return Job;
  }

  async afterInsert(_event: InsertEvent<Job>): Promise<void> {
    await asking?.();
  }
}

let started: StartedApp | undefined;

afterEach(async () => {
  asking = undefined;
  await started?.close();
  started = undefined;
});

async function start(
  database: TestDatabase,
  {
    size = 4,
    maxUses,
    ...restify
  }: RestifyModuleOptions & { readonly size?: number; readonly maxUses?: number } = {},
): Promise<StartedApp> {
  const sized: TestDatabase = {
    ...database,
    open: async () => {
      const opened = await database.open();
      const { extra } = opened.options as { readonly extra?: object };
      return {
        ...opened,
        options: {
          ...opened.options,
          poolSize: size,
          extra: database.name === 'postgres' ? { ...extra, max: size, ...(maxUses && { maxUses }) } : extra,
        } as DataSourceOptions,
      };
    },
  };
  const app = (started = await startApp({
    compare: false,
    entities: [...ENTITIES, Slow],
    database: sized,
    dataSource: { subscribers: [Asking] },
    restify,
  }));
  const sleep = database.name === 'postgres' ? 'CAST(pg_sleep(20) AS text)' : 'CAST(SLEEP(20) AS CHAR)';
  await app.dataSource.query(`CREATE VIEW works_slow AS SELECT 1 AS id, ${sleep} AS slept`);
  return app;
}

function slowLists(app: StartedApp, count: number): readonly ClientRequest[] {
  return Array.from({ length: count }, () => {
    const outgoing = request(
      { host: '127.0.0.1', port: app.port, path: '/rest/v1/works/slow/', agent: false },
      (incoming) => incoming.resume(),
    );
    outgoing.on('error', () => undefined);
    outgoing.end();
    return outgoing;
  });
}

/** As a caller from another address. */
function askedElsewhere(app: StartedApp): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      { host: '127.0.0.1', localAddress: '127.0.0.2', port: app.port, path: JOBS, agent: false },
      (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode ?? 0);
      },
    )
      .on('error', reject)
      .end();
  });
}

onEachServer('one caller with many slow requests', (database) => {
  test('leaves a connection to others, who do not wait for them', async () => {
    const app = await start(database);
    const asked = slowLists(app, 12);
    await until(() => lentOut(app.dataSource).lent === 3);
    await pause(100);
    const begun = performance.now();
    for (let count = 0; count < 5; count += 1) expect(await askedElsewhere(app)).toBe(200);
    // The slow lists take twenty seconds.
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(lentOut(app.dataSource)).toEqual({ lent: 3, waiting: 0 });
    for (const each of asked) each.destroy();
    await until(
      () => lentOut(app.dataSource).lent === 0,
      () => lentOut(app.dataSource),
    );
    expect((await app.client.get(JOBS)).status).toBe(200);
  });

  test('uses all of them with fairShare: false', async () => {
    const app = await start(database, { fairShare: false });
    const asked = slowLists(app, 12);
    await until(() => lentOut(app.dataSource).lent === 4);
    for (const each of asked) each.destroy();
    await until(
      () => lentOut(app.dataSource).lent === 0,
      () => lentOut(app.dataSource),
    );
  });
});

onEachServer('a pool of few connections', (database) => {
  test.each([1, 2, 3])('of %d serves one caller all the same', async (size) => {
    const app = await start(database, { size });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0 ? app.client.get(JOBS) : app.client.post(JOBS, { code: `c${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => (index % 2 === 0 ? 200 : 201)),
    );
    await until(() => lentOut(app.dataSource).lent === 0);
  });
});

onEachServer('connections that are acquired during a write', (database) => {
  test('does not wait for a free connection: the request has one already', async () => {
    const app = await start(database, { size: 3, acquireTimeout: 5_000 });
    const resources = app.app.get(RestifyResources);
    let inside = 0;
    asking = async () => {
      inside += 1;
      await until(() => inside >= 2);
      await resources.of(Job).as(null).list();
    };
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => app.client.post(JOBS, { code: `c${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 201]);
  });
});

/** The part of pg's pool that is watched. */
interface WatchedPool {
  readonly _clients: readonly { readonly processID: number }[];
  connect(...args: readonly unknown[]): unknown;
}

/** Counts how often connections are taken from the pool. Neither a listener nor a method of the pool itself: both end passing. */
async function countCheckouts(app: StartedApp, run: (pool: WatchedPool) => Promise<void>): Promise<number> {
  const { master } = app.dataSource.driver as unknown as { readonly master: WatchedPool };
  let prototype = Object.getPrototypeOf(master) as WatchedPool;
  while (!Object.hasOwn(prototype, 'connect')) prototype = Object.getPrototypeOf(prototype) as WatchedPool;
  const original = Reflect.get(prototype, 'connect');
  let count = 0;
  prototype.connect = function (this: WatchedPool, ...args) {
    count++;
    const result: unknown = Reflect.apply(original, this, args);
    return result;
  };
  try {
    await run(master);
  } finally {
    prototype.connect = original;
  }
  return count;
}

const statusesOf = async (answers: readonly Promise<{ readonly status: number }>[]): Promise<Set<number>> =>
  new Set((await Promise.all(answers)).map(({ status }) => status));

onEachDatabase(
  'requests that wait for a connection',
  (database) => {
    test.each([{}, { maxUses: 5 }])('take it from the pool, and return it there (%j)', async (extra) => {
      const app = await start(database, extra);
      const checkouts = await countCheckouts(app, async () => {
        const answers = Array.from({ length: 60 }, (_, index) =>
          index % 3 === 0 ? app.client.post(JOBS, { code: `c${index}` }) : app.client.get(JOBS),
        );
        expect([...(await statusesOf(answers))].sort()).toEqual([200, 201]);
      });
      expect(checkouts).toBeGreaterThanOrEqual(60);
      await until(() => lentOut(app.dataSource).lent === 0);
      expect((await app.client.get(JOBS)).status).toBe(200);
    });

    test('take another one if a connection has ended', async () => {
      const app = await start(database);
      await countCheckouts(app, async ({ _clients: clients }) => {
        let done = 0;
        const answers = Array.from({ length: 200 }, () =>
          app.client.get(JOBS).then((answer) => (done++, answer)),
        );
        await until(() => done > 0);
        const ended: unknown = await app.dataSource.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY($1) AND pid <> pg_backend_pid()',
          [clients.map(({ processID }) => processID)],
        );
        expect(ended).not.toEqual([]);
        const statuses = await statusesOf(answers);
        statuses.delete(503);
        expect([...statuses]).toEqual([200]);
      });
      await until(() => lentOut(app.dataSource).lent === 0);
      expect([...(await statusesOf(Array.from({ length: 20 }, () => app.client.get(JOBS))))]).toEqual([200]);
    });
  },
  ['postgres'],
);
