import { expect, test } from '@jest/globals';
import { SlicedWork, MAX_BLOCKING_MILLISECONDS, BlockingTime, nextTurn } from './event-loop.js';

function hold(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

test('of those who wait for a turn one goes on in each turn of the loop, in the order in which they came', async () => {
  const parts: string[] = [];
  let turns = 0;
  const count = (): void => {
    turns += 1;
    parts.push('-');
    if (turns < 20) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      for (let part = 0; part < 4; part += 1) {
        await nextTurn();
        parts.push(name);
      }
    }),
  );
  expect(parts.filter((each) => each !== '-').join('')).toBe('abcabcabcabc');
  // A turn of the counter's can fall before or behind one of theirs.
  expect(parts.join('')).not.toMatch(/[abc]{3}/);
});

test('what is awaited in a turn is no reason for others to wait', async () => {
  let finish = (): void => undefined;
  const slow = nextTurn().then(() => new Promise<void>((resolve) => (finish = resolve)));
  await nextTurn();
  finish();
  await slow;
});

test('the time that was held ends with the turn, and goes on with what was waited for', async () => {
  const held = new BlockingTime();
  hold(20);
  expect(held.milliseconds).toBeGreaterThanOrEqual(20);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const first = held.milliseconds;
  expect(first).toBeGreaterThanOrEqual(20);
  expect(held.milliseconds).toBe(first);
  held.resume();
  hold(10);
  expect(held.milliseconds).toBeGreaterThanOrEqual(first + 10);
  await nextTurn();
  await nextTurn();
  expect(held.milliseconds).toBe(held.milliseconds);
});

test('work is long when it has held the loop for long enough, and begins anew behind a pause', async () => {
  const work = new SlicedWork();
  hold(MAX_BLOCKING_MILLISECONDS + 1);
  expect(work.isLong).toBe(true);
  await work.pause();
  hold(MAX_BLOCKING_MILLISECONDS + 1);
  expect(work.isLong).toBe(true);
});
