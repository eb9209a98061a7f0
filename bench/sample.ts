import type { Contestant } from './contestants.js';
import type { BenchDatabase } from './databases.js';
import { loadAmount } from './load.js';
import { spent } from './process-cpu.js';
import type { RunningServer } from './server-process.js';
import type { Workload } from './workloads.js';

/** One load of a contestant, or the sum of several ones. */
export interface Sample {
  readonly requests: number;
  readonly seconds: number;
  /** Microseconds of CPU of the server process. */
  readonly cpu: number;
  /** The same of the database processes that serve it; undefined if the database is embedded, or if it cannot be measured. */
  readonly databaseCpu: number | undefined;
}

/** A contestant with one of its processes. */
export interface Entrant {
  readonly contestant: Contestant;
  readonly server: RunningServer;
}

export async function takeSample(
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
    requests,
    seconds,
    cpu: after.cpuMicroseconds - before.cpuMicroseconds,
    databaseCpu: databaseBefore && databaseAfter && spent(databaseBefore, databaseAfter),
  };
}

export function addSamples(one: Sample | undefined, other: Sample): Sample {
  if (one === undefined) return other;
  return {
    requests: one.requests + other.requests,
    seconds: one.seconds + other.seconds,
    cpu: one.cpu + other.cpu,
    databaseCpu:
      one.databaseCpu === undefined || other.databaseCpu === undefined
        ? undefined
        : one.databaseCpu + other.databaseCpu,
  };
}
