import type Sqlite from 'better-sqlite3';
import type { DataSourceOptions } from 'typeorm';
import type { DatabaseName } from '../databases.js';

/** The number of connections of every contestant with a pool. */
export const POOL_SIZE = 10;

/** Commits do not wait for the disk in any contestant, because the disk is not compared. */
export const POSTGRES_SETTINGS = `-c search_path=${process.env.BENCH_POSTGRES_SCHEMA ?? 'public'} -c synchronous_commit=off`;

/** The server decides when commits wait for the disk, for all contestants alike. */
export const MARIADB_OPTIONS = {
  uri: process.env.BENCH_MARIADB_URL ?? '',
  connectionLimit: POOL_SIZE,
  timezone: 'Z',
} as const;

/** The type of JSON columns in entities. */
export const JSON_TYPE = ({ sqlite: 'simple-json', postgres: 'jsonb', mariadb: 'json' } as const)[
  process.env.BENCH_DATABASE as DatabaseName
];

export function prepareSqlite(database: Sqlite): void {
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  database.pragma('busy_timeout = 5000');
}

/** The options for the database that the runner has seeded, without synchronization. */
export function dataSourceOptions(): DataSourceOptions {
  const { BENCH_DATABASE, BENCH_SQLITE_FILE = '', BENCH_POSTGRES_URL = '' } = process.env;
  if (BENCH_DATABASE === 'sqlite')
    return { type: 'better-sqlite3', database: BENCH_SQLITE_FILE, prepareDatabase: prepareSqlite };
  if (BENCH_DATABASE === 'mariadb')
    return {
      type: 'mariadb',
      url: MARIADB_OPTIONS.uri,
      poolSize: POOL_SIZE,
      timezone: MARIADB_OPTIONS.timezone,
    };
  return {
    type: 'postgres',
    url: BENCH_POSTGRES_URL,
    poolSize: POOL_SIZE,
    installExtensions: false,
    extra: { options: POSTGRES_SETTINGS },
  };
}
