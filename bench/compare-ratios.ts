import type { DatabaseName } from './databases.js';
import { MODES } from './measure.js';
import type { Mode } from './measure.js';
import { ratio, ratioSpread } from './report.js';
import type { DatabaseResult, RatioOf } from './report.js';
import { WORKLOADS } from './workloads.js';

export type Result = Pick<DatabaseResult, 'name' | 'measured'>;

/** Two contestants that are compared. */
export interface Pair {
  readonly fast: string;
  readonly slow: string;
  /** A contestant of the pair that was measured a second time, by other processes. */
  readonly twice: string;
}

/** The name of the processes that only show how much processes of one commit differ. */
export function secondOf(name: string): string {
  return `${name}, second process`;
}

/** One measured ratio of CPU. */
export interface Ratio {
  readonly database: DatabaseName;
  readonly workload: string;
  readonly mode: Mode;
  readonly pair: string;
  /** Of the medians. */
  readonly value: number;
  /** Of the processes that ran at the same time. */
  readonly lowest: number;
  readonly highest: number;
  /** The same of a contestant to itself: 1 if nothing but the code had an influence. */
  readonly control: Omit<Ratio, 'control'> | undefined;
}

export function ratiosOf(results: readonly Result[], pairs: readonly Pair[]): Ratio[] {
  return results.flatMap((result) =>
    WORKLOADS.flatMap((workload) =>
      MODES.flatMap((mode) =>
        pairs.flatMap(({ fast, slow, twice }): Ratio[] => {
          const found = ratioOf(result, { workload, mode, fast, slow });
          const control = ratioOf(result, { workload, mode, fast: secondOf(twice), slow: twice });
          return found ? [{ ...found, control }] : [];
        }),
      ),
    ),
  );
}

function ratioOf(result: Result, cell: RatioOf): Omit<Ratio, 'control'> | undefined {
  const value = ratio(result, cell, 'cpu');
  const spread = ratioSpread(result, cell);
  const { workload, mode, fast, slow } = cell;
  return value === undefined || !spread
    ? undefined
    : { database: result.name, workload, mode, pair: `${fast} ÷ ${slow}`, value, ...spread };
}

/** The lowest ratio that processes of one commit have to each other: a process keeps some differences as long as it lives. */
export function lowestOfControl({ control }: Ratio): number {
  return control === undefined ? 1 : Math.min(control.lowest, 1 / control.highest);
}

/** The head of the columns that `cellsOf` gives. */
export const HEAD = ['now', 'lowest–highest process', 'a second process ÷ the first'] as const;

export function cellsOf({ value, lowest, highest, control }: Ratio): readonly string[] {
  return [
    value.toFixed(2),
    spreadOf(lowest, highest),
    control ? `${control.value.toFixed(2)} (${spreadOf(control.lowest, control.highest)})` : '–',
  ];
}

function spreadOf(lowest: number, highest: number): string {
  return `${lowest.toFixed(2)}–${highest.toFixed(2)}`;
}
