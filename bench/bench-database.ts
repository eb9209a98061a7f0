import { checkAnswers, checkWritten } from './check-answers.js';
import type { Contestant } from './contestants.js';
import { openDatabase } from './databases.js';
import type { BenchDatabase, DatabaseName, Statistics } from './databases.js';
import { effortOf, measureContestants, serves } from './measure.js';
import type { BenchOptions } from './options.js';
import type { DatabaseResult } from './report.js';
import { startContestant } from './server-process.js';
import { writes } from './workloads.js';
import { targetOf } from './writes.js';

/** Seconds for the start of a process, and of server, database and load for a request, on an idle machine. */
const START = 2.5;
const REQUEST = 0.0004;

/** Measures all contestants on each database, and removes everything that was created for the run. Prints first how long it will take. */
export async function benchDatabases(options: BenchOptions): Promise<DatabaseResult[]> {
  const runs = options.databases.flatMap((name) =>
    options.statistics.map((statistics) => ({ name, statistics, contestants: writtenFor(name, options) })),
  );
  const seconds = runs.flatMap(({ contestants }) =>
    contestants.map((contestant) => {
      const served = options.workloads.filter((workload) => serves(contestant, workload));
      const { starts, requests } = effortOf(served, options);
      return served.length === 0 ? 0 : (starts + 1) * START + requests * REQUEST;
    }),
  );
  const minutes = Math.ceil(seconds.reduce((sum, each) => sum + each, 0) / 60);
  console.error(`This takes about ${minutes} minutes on an idle machine.`);
  const results: DatabaseResult[] = [];
  for (const run of runs) results.push(await benchDatabase(run, options));
  return results;
}

function writtenFor(name: DatabaseName, { contestants }: BenchOptions): readonly Contestant[] {
  return contestants.filter(({ databases }) => databases?.includes(name) ?? true);
}

async function benchDatabase(
  {
    name,
    statistics,
    contestants,
  }: {
    readonly name: DatabaseName;
    readonly statistics: Statistics;
    readonly contestants: readonly Contestant[];
  },
  options: BenchOptions,
): Promise<DatabaseResult> {
  const database = await openDatabase(name, statistics);
  let dropped: Promise<void> | undefined;
  const drop = (): Promise<void> => (dropped ??= database.drop());
  const interrupted = (): void => {
    // The servers exit with their runner; the schema would remain.
    void drop().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const missing: Record<string, string> = {};
    for (const contestant of contestants) {
      if (!options.workloads.some((workload) => serves(contestant, workload))) continue;
      console.error(`${name}: checking the answers of ${contestant.name}`);
      const reason = await checkContestant(contestant, database, options);
      if (reason !== undefined) missing[contestant.name] = reason;
    }
    const measured = await measureContestants(
      contestants.filter((each) => missing[each.name] === undefined),
      options.workloads,
      { database, settings: options },
    );
    return {
      name,
      statistics,
      title: `${database.version}, ${statistics} statistics of its tables`,
      workloads: options.workloads,
      contestants,
      measured,
      missing,
    };
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await drop();
  }
}

/** Compares answers and written rows of all workloads with the seeded rows. Throws at a difference. Returns why it did not start. */
async function checkContestant(
  contestant: Contestant,
  database: BenchDatabase,
  { workloads }: BenchOptions,
): Promise<string | undefined> {
  let server;
  try {
    server = await startContestant(contestant, database);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`${contestant.name} is not available: ${reason}`);
    return reason;
  }
  try {
    for (const workload of workloads.filter((each) => serves(contestant, each))) {
      await checkAnswers(contestant, server.port, workload);
      await checkWritten(database, contestant, workload);
      if (writes(workload)) await database.restore(targetOf(workload).table);
    }
    return undefined;
  } finally {
    await server.stop();
  }
}
