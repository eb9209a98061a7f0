// @tags db http nest
import { afterEach, expect, jest, test } from '@jest/globals';
import { Agent, request } from 'node:http';
import { EventSubscriber } from 'typeorm';
import type { EntitySubscriberInterface } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { ENTITIES, JOBS } from './domain.js';
import { pause, until } from './faulty-server.js';

/** What a write waits for behind its INSERT, and how many do. */
let blocked: Promise<void> | undefined;
let unblock = (): void => undefined;
let waiting = 0;

@EventSubscriber()
class Blocker implements EntitySubscriberInterface {
  async afterInsert(): Promise<void> {
    waiting += 1;
    await blocked;
  }
}

afterEach(() => {
  unblock();
  jest.restoreAllMocks();
});

function block(): void {
  waiting = 0;
  blocked = new Promise((resolve) => (unblock = resolve));
}

/** The code of a socket that is not answered; else the status. */
function outcome(sent: Promise<Answer>): Promise<number | string> {
  return sent.then(
    ({ status }) => status,
    (error: unknown) => String((error as { code?: unknown }).code),
  );
}

/** Over a connection that was used before, and is kept. */
function over(agent: Agent, port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port, path: JOBS, agent }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => {
        resolve(incoming.statusCode ?? 0);
      });
    });
    outgoing.on('error', (error: Error & { code?: string }) => {
      resolve(error.code ?? error.message);
    });
    outgoing.end();
  });
}

onEachDatabase('an application with shutdown hooks', (database) => {
  test.each(['close', 'SIGTERM'])(
    'that is ended by %s finishes what runs, takes nothing new, and closes its data source',
    async (way) => {
      const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as () => never);
      const started: StartedApp = await startApp({
        compare: false,
        entities: ENTITIES,
        database,
        dataSource: { subscribers: [Blocker] },
        configure: (app) => app.enableShutdownHooks(way === 'close' ? [] : [way], { useProcessExit: true }),
      });
      const { client, port, app, dataSource } = started;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect(await over(agent, port)).toBe(200);
      block();
      // SQLite has one connection: there the second write has not begun yet, and is finished all the same.
      const running = ['a', 'b'].map((code) => client.post(JOBS, { code }));
      await until(() => waiting === (database.name === 'sqlite' ? 1 : 2));
      await pause(50);
      let closed = false;
      if (way === 'close') void app.close().then(() => (closed = true));
      else process.emit('SIGTERM');
      // What comes before the server closes is served; that the database is busy is no matter of this one.
      await until(async () => (await outcome(client.get('/'))) === 'ECONNREFUSED');
      // What was kept without being in use is closed too.
      expect(['ECONNREFUSED', 'ECONNRESET']).toContain(await over(agent, port));
      expect([closed, dataSource.isInitialized, exit.mock.calls.length]).toEqual([false, true, 0]);
      unblock();
      const answers = await Promise.all(running);
      expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([
        [201, 'close'],
        [201, 'close'],
      ]);
      // Not only when the connections have been idle for long enough.
      await until(
        () => !dataSource.isInitialized,
        () => 'closed',
        2000,
      );
      if (way === 'close') await until(() => closed);
      else {
        await until(() => exit.mock.calls.length > 0);
        expect(exit.mock.calls).toEqual([[0]]);
      }
      agent.destroy();
      await started.close().catch(() => undefined);
    },
  );
});
