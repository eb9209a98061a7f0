// @tags core
import { describe, expect, test } from '@jest/globals';
import type { Measured } from '../../bench/measure.js';
import { ratio, ratioSpread, reportOf } from '../../bench/report.js';
import { PLAIN } from '../../bench/styles.js';

function measuredOf(contestant: string, cpu: readonly number[]): Measured {
  const processes = cpu.map((each) => ({
    first: undefined,
    rounds: [{ requests: 10, seconds: 1, cpu: each * 10, databaseCpu: undefined }],
  }));
  return { mode: 'mixed', workload: 'retrieve', contestant, processes, failure: undefined };
}

const PAIR = { workload: 'retrieve', mode: 'mixed', fast: 'now', slow: 'before' } as const;

describe('the spread of a ratio', () => {
  test('is of processes that ran at the same time', () => {
    const result = { measured: [measuredOf('now', [100, 200, 50]), measuredOf('before', [80, 200, 60])] };
    expect(ratioSpread(result, PAIR)).toEqual({ lowest: 0.8, highest: 1.2 });
    expect(ratio(result, PAIR, 'cpu')).toBe(0.8);
  });

  test('leaves out processes that one contestant does not have', () => {
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

describe('the figure of a process', () => {
  const round = (cpu: number) => ({ requests: 10, seconds: 1, cpu, databaseCpu: cpu });
  const cells = (contestant: string, cpu: number): Measured[] =>
    (['fresh', 'mixed'] as const).map((mode) => ({
      mode,
      workload: 'retrieve',
      contestant,
      processes: [{ first: round(cpu * 3), rounds: [round(cpu), round(cpu * 100), round(cpu)] }],
      failure: undefined,
    }));

  test('is the median of its rounds, beside that of its first requests, by itself and with the database', () => {
    const measured = [...cells('now', 200), ...cells('before', 400)];
    const report = reportOf({
      name: 'postgres',
      statistics: 'with',
      title: 'PostgreSQL',
      workloads: ['retrieve'],
      contestants: ['now', 'before'].map((name) => ({ name, file: '', style: PLAIN })),
      measured,
      missing: {},
    });
    expect(report).toContain('| retrieve, fresh | 20 (20–20); first 60 | 40 (40–40); first 120 |');
    expect(report).toContain('| retrieve, mixed | 40 (40–40); first 120 | 80 (80–80); first 240 |');
    expect(ratio({ measured }, PAIR, 'cpu')).toBe(2);
  });
});
