import type { CpuByProcess } from './process-cpu.js';
import { openMariadb } from './databases/mariadb.js';
import { openPostgres } from './databases/postgres.js';
import { openSqlite } from './databases/sqlite.js';

export const DATABASES = ['sqlite', 'postgres', 'mariadb'] as const;
export type DatabaseName = (typeof DATABASES)[number];

/** Those of the programs that do not measure MariaDB. */
export const SQLITE_AND_POSTGRES = ['sqlite', 'postgres'] as const;

/** A database for one run. `drop` removes it. */
export interface BenchDatabase<Name extends DatabaseName = DatabaseName> {
  readonly name: Name;
  readonly version: string;
  /** The environment variables by which servers connect to it. */
  readonly environment: Readonly<Record<string, string>>;
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Reverts the writes of a table. */
  restore(table: string): Promise<void>;
  /** CPU time of each process or thread of the database that serves the application of that name; undefined if there are none, or if it cannot be measured. */
  cpuByProcess(application: string): Promise<CpuByProcess | undefined>;
  drop(): Promise<void>;
}

export const STATISTICS = ['with', 'without'] as const;
/** Whether the query planner has statistics of the seeded rows, as after `ANALYZE`. */
export type Statistics = (typeof STATISTICS)[number];

/** Creates the tables of the benchmark and their rows. */
export async function openDatabase<Name extends DatabaseName>(
  name: Name,
  statistics: Statistics = 'with',
): Promise<BenchDatabase<Name>> {
  const opened = await {
    sqlite: openSqlite,
    postgres: openPostgres,
    mariadb: openMariadb,
  }[name](statistics);
  return opened as BenchDatabase<Name>;
}
