import type { Contestant } from './contestants.js';
import type { BenchDatabase } from './databases.js';
import { loadAmount } from './load.js';
import { addSamples, takeSample } from './sample.js';
import type { Entrant, Sample } from './sample.js';
import { startContestant } from './server-process.js';
import { amountOf, ordersOf, writes } from './workloads.js';
import type { Workload } from './workloads.js';
import { targetOf } from './writes.js';

export const MODES = ['fresh', 'mixed'] as const;
/** A process serves one workload only (`fresh`), or all of them in turn, as in production (`mixed`). */
export type Mode = (typeof MODES)[number];

/** What one process took for one workload. */
export interface ProcessRun {
  /** Of the first requests of the process; undefined if they failed. */
  readonly first: Sample | undefined;
  /** Each round after the warm-up. */
  readonly rounds: readonly Sample[];
}

export interface Measured {
  readonly mode: Mode;
  readonly workload: Workload;
  readonly contestant: string;
  readonly processes: readonly ProcessRun[];
  /** Why there is not more: a process did not start, or a response under load was an error. */
  readonly failure: string | undefined;
}

export interface MeasureSettings {
  readonly modes: readonly Mode[];
  readonly processes: number;
  readonly rounds: number;
  /** Requests of a round; requests whose responses are long count for more than one (`amountOf`). */
  readonly requests: number;
  /** The first requests of a process, which are reported for themselves. */
  readonly first: number;
  /** Requests of the warm-up of each workload in each process, after the first ones. */
  readonly settle: number;
}

/** In a mixed process, the first requests and the warm-up are so many turns of all workloads. */
const TURNS = 4;

interface Setting {
  readonly database: BenchDatabase;
  readonly settings: MeasureSettings;
}

/** The workloads of one process of each contestant. */
interface Group {
  readonly mode: Mode;
  readonly workloads: readonly Workload[];
}

interface Cell {
  readonly mode: Mode;
  readonly workload: Workload;
  readonly contestant: string;
  readonly processes: { first: Sample | undefined; readonly rounds: Sample[] }[];
  failure: string | undefined;
}

/** Measures the processes of all contestants, of which one of each runs at the same time. */
export async function measureContestants(
  contestants: readonly Contestant[],
  workloads: readonly Workload[],
  setting: Setting,
): Promise<Measured[]> {
  const cells = new Cells();
  const groups = groupsOf(workloads, setting.settings);
  for (let process = 0; process < setting.settings.processes; process++) {
    for (const group of groups) {
      console.error(
        `${setting.database.name}: process ${process + 1} of ${setting.settings.processes}, ${group.mode}, ${group.workloads.join(', ')}`,
      );
      await measureGroup(group, rotated(contestants, process), { ...setting, cells });
    }
  }
  return cells.all;
}

/** How many processes of a contestant with all workloads are started, and how many requests they get, for an estimate of the time. */
export function effortOf(
  workloads: readonly Workload[],
  settings: MeasureSettings,
): { readonly starts: number; readonly requests: number } {
  const groups = groupsOf(workloads, settings);
  const requests = groups.map(
    ({ workloads: { length } }) =>
      settings.first + length * (settings.settle + settings.rounds * settings.requests),
  );
  return {
    starts: groups.length * settings.processes,
    requests: requests.reduce((sum, each) => sum + each, 0) * settings.processes,
  };
}

function groupsOf(workloads: readonly Workload[], { modes }: MeasureSettings): Group[] {
  return modes.flatMap((mode): Group[] =>
    mode === 'mixed' ? [{ mode, workloads }] : workloads.map((workload) => ({ mode, workloads: [workload] })),
  );
}

async function measureGroup(
  group: Group,
  contestants: readonly Contestant[],
  { database, settings, cells }: Setting & { readonly cells: Cells },
): Promise<void> {
  const { mode, workloads } = group;
  const entrants: Entrant[] = [];
  const load = new Load(database, mode, cells);
  try {
    await startAll(contestants, entrants, { database, group, cells });
    for (const entrant of entrants) {
      const turns = mode === 'mixed' ? TURNS : 1;
      const first = settings.first / workloads.length / turns;
      await inTurn(turns, workloads, (workload) => load.first(workload, entrant, first));
      await inTurn(turns, workloads, (workload) => load.settle(workload, entrant, settings.settle / turns));
    }
    for (let round = 0; round < settings.rounds; round++) {
      await inTurn(1, workloads, async (workload) => {
        for (const entrant of rotated(entrants, round))
          await load.round(workload, entrant, settings.requests);
      });
    }
  } finally {
    await Promise.all(entrants.map(({ server }) => server.stop()));
  }
}

async function inTurn(
  turns: number,
  workloads: readonly Workload[],
  step: (workload: Workload) => Promise<void>,
): Promise<void> {
  for (let turn = 0; turn < turns; turn++) for (const workload of workloads) await step(workload);
}

/** Adds each started process to `entrants`, so that it is stopped even after an error. */
async function startAll(
  contestants: readonly Contestant[],
  entrants: Entrant[],
  {
    database,
    group: { mode, workloads },
    cells,
  }: { readonly database: BenchDatabase; readonly group: Group; readonly cells: Cells },
): Promise<void> {
  for (const contestant of contestants) {
    const served = workloads.filter((workload) => serves(contestant, workload));
    if (served.length === 0) continue;
    const own = served.map((workload) => cells.begin({ mode, workload, contestant: contestant.name }));
    try {
      entrants.push({ contestant, server: await startContestant(contestant, database) });
    } catch (error) {
      for (const cell of own) fail(cell, error);
    }
  }
}

/** Loads one contestant at a time; one that fails is left alone in this workload, and the others continue. */
class Load {
  constructor(
    private readonly database: BenchDatabase,
    private readonly mode: Mode,
    private readonly cells: Cells,
  ) {}

  first(workload: Workload, entrant: Entrant, requests: number): Promise<void> {
    return this.run(workload, entrant, async (cell) => {
      const sample = await this.sample(workload, entrant, requests);
      const run = cell.processes.at(-1);
      if (run) run.first = addSamples(run.first, sample);
    });
  }

  settle(workload: Workload, { contestant, server }: Entrant, requests: number): Promise<void> {
    return this.run(workload, { contestant, server }, async () => {
      await loadAmount(server.port, contestant.style, { workload, amount: amountOf(workload, requests) });
    });
  }

  round(workload: Workload, entrant: Entrant, requests: number): Promise<void> {
    return this.run(workload, entrant, async (cell) => {
      cell.processes.at(-1)?.rounds.push(await this.sample(workload, entrant, requests));
    });
  }

  private sample(workload: Workload, entrant: Entrant, requests: number): Promise<Sample> {
    return takeSample(workload, entrant, { database: this.database, amount: amountOf(workload, requests) });
  }

  private async run(
    workload: Workload,
    { contestant }: Entrant,
    step: (cell: Cell) => Promise<void>,
  ): Promise<void> {
    const cell = this.cells.find({ mode: this.mode, workload, contestant: contestant.name });
    if (!cell || cell.failure !== undefined) return;
    try {
      await step(cell);
    } catch (error) {
      fail(cell, error);
    }
    if (writes(workload)) await this.database.restore(targetOf(workload).table);
  }
}

type CellName = Pick<Cell, 'mode' | 'workload' | 'contestant'>;

/** The results so far. */
class Cells {
  readonly all: Cell[] = [];

  find({ mode, workload, contestant }: CellName): Cell | undefined {
    return this.all.find(
      (each) => each.mode === mode && each.workload === workload && each.contestant === contestant,
    );
  }

  /** Adds one more process. */
  begin(name: CellName): Cell {
    let cell = this.find(name);
    if (!cell) this.all.push((cell = { ...name, processes: [], failure: undefined }));
    cell.processes.push({ first: undefined, rounds: [] });
    return cell;
  }
}

function fail(cell: Cell, error: unknown): void {
  cell.failure = error instanceof Error ? error.message : String(error);
  console.error(`${cell.contestant} failed in ${cell.workload}, ${cell.mode}: ${cell.failure}`);
}

/** Whether the contestant has an endpoint for it. Those that show the lower limit have `constant` only. */
export function serves({ name, style }: Contestant, workload: Workload): boolean {
  const [order] = ordersOf(workload, 0, 1);
  const floor = name.startsWith('constant-');
  if (workload === 'constant') return floor || name === 'raw';
  return !floor && order !== undefined && style.requestFor(order) !== undefined;
}

function rotated<Value>(values: readonly Value[], by: number): readonly Value[] {
  const first = by % Math.max(values.length, 1);
  return [...values.slice(first), ...values.slice(0, first)];
}
