import type { Contestant } from './contestants.js';
import { openDatabase } from './databases.js';
import type { BenchDatabase, DatabaseName } from './databases.js';
import { measureWorkload, settle } from './measure.js';
import type { Entrant, Measured } from './measure.js';
import type { BenchOptions } from './options.js';
import type { DatabaseResult } from './report.js';
import { startServer } from './server-process.js';

/** Starts and measures all contestants, and removes everything that was created for the run. */
export async function benchDatabase(name: DatabaseName, options: BenchOptions): Promise<DatabaseResult> {
  const database = await openDatabase(name);
  const entrants: Entrant[] = [];
  const interrupted = (): void => {
    // The servers exit with their runner; the schema would remain.
    void database.drop().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    if (options.analyze) await database.analyze();
    const missing = await startAll(options.contestants, database, entrants);
    const measured: Measured[] = [];
    console.error(`${name}: settling`);
    await settle(entrants);
    for (const workload of options.workloads) {
      console.error(`${name}: ${workload}`);
      measured.push(...(await measureWorkload(workload, entrants, { database, settings: options })));
    }
    return {
      name,
      title: database.version,
      workloads: options.workloads,
      contestants: options.contestants,
      measured,
      missing,
    };
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await Promise.all(entrants.map(({ server }) => server.stop()));
    await database.drop();
  }
}

/** Adds each started contestant to `entrants`, so that it is stopped even after an error. Returns why the others failed to start. */
async function startAll(
  contestants: readonly Contestant[],
  { environment }: BenchDatabase,
  entrants: Entrant[],
): Promise<Record<string, string>> {
  const missing: Record<string, string> = {};
  for (const contestant of contestants) {
    try {
      entrants.push({ contestant, server: await startServer(contestant.file, environment) });
    } catch (error) {
      missing[contestant.name] = error instanceof Error ? error.message : String(error);
      console.error(`${contestant.name} is not available: ${missing[contestant.name] ?? ''}`);
    }
  }
  return missing;
}
