// @tags db nest
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { InvalidInput } from 'nestjs-restify';
import { EventSubscriber } from 'typeorm';
import type {
  EntityManager,
  EntitySubscriberInterface,
  InsertEvent,
  RemoveEvent,
  UpdateEvent,
} from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { ENTITIES, Job, JOBS, Part, PARTS, Tag } from './domain.js';
import { lentOut, pause } from './faulty-server.js';

type Moment =
  | 'beforeInsert'
  | 'afterInsert'
  | 'beforeUpdate'
  | 'afterUpdate'
  | 'beforeRemove'
  | 'afterRemove'
  | 'beforeTransactionCommit'
  | 'beforeTransactionRollback'
  | 'afterTransactionRollback'
  | 'afterTransactionStart'
  | 'beforeTransactionStart';

/** What happens at a moment of the next writes; given the manager of their transaction. */
const acts = new Map<Moment, (manager: EntityManager) => Promise<unknown>>();

async function reach(moment: Moment, { manager }: { readonly manager: EntityManager }): Promise<void> {
  const act = acts.get(moment);
  // What it writes itself reaches no moment.
  acts.delete(moment);
  if (act) await act(manager);
}

@EventSubscriber()
class Acts implements EntitySubscriberInterface {
  beforeInsert = (event: InsertEvent<object>): Promise<void> => reach('beforeInsert', event);
  afterInsert = (event: InsertEvent<object>): Promise<void> => reach('afterInsert', event);
  beforeUpdate = (event: UpdateEvent<object>): Promise<void> => reach('beforeUpdate', event);
  afterUpdate = (event: UpdateEvent<object>): Promise<void> => reach('afterUpdate', event);
  beforeRemove = (event: RemoveEvent<object>): Promise<void> => reach('beforeRemove', event);
  afterRemove = (event: RemoveEvent<object>): Promise<void> => reach('afterRemove', event);
  beforeTransactionStart = (event: { manager: EntityManager }): Promise<void> =>
    reach('beforeTransactionStart', event);
  afterTransactionStart = (event: { manager: EntityManager }): Promise<void> =>
    reach('afterTransactionStart', event);
  beforeTransactionCommit = (event: { manager: EntityManager }): Promise<void> =>
    reach('beforeTransactionCommit', event);
  beforeTransactionRollback = (event: { manager: EntityManager }): Promise<void> =>
    reach('beforeTransactionRollback', event);
  afterTransactionRollback = (event: { manager: EntityManager }): Promise<void> =>
    reach('afterTransactionRollback', event);
}

const SERVER_ERROR = [500, { detail: 'A server error occurred.' }] as const;

function answered({ status, json }: Answer): readonly [number, unknown] {
  return [status, json];
}

let started: StartedApp;

async function rows(): Promise<{
  jobs: readonly (readonly [string, number])[];
  parts: readonly string[];
  tags: number;
}> {
  const { manager } = started.dataSource;
  const jobs = await manager.find(Job, { order: { id: 'ASC' } });
  const parts = await manager.find(Part, { order: { id: 'ASC' } });
  return {
    jobs: jobs.map(({ code, votes }) => [code, votes]),
    parts: parts.map(({ name }) => name),
    tags: await manager.count(Tag),
  };
}

async function begin(): Promise<Job> {
  acts.clear();
  const { manager } = started.dataSource;
  for (const entity of [Part, Job, Tag]) await manager.createQueryBuilder().delete().from(entity).execute();
  return manager.save(Job, { code: 'old', votes: 1, parts: [{ name: 'wheel' }, { name: 'axle' }] } as Job);
}

const BEFORE = { jobs: [['old', 1]], parts: ['wheel', 'axle'], tags: 0 };

onEachDatabase('a write that fails after its first statement', (database) => {
  let job: Job;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: ENTITIES,
      database,
      dataSource: { subscribers: [Acts] },
    });
  });
  beforeEach(async () => {
    job = await begin();
  });
  afterEach(async () => {
    acts.clear();
    expect(lentOut(started.dataSource).lent).toBe(0);
    expect((await started.client.post(JOBS, { code: 'next' })).status).toBe(201);
    expect((await rows()).jobs).toContainEqual(['next', 0]);
  });
  afterAll(() => started.close());

  /** Writes a row of its own, and fails behind it. */
  const writeAndFail = async (manager: EntityManager): Promise<never> => {
    await manager.insert(Tag, {});
    throw new Error('half-way, with a secret');
  };

  const WRITES: readonly (readonly [moment: Moment, method: string, send: () => Promise<Answer>])[] = [
    ['afterTransactionStart', 'POST', () => started.client.post(JOBS, { code: 'new' })],
    ['beforeInsert', 'POST', () => started.client.post(JOBS, { code: 'new' })],
    ['afterInsert', 'POST', () => started.client.post(JOBS, { code: 'new' })],
    ['beforeTransactionCommit', 'POST', () => started.client.post(JOBS, { code: 'new' })],
    ['beforeUpdate', 'PATCH', () => started.client.patch(`${JOBS}${job.id}/`, { votes: 9 })],
    ['afterUpdate', 'PATCH', () => started.client.patch(`${JOBS}${job.id}/`, { votes: 9 })],
    ['afterUpdate', 'PUT', () => started.client.put(`${JOBS}${job.id}/`, { code: 'put', votes: 9 })],
    ['beforeTransactionCommit', 'PATCH', () => started.client.patch(`${JOBS}${job.id}/`, { votes: 9 })],
    ['beforeRemove', 'DELETE', () => started.client.delete(`${JOBS}${job.id}/`)],
    ['afterRemove', 'DELETE', () => started.client.delete(`${JOBS}${job.id}/`)],
    ['beforeTransactionCommit', 'DELETE', () => started.client.delete(`${JOBS}${job.id}/`)],
  ];

  test.each(WRITES)('in %s of a %s leaves nothing behind', async (moment, _method, send) => {
    acts.set(moment, writeAndFail);
    expect(answered(await send())).toEqual(SERVER_ERROR);
    expect(await rows()).toEqual(BEFORE);
  });

  test('through the cascades of what a listener saves leaves nothing behind', async () => {
    acts.set('afterInsert', (manager) =>
      manager.save(Job, { code: 'child', parts: [{ name: 'whole' }, { name: null }] } as unknown as Job),
    );
    expect(answered(await started.client.post(JOBS, { code: 'new' }))).toEqual(SERVER_ERROR);
    expect(await rows()).toEqual(BEFORE);
  });

  test('through the unique key of what a listener writes is 400, and leaves nothing behind', async () => {
    acts.set('afterUpdate', (manager) => manager.insert(Job, { code: 'old' }));
    expect((await started.client.patch(`${JOBS}${job.id}/`, { votes: 9 })).status).toBe(400);
    expect(await rows()).toEqual(BEFORE);
  });

  test('by a refusal of a listener answers that refusal, and leaves nothing behind', async () => {
    acts.set('afterInsert', async (manager) => {
      await manager.insert(Tag, {});
      throw InvalidInput.of('code', 'No more jobs today.');
    });
    expect(answered(await started.client.post(JOBS, { code: 'new' }))).toEqual([
      400,
      { code: ['No more jobs today.'] },
    ]);
    expect(await rows()).toEqual(BEFORE);
  });

  test('by an HttpException of a listener answers that, and leaves nothing behind', async () => {
    acts.set('beforeTransactionCommit', () => Promise.reject(new ConflictException('Closed for today.')));
    expect(answered(await started.client.delete(`${JOBS}${job.id}/`))).toEqual([
      409,
      { detail: 'Closed for today.' },
    ]);
    expect(await rows()).toEqual(BEFORE);
  });

  test('below a parent leaves nothing behind', async () => {
    acts.set('beforeTransactionCommit', writeAndFail);
    expect(answered(await started.client.post(PARTS, { name: 'new', job: job.id }))).toEqual(SERVER_ERROR);
    const { id } = await started.dataSource.getRepository(Tag).save({});
    acts.set('beforeTransactionCommit', writeAndFail);
    expect(answered(await started.client.post(`${JOBS}${job.id}/tags/`, { tag: id }))).toEqual(SERVER_ERROR);
    expect((await started.client.get(`${JOBS}${job.id}/tags/`)).json).toEqual([]);
    expect(await rows()).toEqual({ ...BEFORE, tags: 1 });
  });

  test('is not visible to others while it lasts', async () => {
    let reading: Promise<Answer> | undefined;
    acts.set('afterUpdate', async () => {
      reading = started.client.get(`${JOBS}${job.id}/`);
      await pause(100);
      throw new Error('half-way');
    });
    expect(answered(await started.client.patch(`${JOBS}${job.id}/`, { votes: 9 }))).toEqual(SERVER_ERROR);
    expect((await reading)?.json).toEqual(expect.objectContaining({ code: 'old', votes: 1 }));
  });
});

onEachDatabase('a subscriber that fails while a transaction', (database) => {
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: ENTITIES,
      database,
      dataSource: { subscribers: [Acts] },
    });
  });
  beforeEach(begin);
  afterAll(() => started.close());

  test.each(['beforeTransactionRollback', 'afterTransactionRollback', 'beforeTransactionStart'] as const)(
    'is in %s leaves no connection in a transaction',
    async (moment) => {
      for (let count = 0; count < 6; count += 1) {
        acts.set(moment, () => Promise.reject(new Error('and again')));
        if (moment !== 'beforeTransactionStart')
          acts.set('afterInsert', () => Promise.reject(new Error('half-way')));
        expect(answered(await started.client.post(JOBS, { code: 'new' }))).toEqual(SERVER_ERROR);
      }
      acts.clear();
      expect(await rows()).toEqual(BEFORE);
      const made = await Promise.all(
        Array.from({ length: 8 }, (_, index) => started.client.post(JOBS, { code: `next${index}` })),
      );
      expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
      // Each connection sees all of it: none is in an older transaction.
      const lists = await Promise.all(Array.from({ length: 8 }, () => started.client.get(JOBS)));
      expect(lists.map(({ json }) => (json as unknown[]).length)).toEqual(Array.from({ length: 8 }, () => 9));
      expect(lentOut(started.dataSource).lent).toBe(0);
    },
  );
});
