// @tags db nest
import { afterEach, expect, test } from '@jest/globals';
import type { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachServer } from '../support/each-database.js';
import type { OpenedDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import { ENTITIES, JOBS } from './domain.js';
import { faultyServer, pause, until } from './faulty-server.js';
import type { FaultyServer } from './faulty-server.js';
import { PAGES, startWriting } from './writing-process.js';
import type { WritingProcess } from './writing-process.js';

let faulty: FaultyServer | undefined;
let opened: OpenedDatabase | undefined;
let writing: WritingProcess | undefined;

afterEach(async () => {
  await writing?.end();
  await faulty?.leave();
  await opened?.drop();
  writing = faulty = opened = undefined;
});

type Connection = EventEmitter & { destroy?(): void };

/** Of the application's pool. */
function connectionsOf({ driver }: DataSource): readonly Connection[] {
  const { master, pool } = driver as unknown as {
    master?: { _clients: Connection[] };
    pool?: { _allConnections: { length: number; get(at: number): Connection } };
  };
  const queue = pool?._allConnections;
  return (
    master?._clients.slice() ??
    Array.from({ length: queue?.length ?? 0 }, (_, at) => queue?.get(at)).filter((each) => each !== undefined)
  );
}

/** Every way that a request takes to a connection; undefined where the process does not answer any more. */
function requests({ client }: WritingProcess, name: string): readonly Promise<Answer | undefined>[] {
  const text = `of ${name}`;
  const sent = [
    client.get(PAGES),
    client.get(`${PAGES}1/`),
    client.post(PAGES, { text }),
    client.post(PAGES, [{ text }, { text: `${text} too` }]),
    client.post(PAGES, { text }, { headers: { 'idempotency-key': name } }),
    client.patch(`${PAGES}1/`, { text }),
    client.put(`${PAGES}1/`, { text }),
  ];
  return sent.map((each) => each.catch(() => undefined));
}

onEachServer('a connection that ends', (database) => {
  async function start(): Promise<{ readonly server: FaultyServer; readonly app: WritingProcess }> {
    const server = (faulty = faultyServer(database));
    opened = await server.database.open();
    const app = (writing = await startWriting(opened.options));
    expect((await app.client.post(PAGES, { text: 'first' })).status).toBe(201);
    return { server, app };
  }

  async function expectAlive({ child, client, errors }: WritingProcess): Promise<void> {
    expect([child.exitCode, errors()]).toEqual([null, '']);
    await until(async () => (await client.post(PAGES, { text: 'behind' })).status === 201);
    expect((await client.patch(`${PAGES}1/`, { text: 'as well' })).status).toBe(200);
    expect([child.exitCode, errors()]).toEqual([null, '']);
  }

  test('as it opens is 503, by every way to it, and ends no process', async () => {
    const { server, app } = await start();
    server.endAsOpened(true);
    await server.killSessions();
    const statuses = new Set<number | undefined>();
    for (let round = 0; round < 10; round += 1)
      for (const answer of await Promise.all(requests(app, `round-${round}`))) statuses.add(answer?.status);
    expect([app.child.exitCode, app.errors()]).toEqual([null, '']);
    expect(statuses).toEqual(new Set([503]));
    server.endAsOpened(false);
    await expectAlive(app);
  });

  test('is listened to, by more than the first error, also of a data source that was initialized anew', async () => {
    const started = await startApp({ compare: false, entities: ENTITIES, database });
    try {
      await started.dataSource.destroy();
      await started.dataSource.initialize();
      const statuses = await Promise.all(
        Array.from(
          { length: 8 },
          async (_, index) => (await started.client.post(JOBS, { code: `c${index}` })).status,
        ),
      );
      expect(new Set(statuses)).toEqual(new Set([201]));
      const connections = connectionsOf(started.dataSource);
      expect(connections.length).toBeGreaterThan(0);
      for (const connection of connections) {
        // As drivers do with the first one, they throw the connection away: nobody but us listens then.
        for (const error of ['one', 'two', 'three']) connection.emit('error', new Error(error));
        connection.destroy?.();
      }
      expect((await started.client.get(JOBS)).status).toBe(200);
    } finally {
      await started.close();
    }
  });

  test('while it is idle, with two errors, does not end the process', async () => {
    const { server, app } = await start();
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(requests(app, `round-${round}`));
      server.sayTheEnd();
      await pause(50);
    }
    await expectAlive(app);
  });

  test('at any moment ends no process', async () => {
    const { server, app } = await start();
    const end = performance.now() + 4000;
    const stop = new AbortController();
    const killer = (async () => {
      while (!stop.signal.aborted) {
        await server.killOneSession();
        await pause(Math.random() * 5);
      }
    })();
    const statuses = new Set<number | undefined>();
    for (let round = 0; performance.now() < end && app.child.exitCode === null; round += 1) {
      for (const answer of await Promise.all(
        [0, 1, 2].flatMap((each) => requests(app, `round-${round}-${each}`)),
      ))
        statuses.add(answer?.status);
    }
    stop.abort();
    await killer;
    expect([app.child.exitCode, app.errors()]).toEqual([null, '']);
    expect(statuses.has(undefined)).toBe(false);
    await expectAlive(app);
  });
});
