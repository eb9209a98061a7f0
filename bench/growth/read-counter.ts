import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { GrowthDatabase } from './fill-tables.js';

/**
 * What reads cost, whatever the machine does beside it: the pages of tables and indexes that PostgreSQL and SQLite look up, in memory
 * or not, the rows that MariaDB reads, the steps of SQLite's virtual machine. It counts the only connection of a data source.
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

/** @throws if SQLite's counters cannot be compiled. */
export function readCounters(name: GrowthDatabase, dataSource: DataSource): readonly ReadCounter[] {
  switch (name) {
    case 'postgres':
      return [new PostgresCounter(dataSource)];
    case 'mariadb':
      return [new MariadbCounter(dataSource)];
    case 'sqlite':
      return sqliteCounters(dataSource);
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

/** better-sqlite3 reports no counters: functions of SQL do, in an extension of SQLite. */
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
static void pages(sqlite3_context *context, int count, sqlite3_value **values) {
  int hits, misses, highest;
  sqlite3 *db = sqlite3_context_db_handle(context);
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &hits, &highest, 0);
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 0);
  sqlite3_result_int64(context, (sqlite3_int64)hits + misses);
}
int sqlite3_counter_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  sqlite3_int64 *total = sqlite3_malloc(sizeof(sqlite3_int64));
  *total = 0;
  sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, add_steps, total);
  sqlite3_create_function_v2(db, "pages", 0, SQLITE_UTF8, 0, pages, 0, 0, 0);
  return sqlite3_create_function_v2(db, "steps", 0, SQLITE_UTF8, total, steps, 0, 0, sqlite3_free);
}
`;

/** The part of better-sqlite3 that is used. */
interface SqliteConnection {
  loadExtension(path: string, entryPoint: string): unknown;
  prepare(sql: string): { get(): { readonly total: number } };
}

function sqliteCounters({ driver }: DataSource): readonly ReadCounter[] {
  const { databaseConnection } = driver as unknown as { readonly databaseConnection: SqliteConnection };
  const folder = mkdtempSync(join(tmpdir(), 'restify-counter-'));
  try {
    databaseConnection.loadExtension(compileExtension(folder), 'sqlite3_counter_init');
  } finally {
    rmSync(folder, { recursive: true });
  }
  return [new SqliteCounter('steps', databaseConnection), new SqliteCounter('pages', databaseConnection)];
}

/** The steps of SQLite's virtual machine, or the pages that its pager looks up, of statements that have ended. */
class SqliteCounter implements ReadCounter {
  private before = 0;
  private readonly total: { get(): { readonly total: number } };
  /** What reading the total costs. */
  private readonly own: number;

  constructor(
    readonly unit: 'pages' | 'steps',
    connection: SqliteConnection,
  ) {
    this.total = connection.prepare(`SELECT ${unit}() AS total`);
    this.own = this.total.get().total;
    this.own = this.total.get().total - this.own;
  }

  reset(): Promise<void> {
    this.before = this.total.get().total + this.own;
    return Promise.resolve();
  }

  read(): Promise<number> {
    return Promise.resolve(this.total.get().total - this.before);
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
