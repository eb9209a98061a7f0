import { QueryFailedError } from 'typeorm';
import type { DataSource, QueryRunner } from 'typeorm';
import { evictOldest } from '../../../core/evict-oldest.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { runOnPostgres } from '../../../execution/connection/postgres-query.js';
import { isLocked } from './sqlite-connection.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** The part of better-sqlite3's database that is used. */
interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
}
interface SqliteStatement {
  readonly readonly: boolean;
  raw(): SqliteStatement;
  safeIntegers(on: boolean): SqliteStatement;
  all(...parameters: readonly unknown[]): Records;
}

/**
 * The maximum number of prepared statements of one connection, for reusable ones and for all others separately. The
 * oldest is evicted first.
 */
const MAX_PREPARED = 200;

/** Runs statements on better-sqlite3's own connection, prepared. `shared`: the connection that the application uses too. */
function runOnSqlite(
  shared: SqliteConnection | undefined,
): (connection: unknown, statement: Statement) => Records {
  const [reusableStatements, oneTimeStatements] = [
    new WeakMap<object, Map<string, SqliteStatement>>(),
    new WeakMap<object, Map<string, SqliteStatement>>(),
  ];
  const runNow = <Result>(isReading: boolean, run: () => Result): Result =>
    shared ? shared.runWithoutWaiting(isReading, run) : run();
  return (connection, { sql, parameters, reusable, isClientSelected }) => {
    const database = connection as SqliteDatabase;
    const statements =
      reusable === true && isClientSelected !== true ? reusableStatements : oneTimeStatements;
    const known = statements.get(database) ?? new Map<string, SqliteStatement>();
    statements.set(database, known);
    let statement = known.get(sql);
    if (!statement) {
      statement = runNow(true, () => database.prepare(sql).raw().safeIntegers(false));
      known.set(sql, statement);
      evictOldest(known, MAX_PREPARED);
    }
    const prepared = statement;
    return runNow(prepared.readonly, () => prepared.all(...parameters));
  };
}

/** Runs one statement on a driver's own connection. An error of a promise is the one that `toError` returns. */
type Run = (
  connection: unknown,
  statement: Statement,
  toError: (error: unknown) => Error,
) => MaybePromise<Records>;

const DRIVERS: Readonly<Record<string, (options: DriverQueryOptions) => Run>> = {
  'better-sqlite3': ({ sqlite }) => runOnSqlite(sqlite),
  postgres: ({ named }) => runOnPostgres(named),
};

interface DriverQueryOptions {
  /** Whether the server's session may keep reusable statements prepared, under names. */
  readonly named: () => boolean;
  /** The single connection that the application shares, on SQLite. */
  readonly sqlite?: SqliteConnection | undefined;
}

/**
 * Runs the adapter's statements on the driver itself: reusable ones prepared, and rows as arrays instead of objects. It
 * logs them as TypeORM does. If a subscriber listens to queries, and on every other driver, they run through TypeORM's
 * query runner.
 */
export class DriverQueries {
  private readonly run: Run | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: DriverQueryOptions,
  ) {
    this.run = DRIVERS[dataSource.options.type]?.(options);
  }

  async records(runner: QueryRunner, statement: Statement): Promise<Records> {
    this.options.sqlite?.assertTransaction(runner);
    return this.recordsOf(await runner.connect(), statement, runner);
  }

  /**
   * As `records`, on a connection that the runner or the driver's pool has already acquired; synchronous if the driver
   * is.
   */
  recordsOf(connection: unknown, statement: Statement, runner?: QueryRunner): MaybePromise<Records> {
    if (!this.run || (runner && this.isWatched())) return this.throughRunner(statement, runner);
    const { logger, options } = this.dataSource;
    const { sql } = statement;
    void logger.logQuery(sql, statement.parameters as unknown[], runner);
    const toError = (error: unknown): Error => this.toFailure(error, statement, runner);
    const begun = options.maxQueryExecutionTime ? performance.now() : 0;
    let result: MaybePromise<Records>;
    try {
      result = this.run(connection, statement, toError);
    } catch (error) {
      throw toError(error);
    }
    if (!options.maxQueryExecutionTime) return result;
    return mapMaybe(result, (records) => {
      this.logSlow(begun, statement, runner);
      return records;
    });
  }

  /**
   * The single connection of a data source with a synchronous driver; undefined without one, and if a subscriber
   * listens to queries.
   */
  trySync(): { readonly runner: QueryRunner; readonly connection: unknown } | undefined {
    const { driver, options } = this.dataSource;
    if (options.type !== 'better-sqlite3' || this.isWatched()) return undefined;
    const { databaseConnection: connection } = driver as {
      readonly databaseConnection?: { readonly open?: boolean };
    };
    return connection?.open === true
      ? { runner: this.dataSource.createQueryRunner('master'), connection }
      : undefined;
  }

  private logSlow(begun: number, { sql, parameters }: Statement, runner: QueryRunner | undefined): void {
    const { logger, options } = this.dataSource;
    const taken = Math.round(performance.now() - begun);
    if (taken > (options.maxQueryExecutionTime ?? Infinity))
      void logger.logQuerySlow(taken, sql, parameters as unknown[], runner);
  }

  /** Logs the error of a driver, and returns the one that is thrown. Never throws, because a driver's callback must not. */
  private toFailure(error: unknown, { sql, parameters }: Statement, runner: QueryRunner | undefined): Error {
    try {
      // A locked statement is retried many times a second, and ends as the cause of a 503 if it stays locked: logging
      // each attempt would flood the log.
      if (!isLocked(error))
        void this.dataSource.logger.logQueryError(error as Error, sql, parameters as unknown[], runner);
      return new QueryFailedError(sql, parameters as unknown[], error as Error);
    } catch (ofLogger) {
      return ofLogger as Error;
    }
  }

  private async throughRunner(
    { sql, parameters }: Statement,
    runner: QueryRunner | undefined,
  ): Promise<Records> {
    if (!runner) throw new Error('Statements of this driver require a query runner.');
    const records = (await runner.query(sql, [...parameters])) as unknown;
    // MariaDB returns no rows, in place of none, for a DELETE whose condition no row can match.
    if (!Array.isArray(records)) return [];
    return (records as readonly object[]).map((record) => Object.values(record) as readonly unknown[]);
  }

  /** Evaluated for each statement, because applications may add subscribers while they run. */
  isWatched(): boolean {
    return this.dataSource.subscribers.some(
      (each) => each.beforeQuery !== undefined || each.afterQuery !== undefined,
    );
  }
}
