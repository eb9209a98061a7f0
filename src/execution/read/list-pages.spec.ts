import { expect, test } from '@jest/globals';
import { charactersOf, PageSize } from './list-pages.js';

function rowsAfter(...pages: readonly (readonly [count: number, width: number])[]): number {
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
  ['a row is wider than a page', [[1000, 10_000_000]], 1],
  ['a few rows were wide', [[3, 40_000]], 1000],
  [
    'a few narrow rows follow wide ones',
    [
      [1000, 2500],
      [5, 10],
    ],
    62,
  ],
  [
    'a page of narrow rows follows wide ones',
    [
      [1000, 2500],
      [1000, 100],
    ],
    1000,
  ],
])('the number of rows is chosen when %s', (_name, pages, rows) => {
  expect(rowsAfter(...pages)).toBe(rows);
});

test('counts the length of texts and bytes, and 8 for every other value', () => {
  expect(
    charactersOf([
      ['abc', Buffer.from('12345'), 7, null],
      ['de', undefined, true],
    ]),
  ).toBe(3 + 5 + 16 + 2 + 16);
});

/** The sizes of the pages of a list, each of which blocks the event loop for `time` milliseconds. */
function pagesOf(count: number, time: (rows: number) => number, size = new PageSize()): readonly number[] {
  const pace = size.pace();
  return Array.from({ length: count }, () => {
    const { rows } = pace;
    pace.learn(time(rows));
    return rows;
  });
}

test.each<[name: string, time: (rows: number) => number, sizes: readonly number[]]>([
  ['a page takes little time', (rows) => rows / 500, [1000, 1000, 1000]],
  ['a page takes long', (rows) => rows / 100, [1000, 500, 500]],
  ['a row takes long', (rows) => rows, [1000, 500, 250, 125, 62, 31, 15, 7, 3, 3]],
  ['a row takes longer than a page may', (rows) => rows * 20, [1000, 500, 250, 125, 62, 31, 15, 7, 3, 1, 1]],
  ['each page takes long, whatever its size', () => 300, [1000, 500, 500, 1000, 1000, 1000]],
  [
    'each page takes long, and its rows too',
    (rows) => 8 + rows / 50,
    [1000, 500, 250, 250, 500, 1000, 500, 500],
  ],
])('the pages of one list have the largest tolerable size when %s', (_name, time, sizes) => {
  expect(pagesOf(sizes.length, time)).toEqual(sizes);
});

test('a list begins with the last page size of the previous one, and returns to longer pages', () => {
  const size = new PageSize();
  pagesOf(5, (rows) => rows / 20, size);
  expect(pagesOf(6, (rows) => rows / 1000, size)).toEqual([62, 125, 250, 500, 1000, 1000]);
});

test('one slow page does not end the search for shorter ones', () => {
  let pages = 0;
  expect(pagesOf(6, (rows) => (++pages === 3 ? 100 : rows / 20))).toEqual([1000, 500, 250, 250, 125, 62]);
});

test('a list that sorts all rows for each page has long pages, also after one with slow rows', () => {
  const size = new PageSize();
  pagesOf(5, (rows) => rows / 20, size);
  expect(pagesOf(10, () => 300, size)).toEqual([62, 31, 31, 62, 125, 250, 500, 1000, 1000, 1000]);
});

test('pages of wide rows that take long are even shorter', () => {
  const size = new PageSize();
  size.learn(1000, 1000 * 1000);
  expect(pagesOf(4, (rows) => rows / 10, size)).toEqual([250, 125, 62, 31]);
});
