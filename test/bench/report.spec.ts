// @tags core
import { describe, expect, test } from '@jest/globals';
import type { Measured } from '../../bench/measure.js';
import { ratio, ratioSpread } from '../../bench/report.js';

function measuredOf(contestant: string, cpu: readonly number[]): Measured {
  const samples = cpu.map((each) => ({ requestsPerSecond: 1000, cpu: each, databaseCpu: undefined }));
  return { workload: 'retrieve', contestant, samples, failure: undefined };
}

const PAIR = { workload: 'retrieve', fast: 'now', slow: 'before' } as const;

describe('the spread of a ratio', () => {
  test('is of rounds, in which both contestants were measured one after the other', () => {
    const result = { measured: [measuredOf('now', [100, 200, 50]), measuredOf('before', [80, 200, 60])] };
    expect(ratioSpread(result, PAIR)).toEqual({ lowest: 0.8, highest: 1.2 });
    expect(ratio(result, PAIR, 'cpu')).toBe(0.8);
  });

  test('leaves out rounds that one contestant did not complete', () => {
    const result = { measured: [measuredOf('now', [100]), measuredOf('before', [90, 400])] };
    expect(ratioSpread(result, PAIR)).toEqual({ lowest: 0.9, highest: 0.9 });
  });

  test('is undefined if one of them was not measured', () => {
    expect(ratioSpread({ measured: [measuredOf('now', [100])] }, PAIR)).toBeUndefined();
    expect(
      ratioSpread({ measured: [measuredOf('now', []), measuredOf('before', [90])] }, PAIR),
    ).toBeUndefined();
  });
});
