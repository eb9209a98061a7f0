// @tags db nest
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { EventSubscriber } from 'typeorm';
import type { EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { ENTITIES, Job, JOBS } from './domain.js';
import { lentOut, pause, until } from './faulty-server.js';
import { StatementLog } from './statement-log.js';

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

const PAGES = 4;
const log = new StatementLog();
let started: StartedApp;
const held: QueryRunner[] = [];

async function start(database: Parameters<Parameters<typeof onEachDatabase>[1]>[0]): Promise<void> {
  blocked = undefined;
  started = await startApp({
    compare: false,
    entities: ENTITIES,
    database,
    dataSource: { subscribers: [Blocker], logging: true, logger: log },
  });
  const repository = started.dataSource.getRepository(Job);
  for (let page = 0; page < PAGES; page += 1) {
    await repository
      .createQueryBuilder()
      .insert()
      .values(Array.from({ length: 1000 }, (_, index) => ({ code: `c${page}-${index}` })))
      .callListeners(false)
      .updateEntity(false)
      .execute();
  }
}

afterEach(async () => {
  unblock();
  for (const runner of held.splice(0)) {
    await runner.query(started.dataSource.options.type === 'postgres' ? 'ROLLBACK' : 'UNLOCK TABLES');
    await runner.release();
  }
});

function lists(count: number): readonly ClientRequest[] {
  return Array.from({ length: count }, () => {
    const outgoing = request(
      { host: '127.0.0.1', port: started.port, path: `${JOBS}?ordering=-id`, agent: false },
      (incoming) => incoming.resume(),
    );
    outgoing.on('error', () => undefined);
    outgoing.end();
    return outgoing;
  });
}

const pagesRead = (): number =>
  log.statements.filter((each) => /works_job.* LIMIT \d{2,}/s.test(each)).length;

async function expectGoodForOthers(): Promise<void> {
  await until(
    () => lentOut(started.dataSource).lent === 0 && lentOut(started.dataSource).waiting === 0,
    () => lentOut(started.dataSource),
  );
  const { status, json } = await started.client.get(JOBS);
  expect([status, (json as unknown[]).length]).toEqual([200, PAGES * 1000]);
}

onEachServer('a client that disconnects during the first statement of a list', (database) => {
  beforeAll(() => start(database));
  afterAll(() => started.close());

  test('causes no further statement, and its database connection is released', async () => {
    const blocker = started.dataSource.createQueryRunner();
    held.push(blocker);
    for (const statement of database.name === 'postgres'
      ? ['BEGIN', 'LOCK TABLE works_job IN ACCESS EXCLUSIVE MODE']
      : ['LOCK TABLES works_job WRITE'])
      await blocker.query(statement);
    log.clear();
    const asked = lists(3);
    await until(() => pagesRead() === 3);
    for (const each of asked) each.destroy();
    await pause(50);
    await blocker.query(database.name === 'postgres' ? 'ROLLBACK' : 'UNLOCK TABLES');
    await until(() => lentOut(started.dataSource).lent === 1);
    await pause(100);
    expect(pagesRead()).toBe(3);
    await held.pop()?.release();
    await expectGoodForOthers();
  });

  test('causes no statement if it disconnected while its request waited for a connection', async () => {
    for (let count = 0; count < 4; count += 1) {
      const runner = started.dataSource.createQueryRunner();
      await runner.connect();
      held.push(runner);
    }
    log.clear();
    const asked = lists(20);
    // The others wait for these: one caller leaves a connection of the pool to others.
    await until(
      () => lentOut(started.dataSource).waiting === 3,
      () => lentOut(started.dataSource),
    );
    await pause(300);
    for (const each of asked) each.destroy();
    await pause(50);
    for (const runner of held.splice(0)) await runner.release();
    await until(() => lentOut(started.dataSource).lent === 0);
    await pause(50);
    expect(pagesRead()).toBe(0);
    await expectGoodForOthers();
  });
});

onEachDatabase('a client that disconnects while another one writes', (database) => {
  beforeAll(() => start(database));
  afterAll(() => started.close());

  test('causes no statement if its list had to wait for that, and the write continues', async () => {
    waiting = 0;
    blocked = new Promise((resolve) => (unblock = resolve));
    const writing = started.client.post(JOBS, { code: 'new' });
    await until(() => waiting === 1);
    log.clear();
    const asked = lists(5);
    await pause(200);
    const before = pagesRead();
    // A database of one connection keeps them waiting; the others have begun.
    expect(before === 0).toBe(database.name === 'sqlite');
    for (const each of asked) each.destroy();
    await pause(100);
    const after = pagesRead();
    unblock();
    const { status, json } = await writing;
    expect(status).toBe(201);
    await pause(100);
    expect(pagesRead()).toBe(after);
    expect((await started.client.delete(`${JOBS}${(json as { id: number }).id}/`)).status).toBe(204);
    await expectGoodForOthers();
  });

  test('does not interrupt its own write', async () => {
    waiting = 0;
    blocked = new Promise((resolve) => (unblock = resolve));
    const outgoing = request({
      host: '127.0.0.1',
      port: started.port,
      path: JOBS,
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json' },
    });
    outgoing.on('error', () => undefined);
    outgoing.end(JSON.stringify({ code: 'alone' }));
    await until(() => waiting === 1);
    outgoing.destroy();
    await pause(50);
    unblock();
    let found: { id: number }[] = [];
    await until(
      async () =>
        (found = (await started.client.get(`${JOBS}?code=alone`)).json as { id: number }[]).length === 1,
    );
    expect((await started.client.delete(`${JOBS}${found[0]?.id ?? 0}/`)).status).toBe(204);
    await expectGoodForOthers();
  });
});
