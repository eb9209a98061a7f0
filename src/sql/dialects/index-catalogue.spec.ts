import { expect, test } from '@jest/globals';
import { numberIn } from './index-catalogue.js';

test.each<[answer: unknown, name: string, rows: number | undefined]>([
  [
    [{ Plan: { 'Node Type': 'Seq Scan', 'Plan Rows': 12345, Plans: [{ 'Plan Rows': 1 }] } }],
    'Plan Rows',
    12345,
  ],
  ['[{"Plan": {"Plan Rows": 7}}]', 'Plan Rows', 7],
  ['{"query_block": {"select_id": 1, "table": {"rows": 9, "filtered": 50}}}', 'filtered', 50],
  ['{"query_block": {"nested_loop": [{"table": {"rows": 9}}]}}', 'rows', 9],
  ['{"query_block": {"table": {"rows_produced_per_join": 3, "filtered": "33.33"}}}', 'filtered', 33],
  ['{"query_block": {"message": "Impossible WHERE"}}', 'rows', undefined],
  [null, 'rows', undefined],
  [[{ rows: -1 }], 'rows', 0],
])('finds in %j the number %s: %p', (answer, name, rows) => {
  expect(numberIn(answer, name)).toBe(rows);
});
