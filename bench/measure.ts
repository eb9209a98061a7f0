import { checkAnswers, checkWritten } from './check-answers.js';
import type { Contestant } from './contestants.js';
import type { BenchDatabase } from './databases.js';
import { loadAmount, loadSeconds } from './load.js';
import { pause } from './long-list.js';
import { spent } from './process-cpu.js';
import type { RunningServer } from './server-process.js';
import { ordersOf } from './workloads.js';
import type { Workload } from './workloads.js';

const IDLE_LIMIT = 20_000;

export interface Entrant {
  readonly contestant: Contestant;
  readonly server: RunningServer;
}

/** One round of one contestant. */
export interface Sample {
  readonly requestsPerSecond: number;
  /** CPU of the server process. */
  readonly cpu: number;
  /** CPU of the database processes that serve it; undefined if the database is embedded, or if it cannot be measured. */
  readonly databaseCpu: number | undefined;
}

export interface Measured {
  readonly workload: Workload;
  readonly contestant: string;
  readonly samples: readonly Sample[];
  /** Why there are no more samples: a response under load was an error. */
  readonly failure: string | undefined;
}

export interface MeasureSettings {
  readonly seconds: number;
  readonly rounds: number;
  /** Seconds of load that are not measured, before the first round of a workload. */
  readonly warmUp: number;
}

/** The number of requests after which the code of a server is compiled; more code needs more requests. */
const SETTLED = 20_000;

/** Warms up all contestants alike before the measurements, so that the first workload has no disadvantage. */
export async function settle(entrants: readonly Entrant[]): Promise<void> {
  for (const { contestant, server } of entrants) {
    const workload = serves(contestant, 'retrieve') ? 'retrieve' : 'constant';
    // An error is reported by the first workload.
    if (serves(contestant, workload))
      await loadAmount(server.port, contestant.style, { workload, amount: SETTLED }).catch(() => undefined);
  }
}

/** Checks all responses, warms up all contestants, and measures rounds, each of which begins with another contestant. */
export async function measureWorkload(
  workload: Workload,
  entrants: readonly Entrant[],
  { database, settings }: { readonly database: BenchDatabase; readonly settings: MeasureSettings },
): Promise<Measured[]> {
  const able = entrants.filter(({ contestant }) => serves(contestant, workload));
  for (const { contestant, server } of able) {
    await checkAnswers(contestant, server.port, workload);
    await checkWritten(database, contestant, workload);
    await database.restore();
  }
  const measured = able.map((entrant) => ({
    entrant,
    amount: 0,
    samples: new Array<Sample>(),
    failure: undefined as string | undefined,
  }));
  for (const each of measured)
    await orFail(each, async () => (each.amount = await warmUp(workload, each.entrant, settings)));
  for (let round = 0; round < settings.rounds; round++) {
    const first = round % Math.max(measured.length, 1);
    for (const each of [...measured.slice(first), ...measured.slice(0, first)]) {
      if (workload === 'create' || workload === 'update') await database.restore();
      await orFail(each, async () =>
        each.samples.push(await sampleOf(workload, each.entrant, { database, amount: each.amount })),
      );
    }
  }
  await database.restore();
  return measured.map(({ entrant, samples, failure }) => ({
    workload,
    contestant: entrant.contestant.name,
    samples,
    failure,
  }));
}

/** A contestant that fails under load is excluded from this workload, which is reported; the others continue. */
async function orFail(
  each: { readonly entrant: Entrant; failure: string | undefined },
  step: () => Promise<unknown>,
): Promise<void> {
  if (each.failure !== undefined) return;
  try {
    await step();
  } catch (error) {
    each.failure = error instanceof Error ? error.message : String(error);
    console.error(`${each.entrant.contestant.name} failed: ${each.failure}`);
  }
}

/** The contestants that show the lower limit have the endpoint `constant` only. */
function serves({ name, style }: Contestant, workload: Workload): boolean {
  const [order] = ordersOf(workload, 0, 1);
  const floor = name.startsWith('constant-');
  if (workload === 'constant') return floor || name === 'raw';
  return !floor && order !== undefined && style.requestFor(order) !== undefined;
}

/** Runs two loads: the first one compiles the code, the second one determines the number of requests of a round. */
async function warmUp(
  workload: Workload,
  { contestant, server }: Entrant,
  { seconds, warmUp: warmSeconds }: MeasureSettings,
): Promise<number> {
  await loadSeconds(server.port, contestant.style, { workload, seconds: warmSeconds });
  const { requests, seconds: spentSeconds } = await loadSeconds(server.port, contestant.style, {
    workload,
    seconds: 1,
  });
  await becomeIdle(server);
  return Math.ceil((requests / spentSeconds) * seconds);
}

/** Waits until the server is idle: a timed warm-up leaves running requests, whose CPU and writes must not be counted in a round. */
async function becomeIdle(server: RunningServer): Promise<void> {
  const deadline = Date.now() + IDLE_LIMIT;
  let before = await server.usage();
  while (Date.now() < deadline) {
    await pause(200);
    const now = await server.usage();
    if (now.cpuMicroseconds - before.cpuMicroseconds < 5000) return;
    before = now;
  }
  throw new Error('It did not become idle after the warm-up');
}

async function sampleOf(
  workload: Workload,
  { contestant, server }: Entrant,
  { database, amount }: { readonly database: BenchDatabase; readonly amount: number },
): Promise<Sample> {
  // Pools may open and close connections meanwhile.
  const databaseBefore = await database.cpuByProcess(server.application);
  const before = await server.usage();
  const { requests, seconds } = await loadAmount(server.port, contestant.style, { workload, amount });
  const after = await server.usage();
  const databaseAfter = await database.cpuByProcess(server.application);
  return {
    requestsPerSecond: requests / seconds,
    cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
    databaseCpu:
      databaseBefore && databaseAfter ? spent(databaseBefore, databaseAfter) / requests : undefined,
  };
}
