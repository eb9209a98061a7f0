import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { GrowthDatabase } from './fill-tables.js';

/**
 * What reads cost, whatever the machine does beside it: the pages of tables and indexes that PostgreSQL looks up, in memory or
 * not, the rows that MariaDB reads, the steps of SQLite's virtual machine. It counts the only connection of a data source.
 */
export interface ReadCounter {
  readonly unit: 'pages' | 'rows' | 'steps' | 'scans';
  reset(): Promise<void>;
  /** What was read since `reset`. */
  read(): Promise<number>;
}

/** The options of a data source with one connection, whose statements the counter sees. */
export function oneConnection(options: DataSourceOptions): DataSourceOptions {
  const extra = options.type === 'postgres' ? { extra: { ...(options.extra as object), max: 1 } } : {};
  return { ...options, ...extra, poolSize: 1 } as DataSourceOptions;
}

/** @throws if SQLite's counter cannot be compiled. */
export function readCounter(name: GrowthDatabase, dataSource: DataSource): ReadCounter {
  switch (name) {
    case 'postgres':
      return new PostgresCounter(dataSource);
    case 'mariadb':
      return new MariadbCounter(dataSource);
    case 'sqlite':
      return new SqliteCounter(dataSource);
    default:
      return name satisfies never;
  }
}

/** The pages of the tables of the current schema, their indexes and TOAST: not those of the catalogue. Requires PostgreSQL 15. */
class PostgresCounter implements ReadCounter {
  readonly unit = 'pages';
  private before = 0;

  constructor(private readonly dataSource: DataSource) {}

  async reset(): Promise<void> {
    this.before = await this.total();
  }

  async read(): Promise<number> {
    return (await this.total()) - this.before;
  }

  private async total(): Promise<number> {
    // The connection has its statistics published at the end of this statement.
    await this.dataSource.query('SELECT pg_stat_force_next_flush()');
    const columns = ['heap', 'idx', 'toast', 'tidx'].flatMap((kind) => [
      `coalesce(${kind}_blks_read, 0)`,
      `coalesce(${kind}_blks_hit, 0)`,
    ]);
    const [record] = await this.dataSource.query<{ total: string }[]>(
      `SELECT sum(${columns.join(' + ')}) AS total FROM pg_statio_user_tables WHERE schemaname = current_schema()`,
    );
    return Number(record?.total);
  }
}

class MariadbCounter implements ReadCounter {
  readonly unit = 'rows';

  constructor(private readonly dataSource: DataSource) {}

  async reset(): Promise<void> {
    await this.dataSource.query('FLUSH STATUS');
  }

  async read(): Promise<number> {
    const counts = await this.dataSource.query<{ Value: string }[]>(
      `SHOW SESSION STATUS LIKE 'Handler_read%'`,
    );
    return counts.reduce((sum, { Value }) => sum + Number(Value), 0);
  }
}

/** better-sqlite3 reports no counters: a function of SQL does, in an extension of SQLite. */
const EXTENSION = `
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1
static int add_steps(unsigned kind, void *total, void *statement, void *time) {
  *(sqlite3_int64 *)total += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
  return 0;
}
static void steps(sqlite3_context *context, int count, sqlite3_value **values) {
  sqlite3_result_int64(context, *(sqlite3_int64 *)sqlite3_user_data(context));
}
int sqlite3_counter_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  sqlite3_int64 *total = sqlite3_malloc(sizeof(sqlite3_int64));
  *total = 0;
  sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, add_steps, total);
  return sqlite3_create_function_v2(db, "steps", 0, SQLITE_UTF8, total, steps, 0, 0, sqlite3_free);
}
`;

/** The part of better-sqlite3 that is used. */
interface SqliteConnection {
  loadExtension(path: string, entryPoint: string): unknown;
  prepare(sql: string): { get(): { readonly steps: number } };
}

/** The steps of SQLite's virtual machine, of statements that have ended. */
class SqliteCounter implements ReadCounter {
  readonly unit = 'steps';
  private before = 0;
  private readonly total: { get(): { readonly steps: number } };
  /** The steps of reading the total. */
  private readonly own: number;

  constructor({ driver }: DataSource) {
    const { databaseConnection } = driver as unknown as { readonly databaseConnection: SqliteConnection };
    const folder = mkdtempSync(join(tmpdir(), 'restify-counter-'));
    try {
      databaseConnection.loadExtension(compileExtension(folder), 'sqlite3_counter_init');
    } finally {
      rmSync(folder, { recursive: true });
    }
    this.total = databaseConnection.prepare('SELECT steps() AS steps');
    this.own = this.total.get().steps;
    this.own = this.total.get().steps - this.own;
  }

  reset(): Promise<void> {
    this.before = this.total.get().steps + this.own;
    return Promise.resolve();
  }

  read(): Promise<number> {
    return Promise.resolve(this.total.get().steps - this.before);
  }
}

function compileExtension(folder: string): string {
  const library = join(folder, 'counter.so');
  const driver = createRequire(import.meta.url).resolve('better-sqlite3/package.json');
  const headers = join(dirname(driver), 'deps/sqlite3');
  execFileSync('cc', ['-shared', '-fPIC', '-I', headers, '-x', 'c', '-', '-o', library], {
    input: EXTENSION,
  });
  return library;
}
