import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from '@jest/globals';
import { CallbackQueue } from './callback-queue.js';

/** A callback that ends when it is told to. */
class Held {
  readonly run: () => Promise<void>;
  isRunning = false;
  end: () => void = () => undefined;

  constructor() {
    const ended = new Promise<void>((resolve) => {
      this.end = resolve;
    });
    this.run = () => {
      this.isRunning = true;
      return ended;
    };
  }
}

function nextTurns(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

test('callbacks start in a later turn, in their order, a limited number at once', async () => {
  const queue = new CallbackQueue(2);
  const all = [new Held(), new Held(), new Held()];
  const running = (): readonly boolean[] => all.map(({ isRunning }) => isRunning);
  for (const { run } of all) queue.add(run);
  expect([running(), queue.size]).toEqual([[false, false, false], 3]);
  await nextTurns();
  expect(running()).toEqual([true, true, false]);
  all[1]?.end();
  await nextTurns();
  expect([running(), queue.size]).toEqual([[true, true, true], 2]);
  all[0]?.end();
  all[2]?.end();
  await queue.ended();
  expect(queue.size).toBe(0);
});

test('the end is awaited with that of callbacks that are added meanwhile', async () => {
  const queue = new CallbackQueue(1);
  await queue.ended();
  const ran: string[] = [];
  queue.add(() => {
    ran.push('first');
    queue.add(() => {
      ran.push('second');
      return Promise.resolve();
    });
    return Promise.resolve();
  });
  await Promise.all([queue.ended(), queue.ended()]);
  expect(ran).toEqual(['first', 'second']);
});

test('a callback runs in the asynchronous context in which it was added', async () => {
  const queue = new CallbackQueue(1);
  const storage = new AsyncLocalStorage<string>();
  const stores: unknown[] = [];
  const add = (): void => {
    queue.add(() => {
      stores.push(storage.getStore());
      return Promise.resolve();
    });
  };
  for (const store of ['a', 'b']) storage.run(store, add);
  add();
  await storage.run('waiting', () => queue.ended());
  expect(stores).toEqual(['a', 'b', undefined]);
});
