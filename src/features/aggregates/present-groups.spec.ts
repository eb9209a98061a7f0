import { expect, test } from '@jest/globals';
import { averageOf } from './present-groups.js';

test.each([
  ['10', 4, '2.500000'],
  ['1', 3, '0.333333'],
  ['2', 3, '0.666667'],
  ['-2', 3, '-0.666667'],
  ['0.000001', 2, '0.000001'],
  ['-0.000001', 2, '-0.000001'],
  ['-0.000001', 3, '0.000000'],
  ['9007199254740993', 1, '9007199254740993.000000'],
  ['-120.50', 2, '-60.250000'],
  ['NaN', 2, 'NaN'],
])('the average of %s over %s values is %s', (sum, count, average) => {
  expect(averageOf(sum, count)).toBe(average);
});
