import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eachInSlices, MAX_BLOCKING_MILLISECONDS } from './event-loop.js';

function block(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

test('the parts of a short task are visited without a promise', () => {
  const visited: number[] = [];
  const done = eachInSlices([1, 2, 3], (part) => {
    visited.push(part);
  });
  expect(done).toBeUndefined();
  expect(visited).toEqual([1, 2, 3]);
});

test('a part whose visit returns a promise is waited for before the next one', async () => {
  const events: string[] = [];
  await eachInSlices([1, 2, 3], (part) => {
    events.push(`begin ${part}`);
    if (part === 1) return;
    return setImmediate().then(() => {
      events.push(`end ${part}`);
    });
  });
  expect(events).toEqual(['begin 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
});

test('a long task lets others run between its parts', async () => {
  const events: string[] = [];
  const other = setImmediate().then(() => events.push('other'));
  await eachInSlices([1, 2], (part) => {
    events.push(String(part));
    block(MAX_BLOCKING_MILLISECONDS);
  });
  await other;
  expect(events).toEqual(['1', 'other', '2']);
});

test('an error ends the task, wherever it is thrown', async () => {
  const visited: number[] = [];
  const visit = (at: number, isLater: boolean) => (part: number) => {
    visited.push(part);
    const fail = (): void => {
      if (part === at) throw new Error(`part ${part}`);
    };
    if (isLater) return setImmediate().then(fail);
    fail();
  };
  expect(() => eachInSlices([1, 2], visit(1, false))).toThrow('part 1');
  await expect(eachInSlices([1, 2, 3], visit(2, true))).rejects.toThrow('part 2');
  expect(visited).toEqual([1, 1, 2]);
});
