import { describe, expect, test } from '@jest/globals';
import { AcquireDeadlines } from './acquire-timeout.js';
import type { CancellableReads } from './running-reads.js';
import { PoolQueue } from './pool-queue.js';
import type { Permit } from './pool-queue.js';
import { withPooledConnection } from './postgres-pool.js';
import type { DriverPool } from '../port.js';

type Client = { _queryable?: boolean; _ending?: boolean };

/** A pool of one connection, which counts how often it was taken and returned. */
class FakePool implements DriverPool {
  taken = 0;
  readonly returned: boolean[] = [];
  waitingCount = 0;
  ending = false;
  /** This package listens to `acquire`. */
  readonly listeners = { acquire: 1, release: 0 };
  readonly client: Client = { _queryable: true, _ending: false };

  constructor(readonly options: NonNullable<DriverPool['options']> = {}) {}

  listenerCount(event: 'acquire' | 'release'): number {
    return this.listeners[event];
  }

  connect(callback: Parameters<DriverPool['connect']>[0]): void {
    this.taken++;
    callback(undefined, this.client, (broken = false) => this.returned.push(broken));
  }
}

const LOST = new Error('connection lost');
const deadlines = new AcquireDeadlines(60_000);
const rules = {
  deadlines,
  isBroken: (error: unknown) => error === LOST,
  reads: {} as CancellableReads,
};

/** Runs two uses of the pool, of which the second waits for the first. */
async function runTwo(pool: DriverPool, first: () => Promise<unknown>): Promise<unknown> {
  const queue = new PoolQueue(1);
  const run = async (use: () => Promise<unknown>): Promise<unknown> => {
    const permit = (await queue.acquire(undefined, deadlines, pool)) as Permit;
    return withPooledConnection(pool, { use, permit, reading: undefined }, rules);
  };
  const results = await Promise.allSettled([run(first), run(() => Promise.resolve('second'))]);
  expect(results[1]).toEqual({ status: 'fulfilled', value: 'second' });
  return results[0];
}

describe('a pooled connection', () => {
  test('is passed to the next statement, and returned after the last', async () => {
    const pool = new FakePool();
    await runTwo(pool, () => Promise.resolve());
    expect(pool).toMatchObject({ taken: 1, returned: [false] });
  });

  test('is passed after an error of the statement', async () => {
    const pool = new FakePool();
    const error = new Error('duplicate key');
    expect(await runTwo(pool, () => Promise.reject(error))).toMatchObject({ reason: error });
    expect(pool).toMatchObject({ taken: 1, returned: [false] });
  });

  test.each<readonly [string, FakePool, (pool: FakePool) => unknown]>([
    ['others wait in the pool', new FakePool(), (pool) => (pool.waitingCount = 1)],
    ['the pool limits its uses', new FakePool({ maxUses: 100 }), () => undefined],
    ['the pool limits its lifetime', new FakePool({ maxLifetimeSeconds: 60 }), () => undefined],
    ['the pool is ending', new FakePool(), (pool) => (pool.ending = true)],
    ['the application has wrapped it', new FakePool(), (pool) => (pool.connect = pool.connect.bind(pool))],
    ['the application listens to its return', new FakePool(), ({ listeners }) => (listeners.release = 1)],
    ['the application listens to its checkout', new FakePool(), ({ listeners }) => (listeners.acquire = 2)],
    ['the driver cannot use it', new FakePool(), ({ client }) => (client._queryable = false)],
    ['the driver does not tell that it can use it', new FakePool(), ({ client }) => delete client._queryable],
    ['the driver is ending it', new FakePool(), ({ client }) => (client._ending = true)],
  ])('is returned to the pool if %s', async (_, pool, change) => {
    await runTwo(pool, () => Promise.resolve(change(pool)));
    expect(pool).toMatchObject({ taken: 2, returned: [false, false] });
  });

  test('is removed from the pool if it was lost', async () => {
    const pool = new FakePool();
    await runTwo(pool, () => Promise.reject(LOST));
    expect(pool).toMatchObject({ taken: 2, returned: [true, false] });
  });

  test('is returned to a pool that is not that of pg', async () => {
    const pool = new FakePool();
    const other: DriverPool = {
      connect: (callback) => {
        pool.connect(callback);
      },
    };
    await runTwo(other, () => Promise.resolve());
    expect(pool).toMatchObject({ taken: 2, returned: [false, false] });
  });

  test('that cannot be acquired holds no permit', async () => {
    const queue = new PoolQueue(1);
    const broken: DriverPool = {
      connect: () => {
        throw new Error('wrapped');
      },
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      const permit = (await queue.acquire(undefined, deadlines, broken)) as Permit;
      const use = withPooledConnection(broken, { use: () => undefined, permit, reading: undefined }, rules);
      await expect(use).rejects.toThrow('wrapped');
    }
  });
});
