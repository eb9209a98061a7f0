import { parseArgs } from 'node:util';
import { CONTESTANTS } from './contestants.js';
import type { Contestant } from './contestants.js';
import { DATABASES, STATISTICS } from './databases.js';
import type { DatabaseName, Statistics } from './databases.js';
import { MODES } from './measure.js';
import type { MeasureSettings } from './measure.js';
import { WORKLOADS } from './workloads.js';
import type { Workload } from './workloads.js';

export interface BenchOptions extends MeasureSettings {
  readonly databases: readonly DatabaseName[];
  readonly workloads: readonly Workload[];
  readonly contestants: readonly Contestant[];
  readonly statistics: readonly Statistics[];
  /** The output file for the numbers as JSON. */
  readonly json: string | undefined;
  /** The output file for the printed report, as Markdown. */
  readonly out: string | undefined;
}

/** Throws for an unknown name, with the list of all names. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      workloads: { type: 'string' },
      servers: { type: 'string' },
      database: { type: 'string' },
      modes: { type: 'string' },
      processes: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '2' },
      requests: { type: 'string', default: '3000' },
      first: { type: 'string', default: '5000' },
      settle: { type: 'string', default: '10000' },
      statistics: { type: 'string' },
      json: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const names = CONTESTANTS.map(({ name }) => name);
  const chosen =
    values.servers === undefined
      ? CONTESTANTS.filter(({ extra }) => !extra).map(({ name }) => name)
      : chooseFrom(names, values.servers === 'all' ? undefined : values.servers, 'servers');
  return {
    databases: chooseFrom(DATABASES, values.database, 'database'),
    workloads: chooseFrom(WORKLOADS, values.workloads, 'workloads'),
    contestants: CONTESTANTS.filter(({ name }) => chosen.includes(name)),
    modes: chooseFrom(MODES, values.modes, 'modes'),
    processes: positive(values.processes, 'processes'),
    rounds: positive(values.rounds, 'rounds'),
    requests: positive(values.requests, 'requests'),
    first: positive(values.first, 'first'),
    settle: positive(values.settle, 'settle'),
    statistics: chooseFrom(STATISTICS, values.statistics ?? 'with', 'statistics'),
    json: values.json,
    out: values.out,
  };
}

export function chooseFrom<Name extends string>(
  names: readonly Name[],
  text: string | undefined,
  option: string,
): readonly Name[] {
  if (text === undefined) return names;
  const wanted = text.split(',').map((word) => word.trim());
  const unknown = wanted.find((word) => !names.some((name) => name === word));
  if (unknown !== undefined)
    throw new Error(`--${option}: there is no "${unknown}". There are: ${names.join(', ')}`);
  return names.filter((name) => wanted.includes(name));
}

export function positive(text: string, option: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${option}: "${text}" is no number above 0`);
  return value;
}
