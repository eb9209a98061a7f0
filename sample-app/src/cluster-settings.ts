import { availableParallelism } from 'node:os';
import { databaseName } from './serve.js';
import { isSqlite } from './data-source-options.js';
import { wholeNumber } from './whole-number.js';

export interface ClusterSettings {
  /** The number of worker processes. */
  readonly workers: number;
  /** The maximum number of workers that are restarted within a minute. */
  readonly restarts: number;
  /** The timeout for the graceful shutdown of a worker. */
  readonly shutdownSeconds: number;
}

/**
 * Reads `WORKERS` (default: the number of cores), `RESTARTS` (10) and `SHUTDOWN_SECONDS` (30).
 *
 * @throws Error if a value is invalid, or if the database is embedded.
 */
export function clusterSettings(environment: Readonly<Record<string, string | undefined>>): ClusterSettings {
  const url = environment.DATABASE_URL;
  if (isSqlite(url)) {
    throw new Error(
      `A cluster needs a database that several processes can use at once, and ${databaseName(url)} is SQLite: in memory each worker would have another one, and a file is written by one at a time. ` +
        'Let DATABASE_URL name PostgreSQL (postgres://user:password@host:5432/database), or serve SQLite from one process: npm start.',
    );
  }
  const number = (variable: string, otherwise: number): number => {
    const text = environment[variable] ?? '';
    return text === '' ? otherwise : wholeNumber(variable, text);
  };
  return {
    workers: number('WORKERS', availableParallelism()),
    restarts: number('RESTARTS', 10),
    shutdownSeconds: number('SHUTDOWN_SECONDS', 30),
  };
}
