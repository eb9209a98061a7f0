import { describe, expect, test } from '@jest/globals';
import type { Requester } from '../../core/query/plan.js';
import { PoolQueue } from './pool-queue.js';
import type { Permit } from './pool-queue.js';
import { AcquireDeadlines } from './acquire-timeout.js';

const as = (caller: string): Requester => ({ caller, isAborted: () => false });

/**
 * Records the names of granted permits, in order. `releaseAll` grants all of them: a pending one would be rejected a minute
 * later, while the process runs another test file.
 */
function recordPermits(queue: PoolQueue, deadlines = new AcquireDeadlines(60_000)) {
  const requested: string[] = [];
  const granted: string[] = [];
  const permits = new Map<string, Permit>();
  const request = (name: string): void => {
    requested.push(name);
    void Promise.resolve(queue.acquire(as(name.slice(0, 1)), deadlines)).then((permit) => {
      granted.push(name);
      if (permit) permits.set(name, permit);
    });
  };
  const release = async (name: string): Promise<void> => {
    permits.get(name)?.release();
    permits.delete(name);
    await new Promise(setImmediate);
  };
  const releaseAll = async (): Promise<void> => {
    while (permits.size > 0) for (const name of permits.keys()) await release(name);
    expect([...granted].sort()).toEqual([...requested].sort());
  };
  return { granted, request, release, releaseAll, settle: () => new Promise(setImmediate) };
}

describe('the queue of a pool', () => {
  test('reserves one connection for other callers', async () => {
    const { granted, request, release, releaseAll, settle } = recordPermits(new PoolQueue(4));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) request(name);
    await settle();
    expect(granted).toEqual(['a1', 'a2', 'a3']);
    request('b1');
    await settle();
    expect(granted).toEqual(['a1', 'a2', 'a3', 'b1']);
    await release('b1');
    expect(granted).toHaveLength(4);
    await release('a1');
    expect(granted).toEqual(['a1', 'a2', 'a3', 'b1', 'a4']);
    await releaseAll();
  });

  test('serves the caller with the fewest connections first, and callers with equally many in turn', async () => {
    const { granted, request, release, releaseAll, settle } = recordPermits(new PoolQueue(3));
    for (const name of ['a1', 'a2', 'b1', 'a3', 'a4', 'b2', 'c1', 'c2']) request(name);
    await settle();
    expect(granted).toEqual(['a1', 'a2', 'b1']);
    await release('a1');
    expect(granted.at(-1)).toBe('c1');
    await release('a2');
    expect(granted.at(-1)).toBe('a3');
    await release('c1');
    expect(granted.at(-1)).toBe('c2');
    await releaseAll();
  });

  test.each([1, 2])('reserves no connection of a pool of %d', async (size) => {
    const { granted, request, release, releaseAll, settle } = recordPermits(new PoolQueue(size));
    for (const name of ['a1', 'a2', 'a3']) request(name);
    await settle();
    expect(granted).toHaveLength(size);
    await release('a1');
    expect(granted).toHaveLength(size + 1);
    await releaseAll();
  });

  test('grants the last connection to a request without a caller', async () => {
    const queue = new PoolQueue(3);
    const deadlines = new AcquireDeadlines(60_000);
    const permits = Array.from({ length: 4 }, () => queue.acquire(undefined, deadlines));
    await new Promise(setImmediate);
    expect(permits.map((each) => each instanceof Promise)).toEqual([false, false, false, true]);
    (permits[0] as Permit).release();
    expect(await permits[3]).toBeDefined();
  });

  test('needs no second permit inside of a permit', async () => {
    const queue = new PoolQueue(1);
    const deadlines = new AcquireDeadlines(60_000);
    const permit = (await queue.acquire(as('a'), deadlines)) as Permit;
    await queue.runInside(permit, () => {
      expect(queue.acquire(as('a'), deadlines)).toBeUndefined();
      return Promise.resolve();
    });
    queue.release(permit);
    await queue.runInside(permit, async () => {
      expect(await queue.acquire(as('a'), deadlines)).toBeDefined();
    });
  });

  test('rejects a request at its deadline, and serves the next one', async () => {
    const queue = new PoolQueue(1);
    const permit = (await queue.acquire(as('a'), new AcquireDeadlines(1000))) as Permit;
    await expect(Promise.resolve(queue.acquire(as('b'), new AcquireDeadlines(20)))).rejects.toThrow(
      'The database is unavailable',
    );
    const later = Promise.resolve(queue.acquire(as('b'), new AcquireDeadlines(5000)));
    queue.release(permit);
    expect(await later).toBeDefined();
  });

  test('grants permits while an anonymous requester waits', async () => {
    const queue = new PoolQueue(3);
    const deadlines = new AcquireDeadlines(60_000);
    const unknown: Requester = {
      isAborted: () => false,
      get caller(): string {
        throw new Error('no name');
      },
    };
    const first = (await queue.acquire(unknown, deadlines)) as Permit;
    const second = (await queue.acquire(unknown, deadlines)) as Permit;
    const waiting = Promise.resolve(queue.acquire(unknown, deadlines));
    const other = (await queue.acquire(as('a'), deadlines)) as Permit;
    first.release();
    expect(await waiting).toBeDefined();
    for (const permit of [second, other, await waiting]) permit?.release();
  });
});
