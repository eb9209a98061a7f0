import { parseArgs } from 'node:util';
import { CONTESTANTS } from './contestants.js';
import type { Contestant } from './contestants.js';
import { DATABASES } from './databases.js';
import type { DatabaseName } from './databases.js';
import { WORKLOADS } from './workloads.js';
import type { Workload } from './workloads.js';

export interface BenchOptions {
  readonly databases: readonly DatabaseName[];
  readonly workloads: readonly Workload[];
  readonly contestants: readonly Contestant[];
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUp: number;
  /** Whether SQLite has statistics of the seeded rows (`ANALYZE`). PostgreSQL always has them. */
  readonly analyze: boolean;
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
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      'warm-up': { type: 'string' },
      analyze: { type: 'boolean' },
      json: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const names = CONTESTANTS.map(({ name }) => name);
  const chosen = chooseFrom(names, values.servers, 'servers');
  return {
    databases: chooseFrom(DATABASES, values.database, 'database'),
    workloads: chooseFrom(WORKLOADS, values.workloads, 'workloads'),
    contestants: CONTESTANTS.filter(({ name }) => chosen.includes(name)),
    seconds: positive(values.seconds ?? '2', 'seconds'),
    rounds: positive(values.rounds ?? '5', 'rounds'),
    warmUp: positive(values['warm-up'] ?? '3', 'warm-up'),
    analyze: values.analyze === true,
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
