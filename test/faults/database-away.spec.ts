// @tags db nest
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { AfterLoad, Column, Entity, EventSubscriber, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSource, EntitySubscriberInterface } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { AWAY, ENTITIES, JOBS } from './domain.js';
import { faultyServer, lentOut, until } from './faulty-server.js';
import type { FaultyServer } from './faulty-server.js';

/** Is loaded through TypeORM, because its class has a say in its values. */
@Restify('works')
@Entity('works_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;

  @AfterLoad()
  shout(): void {
    this.text = this.text.toUpperCase();
  }
}

/** Does something to the line at a moment inside a request. */
let during: { readonly moment: 'insert' | 'commit'; readonly act: () => Promise<void> } | undefined;

async function reach(moment: 'insert' | 'commit'): Promise<void> {
  if (during?.moment !== moment) return;
  const { act } = during;
  during = undefined;
  await act();
}

@EventSubscriber()
class Moments implements EntitySubscriberInterface {
  async afterInsert(): Promise<void> {
    await reach('insert');
  }

  async beforeTransactionCommit(): Promise<void> {
    await reach('commit');
  }
}

function expectAway(answer: Answer): void {
  expect([answer.status, answer.json, answer.headers['retry-after'], answer.headers['content-type']]).toEqual(
    [503, AWAY, '5', 'application/json'],
  );
}

const idle = (dataSource: DataSource) => (): boolean =>
  lentOut(dataSource).lent === 0 && lentOut(dataSource).waiting === 0;

onEachServer('a database that becomes unavailable', (database) => {
  let server: FaultyServer;
  let started: StartedApp;
  beforeAll(async () => {
    server = faultyServer(database);
    started = await startApp({
      compare: false,
      entities: [...ENTITIES, Note],
      database: server.database,
      dataSource: { subscribers: [Moments] },
    });
  });
  beforeEach(async () => {
    await server.query('DELETE FROM works_job');
  });
  afterEach(() => {
    during = undefined;
  });
  afterAll(async () => {
    await started.close();
    await server.leave();
  });

  const codes = async (): Promise<readonly string[]> =>
    (await server.query<{ code: string }>('SELECT code FROM works_job ORDER BY id')).map(({ code }) => code);
  const post = (code: string): Promise<Answer> => started.client.post(JOBS, { code });

  /** What holds after every fault: the next requests are served, nothing is lent out, and the server has no session that is at work. */
  async function expectRecovered(): Promise<void> {
    // The pool learns of a session that has ended when the news reach its socket.
    await until(async () => (await started.client.get(JOBS)).status === 200);
    const answers = await Promise.all(Array.from({ length: 12 }, () => started.client.get(JOBS)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect((await post('after')).status).toBe(201);
    expect(await codes()).toContain('after');
    await until(idle(started.dataSource), () => lentOut(started.dataSource));
    await until(async () => (await server.sessions()).busy === 0);
    expect((await server.sessions()).all).toBeLessThanOrEqual(4);
  }

  /** Reads and writes without a pause until `stop` is called; then what was answered. */
  function load(): { stop(): Promise<readonly { method: string; code: string; answer: Answer }[]> } {
    let going = true;
    const answered: { method: string; code: string; answer: Answer }[] = [];
    const worker = async (name: number): Promise<void> => {
      for (let round = 0; going; round += 1) {
        const code = `w${name}-${round}`;
        answered.push({ method: 'POST', code, answer: await post(code) });
        answered.push({ method: 'GET', code, answer: await started.client.get(JOBS) });
        answered.push({ method: 'GET', code, answer: await started.client.get('/rest/v1/works/note/') });
      }
    };
    const workers = Array.from({ length: 8 }, (_, name) => worker(name));
    return {
      stop: async () => {
        going = false;
        await Promise.all(workers);
        return answered;
      },
    };
  }

  test.each(['the line is cut', 'the server ends all sessions'])(
    'under load, when %s: answers are right or 503, and it recovers by itself',
    async (fault) => {
      await started.dataSource.getRepository(Note).insert([{ text: 'a' }, { text: 'b' }]);
      const working = load();
      const breaks = (): Promise<void> =>
        fault === 'the line is cut' ? server.cut() : server.killSessions();
      for (let round = 0; round < 4; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 150));
        await breaks();
        if (fault === 'the line is cut') {
          await new Promise((resolve) => setTimeout(resolve, 60));
          await server.mend();
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 150));
      const answered = await working.stop();
      const failed = answered.filter(({ answer }) => answer.status === 503);
      expect(failed.length).toBeGreaterThan(0);
      for (const { answer } of failed) expectAway(answer);
      expect(
        answered
          .filter(
            ({ method, answer }) =>
              answer.status !== 503 && answer.status !== (method === 'POST' ? 201 : 200),
          )
          .map(({ method, answer }) => [method, answer.status, answer.text.slice(0, 200)]),
      ).toEqual([]);
      // What was answered with 201 stays; what was not may or may not.
      const stored = new Set(await codes());
      expect(
        answered
          .filter(
            ({ method, answer }) =>
              method === 'POST' &&
              answer.status === 201 &&
              (answer.json as { code?: string }).code !== undefined,
          )
          .filter(({ code }) => !stored.has(code)),
      ).toEqual([]);
      await expectRecovered();
    },
  );

  test.each(['insert', 'commit'] as const)(
    'in the middle of a write, behind its %s: 503, nothing of it stays, and the next one is served',
    async (moment) => {
      during = { moment, act: () => server.killSessions() };
      expectAway(await post('lost'));
      expect(await codes()).toEqual([]);
      await expectRecovered();
    },
  );

  test('in the middle of a write, by a line that is cut: 503, and nothing of it stays', async () => {
    during = { moment: 'insert', act: () => server.cut() };
    expectAway(await post('lost'));
    await server.mend();
    expect(await codes()).toEqual([]);
    await expectRecovered();
  });

  test('before a request, on every way to it: 503', async () => {
    await server.cut();
    for (const path of [
      JOBS,
      `${JOBS}1/`,
      `${JOBS}1/parts/`,
      '/rest/v1/works/note/',
      '/rest/v1/works/note/1/',
    ])
      expectAway(await started.client.get(path));
    expectAway(await post('lost'));
    expectAway(await started.client.patch(`${JOBS}1/`, { votes: 1 }));
    expectAway(await started.client.delete(`${JOBS}1/`));
    await server.mend();
    await expectRecovered();
  });
});
