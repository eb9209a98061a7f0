import { checkAnswers, checkWritten } from './check-answers.js';
import type { Contestant } from './contestants.js';
import type { BenchDatabase } from './databases.js';
import { loadAmount, loadSeconds } from './load.js';
import type { RunningServer } from './server-process.js';
import { ordersOf } from './workloads.js';
import type { Workload } from './workloads.js';

export interface Entrant {
  readonly contestant: Contestant;
  readonly server: RunningServer;
}

/** One round of one contestant. */
export interface Sample {
  readonly requestsPerSecond: number;
  /** CPU of the server's process. */
  readonly cpu: number;
  /** CPU of the database's processes that work for it; undefined where it is in the server, or cannot be seen. */
  readonly databaseCpu: number | undefined;
}

export interface Measured {
  readonly workload: Workload;
  readonly contestant: string;
  readonly samples: readonly Sample[];
}

export interface MeasureSettings {
  readonly seconds: number;
  readonly rounds: number;
  /** Seconds of load that are not measured, before the first round of a workload. */
  readonly warmUp: number;
}

/** Checks all answers, warms all up, and measures in rounds, each of which begins with another contestant. */
export async function measureWorkload(workload: Workload, entrants: readonly Entrant[], { database, settings }: { readonly database: BenchDatabase; readonly settings: MeasureSettings }): Promise<Measured[]> {
  const able = entrants.filter(({ contestant }) => serves(contestant, workload));
  for (const { contestant, server } of able) {
    await checkAnswers(contestant, server.port, workload);
    await checkWritten(database, contestant, workload);
    await database.restore();
  }
  const amounts = new Map<Entrant, number>();
  for (const entrant of able) amounts.set(entrant, await warmUp(workload, entrant, settings));
  const samples = new Map<Entrant, Sample[]>(able.map((entrant) => [entrant, []]));
  for (let round = 0; round < settings.rounds; round++) {
    const first = round % Math.max(able.length, 1);
    for (const entrant of [...able.slice(first), ...able.slice(0, first)]) {
      if (workload === 'create' || workload === 'update') await database.restore();
      samples.get(entrant)?.push(await sampleOf(workload, entrant, { database, amount: amounts.get(entrant) ?? 0 }));
    }
  }
  await database.restore();
  return able.map((entrant) => ({ workload, contestant: entrant.contestant.name, samples: samples.get(entrant) ?? [] }));
}

/** What only shows the floor has no other endpoint than `constant`. */
function serves({ name, style }: Contestant, workload: Workload): boolean {
  const [order] = ordersOf(workload, 0, 1);
  const floor = name.startsWith('constant-');
  if (workload === 'constant') return floor || name === 'raw';
  return !floor && order !== undefined && style.ask(order) !== undefined;
}

/** Two loads: the first meets code that is not compiled yet, the second tells how many requests fill a round. */
async function warmUp(workload: Workload, { contestant, server }: Entrant, { seconds, warmUp: warmSeconds }: MeasureSettings): Promise<number> {
  await loadSeconds(server.port, contestant.style, { workload, seconds: warmSeconds });
  const { requests, seconds: spent } = await loadSeconds(server.port, contestant.style, { workload, seconds: 1 });
  return Math.ceil((requests / spent) * seconds);
}

async function sampleOf(workload: Workload, { contestant, server }: Entrant, { database, amount }: { readonly database: BenchDatabase; readonly amount: number }): Promise<Sample> {
  const databaseBefore = await database.cpuMicroseconds(server.application);
  const before = await server.usage();
  const { requests, seconds } = await loadAmount(server.port, contestant.style, { workload, amount });
  const after = await server.usage();
  const databaseAfter = await database.cpuMicroseconds(server.application);
  return {
    requestsPerSecond: requests / seconds,
    cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
    databaseCpu: databaseBefore === undefined || databaseAfter === undefined ? undefined : Math.max(databaseAfter - databaseBefore, 0) / requests,
  };
}
