import { QueryFailedError } from 'typeorm';
import type { DataSource, QueryRunner } from 'typeorm';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import { runOnPostgres } from '../../../execution/connection/postgres-query.js';
import { runOnSqlite } from '../../../execution/connection/sqlite-query.js';
import type {
  Acquired,
  ConnectionPort,
  DriverPool,
  ReadFrom,
  SingleUse,
  Transaction,
  TransactionObserver,
} from '../../../execution/port.js';
import { observeTransactions } from '../../../internals/typeorm.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { ConnectionErrors } from './connection-errors.js';
import { correctQueries, exactDays, exactStamps } from './corrected-runner.js';
import type { QueryCorrections } from './corrected-runner.js';
import { openDepth, PooledTransaction, SqliteTransaction } from './runner-transactions.js';
import { SqliteConnection, isLocked } from './sqlite-connection.js';

/** Runs one statement on a driver's own connection. An error of a promise is the one that `toError` returns. */
type Run = (
  connection: unknown,
  statement: Statement,
  toError: (error: unknown) => Error,
) => MaybePromise<Records>;

/** The pools of pg. */
interface Pools {
  readonly master?: DriverPool;
  readonly slaves?: readonly DriverPool[];
}

/** The default pool size of both drivers. */
const DEFAULT_POOL_SIZE = 10;

interface DriverCredentials {
  readonly poolSize?: number;
}

/** The options of TypeORM that set the size of a pool. */
interface Sized extends DriverCredentials {
  readonly extra?: { readonly max?: number; readonly connectionLimit?: number };
  readonly replication?: {
    readonly master?: DriverCredentials;
    readonly slaves?: readonly DriverCredentials[];
  };
}

/**
 * The connections of a data source. Statements run on the driver itself: reusable ones prepared, and rows as arrays instead of
 * objects. They are logged as TypeORM does. If a subscriber listens to queries, and on every other driver, they run through
 * TypeORM's query runner.
 */
export class TypeOrmConnections implements ConnectionPort<QueryRunner> {
  private readonly sqlite: SqliteConnection | undefined;
  private readonly errors: ConnectionErrors;
  private readonly corrections: QueryCorrections;
  private readonly runOnDriver: Run | undefined;
  /** False once a session has lost a prepared statement. */
  private keepsPrepared = true;

  /** @param patience how long a transaction on SQLite waits for those of the application, and for readers, in milliseconds. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly patience: number,
  ) {
    this.errors = new ConnectionErrors(dataSource);
    this.sqlite = SqliteConnection.of(dataSource);
    this.corrections = { sql: exactStamps(dataSource), options: exactDays(dataSource) };
    this.runOnDriver = this.driverOf(dataSource.options.type);
  }

  private driverOf(type: string): Run | undefined {
    const { sqlite } = this;
    if (type === 'postgres') return runOnPostgres(() => this.keepsPrepared);
    if (type !== 'better-sqlite3' || !sqlite) return undefined;
    return runOnSqlite((isReading, run) => sqlite.runWithoutWaiting(isReading, run));
  }

  get database(): DataSource {
    return this.dataSource;
  }

  poolSize(server: ReadFrom): number {
    const { poolSize, extra, replication } = this.dataSource.options as Sized;
    const configured = extra?.max ?? extra?.connectionLimit;
    const sizeBy = (credentials: DriverCredentials | undefined): number =>
      configured ?? credentials?.poolSize ?? poolSize ?? DEFAULT_POOL_SIZE;
    return server === 'primary'
      ? sizeBy(replication?.master)
      : (replication?.slaves ?? []).reduce((sum, each) => sum + sizeBy(each), 0);
  }

  /** Undefined, too, if the application's logger is an object, which may use the query runner. Of several replicas a random one is chosen, as TypeORM does. */
  driverPool(from: ReadFrom): DriverPool | undefined {
    const { driver, options } = this.dataSource;
    if (options.type !== 'postgres' || typeof options.logger === 'object' || this.isWatched())
      return undefined;
    this.errors.attach();
    const { master, slaves = [] } = driver as unknown as Pools;
    return from === 'replica' && slaves.length > 0
      ? slaves[Math.floor(Math.random() * slaves.length)]
      : master;
  }

  trySync(): SingleUse<QueryRunner> | undefined {
    const { driver, options } = this.dataSource;
    if (options.type !== 'better-sqlite3' || this.isWatched()) return undefined;
    const { databaseConnection: connection } = driver as {
      readonly databaseConnection?: { readonly open?: boolean };
    };
    return connection?.open === true
      ? { session: this.dataSource.createQueryRunner('master'), connection }
      : undefined;
  }

  openSession(from: ReadFrom): QueryRunner {
    this.errors.attach();
    const runner = this.dataSource.createQueryRunner(from === 'replica' ? 'slave' : 'master');
    correctQueries(runner, this.corrections);
    return runner;
  }

  connect(runner: QueryRunner): Promise<unknown> {
    return this.errors.withListener(runner.connect());
  }

  async runInside(runner: QueryRunner, statement: Statement): Promise<Records> {
    this.sqlite?.assertTransaction(runner);
    return this.run(await runner.connect(), statement, runner);
  }

  run(connection: unknown, statement: Statement, runner?: QueryRunner): MaybePromise<Records> {
    if (!this.runOnDriver || (runner && this.isWatched())) return this.throughRunner(statement, runner);
    const { logger, options } = this.dataSource;
    const { sql } = statement;
    void logger.logQuery(sql, statement.parameters as unknown[], runner);
    const toError = (error: unknown): Error => this.toFailure(error, statement, runner);
    const begun = options.maxQueryExecutionTime ? performance.now() : 0;
    let result: MaybePromise<Records>;
    try {
      result = this.runOnDriver(connection, statement, toError);
    } catch (error) {
      throw toError(error);
    }
    if (!options.maxQueryExecutionTime) return result;
    return mapMaybe(result, (records) => {
      this.logSlow(begun, statement, runner);
      return records;
    });
  }

  /** Applications may add subscribers while they run. */
  isWatched(): boolean {
    return this.dataSource.subscribers.some(
      (each) => each.beforeQuery !== undefined || each.afterQuery !== undefined,
    );
  }

  runWork<Result>(
    work: (acquired: Acquired<QueryRunner>) => Promise<Result>,
    acquired: Acquired<QueryRunner>,
  ): Promise<Result> {
    return this.sqlite ? this.sqlite.asAdapter(() => work(acquired)) : work(acquired);
  }

  createTransaction(runner: QueryRunner, isJoined: boolean): Transaction {
    return this.sqlite
      ? new SqliteTransaction(this.sqlite, runner, this.patience)
      : new PooledTransaction(runner, isJoined);
  }

  openDepth(runner: QueryRunner): number {
    return openDepth(runner);
  }

  isInTransaction(): boolean {
    return this.sqlite?.isInTransaction ?? false;
  }

  observeTransactions(runner: QueryRunner, observer: TransactionObserver): void {
    observeTransactions(runner, observer);
  }

  failedSql(error: unknown): string | undefined {
    return error instanceof QueryFailedError ? error.query : undefined;
  }

  stopPreparing(): void {
    this.keepsPrepared = false;
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
}
