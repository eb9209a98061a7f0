import { describe, expect, test } from '@jest/globals';
import { AcquireDeadlines } from './acquire-timeout.js';
import type { CancellableReads } from './running-reads.js';
import { PoolQueue } from './pool-queue.js';
import type { Permit } from './pool-queue.js';
import { withPooledConnection } from './postgres-pool.js';
import type { DriverPool } from '../port.js';

/** A pool of one connection, which counts how often it was taken and returned. */
class FakePool implements DriverPool {
  taken = 0;
  readonly returned: boolean[] = [];

  connect(callback: Parameters<DriverPool['connect']>[0]): void {
    this.taken++;
    callback(undefined, {}, (broken = false) => this.returned.push(broken));
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
    const permit = (await queue.acquire(undefined, deadlines)) as Permit;
    return withPooledConnection(pool, { use, permit, reading: undefined }, rules);
  };
  const results = await Promise.allSettled([run(first), run(() => Promise.resolve('second'))]);
  expect(results[1]).toEqual({ status: 'fulfilled', value: 'second' });
  return results[0];
}

describe('a pooled connection', () => {
  test('is returned to its pool after each statement, also after one that fails', async () => {
    const pool = new FakePool();
    const error = new Error('duplicate key');
    expect(await runTwo(pool, () => Promise.reject(error))).toMatchObject({ reason: error });
    expect(pool).toMatchObject({ taken: 2, returned: [false, false] });
  });

  test('is removed from the pool if it was lost', async () => {
    const pool = new FakePool();
    await runTwo(pool, () => Promise.reject(LOST));
    expect(pool).toMatchObject({ taken: 2, returned: [true, false] });
  });

  test('that cannot be acquired holds no permit', async () => {
    const queue = new PoolQueue(1);
    const broken: DriverPool = {
      connect: () => {
        throw new Error('wrapped');
      },
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      const permit = (await queue.acquire(undefined, deadlines)) as Permit;
      const use = withPooledConnection(broken, { use: () => undefined, permit, reading: undefined }, rules);
      await expect(use).rejects.toThrow('wrapped');
    }
  });
});
