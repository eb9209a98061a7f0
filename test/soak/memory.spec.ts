// @tags core
import { expect, test } from '@jest/globals';
import { grownFigures } from './memory.js';
import { Pace } from './pace.js';

const MB = 2 ** 20;

function samples(heapOf: (index: number) => number): Parameters<typeof grownFigures>[0] {
  return Array.from({ length: 20 }, (_, index) => ({
    seconds: index,
    heap: heapOf(index) * MB,
    rss: 300 * MB,
    data: 20 * MB,
  }));
}

test('memory that stays within its limit, or grows only during the warm-up, is constant', () => {
  expect(grownFigures(samples((index) => 80 + (index % 3)))).toEqual([]);
  expect(grownFigures(samples((index) => 80 + Math.min(index, 4) * 20))).toEqual([]);
});

test('memory that grows until the end is reported', () => {
  expect(grownFigures(samples((index) => 80 + index * 3))).toEqual([
    expect.stringMatching(/^heap grew from \d+\.\d MB to \d+\.\d MB/),
  ]);
});

test('a pace holds all its callers together to its rate', async () => {
  const pace = new Pace(200);
  const start = performance.now();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let turn = 0; turn < 5; turn++) await pace.turn();
    }),
  );
  // 20 turns, the first of which waits for nothing.
  expect(performance.now() - start).toBeGreaterThan(90);
});
