import { expect, test } from '@jest/globals';
import { charactersOf, PageSize } from './page-size.js';

function sizeBehind(...pages: readonly (readonly [count: number, width: number])[]): number {
  const size = new PageSize();
  for (const [count, width] of pages) size.learn(count, count * width);
  return size.rows;
}

test.each<[name: string, pages: readonly (readonly [count: number, width: number])[], rows: number]>([
  ['nothing is known', [], 1000],
  ['a page was empty', [[0, 0]], 1000],
  ['rows are narrow', [[1000, 100]], 1000],
  ['rows are as wide as a whole page allows', [[1000, 262]], 1000],
  ['rows are somewhat wide', [[1000, 263]], 500],
  ['rows are wide', [[1000, 40_000]], 3],
  ['a row is longer than a page', [[1000, 10_000_000]], 1],
  ['a few rows were wide', [[3, 40_000]], 1000],
  ['a few narrow rows came behind wide ones', [[1000, 2500], [5, 10]], 62],
  ['a page of narrow rows came behind wide ones', [[1000, 2500], [1000, 100]], 1000],
])('where %s', (_name, pages, rows) => {
  expect(sizeBehind(...pages)).toBe(rows);
});

test('counts texts and bytes, and little for all else', () => {
  expect(charactersOf([['abc', Buffer.from('12345'), 7, null], ['de', undefined, true]])).toBe(3 + 5 + 16 + 2 + 16);
});
