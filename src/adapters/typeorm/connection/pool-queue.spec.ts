import { describe, expect, test } from '@jest/globals';
import type { Requester } from '../../../core/contracts/requester.js';
import { PoolQueue } from './pool-queue.js';
import type { Permit } from './pool-queue.js';
import { AcquireDeadlines } from './acquire-timeout.js';

const as = (caller: string): Requester => ({ caller, isAborted: () => false });

/**
 * The names of those who have a turn, in the order in which they got it. `leaveAll` gives everybody a turn: who still waits at
 * the end of a test is refused a minute later, while another file of the process runs.
 */
function watched(queue: PoolQueue, room = new AcquireDeadlines(60_000)) {
  const asked: string[] = [];
  const got: string[] = [];
  const turns = new Map<string, Permit>();
  const ask = (name: string): void => {
    asked.push(name);
    void Promise.resolve(queue.enter(as(name.slice(0, 1)), room)).then((turn) => {
      got.push(name);
      if (turn) turns.set(name, turn);
    });
  };
  const leave = async (name: string): Promise<void> => {
    turns.get(name)?.leave();
    turns.delete(name);
    await new Promise(setImmediate);
  };
  const leaveAll = async (): Promise<void> => {
    while (turns.size > 0) for (const name of turns.keys()) await leave(name);
    expect([...got].sort()).toEqual([...asked].sort());
  };
  return { got, ask, leave, leaveAll, settle: () => new Promise(setImmediate) };
}

describe('the queue of a pool', () => {
  test('leaves one connection to others', async () => {
    const { got, ask, leave, leaveAll, settle } = watched(new PoolQueue(4));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) ask(name);
    await settle();
    expect(got).toEqual(['a1', 'a2', 'a3']);
    ask('b1');
    await settle();
    expect(got).toEqual(['a1', 'a2', 'a3', 'b1']);
    await leave('b1');
    expect(got).toHaveLength(4);
    await leave('a1');
    expect(got).toEqual(['a1', 'a2', 'a3', 'b1', 'a4']);
    await leaveAll();
  });

  test('lets those go first who have fewest, and in turns who have as few', async () => {
    const { got, ask, leave, leaveAll, settle } = watched(new PoolQueue(3));
    for (const name of ['a1', 'a2', 'b1', 'a3', 'a4', 'b2', 'c1', 'c2']) ask(name);
    await settle();
    expect(got).toEqual(['a1', 'a2', 'b1']);
    await leave('a1');
    expect(got.at(-1)).toBe('c1');
    await leave('a2');
    expect(got.at(-1)).toBe('a3');
    await leave('c1');
    expect(got.at(-1)).toBe('c2');
    await leaveAll();
  });

  test.each([1, 2])('of a pool of %d is one for all', async (size) => {
    const { got, ask, leave, leaveAll, settle } = watched(new PoolQueue(size));
    for (const name of ['a1', 'a2', 'a3']) ask(name);
    await settle();
    expect(got).toHaveLength(size);
    await leave('a1');
    expect(got).toHaveLength(size + 1);
    await leaveAll();
  });

  test('keeps nobody from the last connection who has no name', async () => {
    const queue = new PoolQueue(3);
    const room = new AcquireDeadlines(60_000);
    const turns = Array.from({ length: 4 }, () => queue.enter(undefined, room));
    await new Promise(setImmediate);
    expect(turns.map((each) => each instanceof Promise)).toEqual([false, false, false, true]);
    (turns[0] as Permit).leave();
    expect(await turns[3]).toBeDefined();
  });

  test('does not keep what is asked inside of a turn waiting', async () => {
    const queue = new PoolQueue(1);
    const room = new AcquireDeadlines(60_000);
    const turn = (await queue.enter(as('a'), room)) as Permit;
    await queue.runInside(turn, () => {
      expect(queue.enter(as('a'), room)).toBeUndefined();
      return Promise.resolve();
    });
    queue.leave(turn);
    await queue.runInside(turn, async () => {
      expect(await queue.enter(as('a'), room)).toBeDefined();
    });
  });

  test('refuses who comes too late, and goes on with the others', async () => {
    const queue = new PoolQueue(1);
    const turn = (await queue.enter(as('a'), new AcquireDeadlines(1000))) as Permit;
    await expect(Promise.resolve(queue.enter(as('b'), new AcquireDeadlines(20)))).rejects.toThrow(
      'The database is away',
    );
    const later = Promise.resolve(queue.enter(as('b'), new AcquireDeadlines(5000)));
    queue.leave(turn);
    expect(await later).toBeDefined();
  });
});
