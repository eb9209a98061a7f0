import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import { driverErrorProperty } from '../../../sql/dialects/dialect.js';
import { RetryBudget } from './retry-budget.js';

/** Of better-sqlite3 and of sql.js. The first one alone says whether it is in a transaction. */
interface DriverConnection {
  readonly inTransaction?: boolean;
  /** Of better-sqlite3: no file is behind it. */
  readonly memory?: boolean;
  exec(sql: string): unknown;
  pragma?(sql: string, options: { readonly simple: true }): unknown;
}

/** A prepared statement of better-sqlite3. */
interface DriverStatement {
  readonly reader: boolean;
  readonly readonly: boolean;
  all(...parameters: readonly unknown[]): unknown;
  run(...parameters: readonly unknown[]): unknown;
}

type RunQuery = (sql: string, ...more: readonly unknown[]) => Promise<unknown>;

/** Of TypeORM's runner: what it takes for the state of the connection, and where it sends statements. */
export interface SqliteRunner {
  isTransactionActive: boolean;
  transactionDepth: number;
  /** Of better-sqlite3. */
  getStmt?: (sql: string) => Promise<DriverStatement>;
  query: RunQuery;
}

const BEGIN = 'BEGIN TRANSACTION';

/** What `BEGIN` says inside a transaction. */
const BEGUN_ALREADY = /within a transaction/i;
const COMMIT = 'COMMIT';

/** What `ROLLBACK` says of a transaction that is not there any more. */
const NOTHING_TO_DO: DriverStatement = {
  reader: false,
  readonly: true,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
};

/** A statement of a transaction that SQLite has rolled back by itself. The code is SQLite's own for that. */
export class TransactionUndone extends Error {
  readonly code = 'SQLITE_ABORT_ROLLBACK';

  constructor() {
    super(
      'SQLite has rolled this transaction back, because of an error in it: nothing of it is stored. Roll it back, and begin it anew.',
    );
    this.name = 'TransactionUndone';
  }
}

/** Which statements another process can keep waiting, and for how long the application would have the driver wait. */
interface Locking {
  readonly writes: boolean;
  readonly reads: boolean;
  timeout: number;
}

const CONNECTIONS = new WeakMap<DataSource, SqliteConnection>();

/**
 * The only connection of a data source on SQLite, and the only query runner, which the application shares. A full disk, an
 * error of input or output, and little memory make SQLite roll a transaction back by itself, of which TypeORM does not hear:
 * what follows would be stored statement by statement. So each statement of a runner that is in a transaction asks first
 * whether there still is one, whosever transaction it is.
 */
export class SqliteConnection {
  private readonly guarded = new WeakSet<object>();
  private readonly lockings = new WeakMap<DriverConnection, Locking>();
  /** Inside what this adapter does, until that is over. */
  private readonly ours = new AsyncLocalStorage<{ over: boolean }>();
  /** Whether the transaction that TypeORM is about to begin has begun. */
  private isBegun = false;
  /** For how long a COMMIT of this adapter's is repeated. */
  private patience: number | undefined;

  private constructor(private readonly dataSource: DataSource) {
    this.guard(dataSource.createQueryRunner());
  }

  /** One a data source; undefined where it is no SQLite. */
  static of(dataSource: DataSource): SqliteConnection | undefined {
    if (dataSource.options.type !== 'better-sqlite3' && dataSource.options.type !== 'sqljs') return undefined;
    const connection = CONNECTIONS.get(dataSource) ?? new SqliteConnection(dataSource);
    CONNECTIONS.set(dataSource, connection);
    return connection;
  }

  get isInTransaction(): boolean {
    const { connection } = this;
    if (connection.inTransaction !== undefined) return connection.inTransaction;
    try {
      connection.exec('BEGIN');
    } catch (error) {
      // One that is closed begins none either, and is in none.
      return BEGUN_ALREADY.test(String(error));
    }
    connection.exec('ROLLBACK');
    return false;
  }

  run(sql: string): void {
    this.connection.exec(sql);
  }

  /** A data source that is initialized anew has another runner. */
  guard(queryRunner: QueryRunner): SqliteRunner {
    const runner = queryRunner as unknown as SqliteRunner;
    if (this.guarded.has(runner)) return runner;
    this.guarded.add(runner);
    if (runner.getStmt) this.guardStatements(runner, runner.getStmt.bind(runner));
    else this.guardQueries(runner, runner.query.bind(runner));
    return runner;
  }

  /**
   * TypeORM's BEGIN takes no lock, and a transaction that has read is refused at once when it then writes while another
   * process does, however long one would wait.
   */
  async beginToWrite(queryRunner: QueryRunner): Promise<void> {
    this.withoutWaiting(() => this.connection.exec('BEGIN IMMEDIATE'));
    this.isBegun = true;
    try {
      await queryRunner.startTransaction();
    } finally {
      this.isBegun = false;
    }
  }

  /** A COMMIT that somebody who reads keeps out leaves the transaction as it is: it alone is repeated, for `patience` milliseconds. */
  async commitWithin(patience: number, queryRunner: QueryRunner): Promise<void> {
    this.patience = patience;
    try {
      await queryRunner.commitTransaction();
    } catch (error) {
      // What it would commit is not done again.
      throw isLocked(error) ? new DatabaseUnavailable({ cause: error }) : error;
    } finally {
      this.patience = undefined;
    }
  }

  /** What runs inside waits for no lock in this process's own thread. What it leaves behind is the application's. */
  async asOurs<Result>(run: () => Promise<Result>): Promise<Result> {
    if (!this.locking.writes) return run();
    const here = { over: false };
    try {
      return await this.ours.run(here, run);
    } finally {
      here.over = true;
    }
  }

  /** Runs one statement, which is refused at once where another process keeps it out. Inside a transaction none does. */
  atOnce<Result>(isReading: boolean, run: () => Result): Result {
    const { writes, reads } = this.locking;
    return (isReading ? reads : writes) && this.connection.inTransaction !== true
      ? this.withoutWaiting(run)
      : run();
  }

  /** Throws where the transaction that the runner is in is not there any more. */
  expectTransaction(queryRunner: QueryRunner): void {
    if (queryRunner.isTransactionActive && !this.isInTransaction) throw new TransactionUndone();
  }

  private get connection(): DriverConnection {
    return (this.dataSource.driver as unknown as { readonly databaseConnection: DriverConnection })
      .databaseConnection;
  }

  private get locking(): Locking {
    const { connection } = this;
    const known = this.lockings.get(connection);
    if (known) return known;
    const found = lockingOf(connection);
    this.lockings.set(connection, found);
    return found;
  }

  /** The application's own time to wait is back before anything else runs. */
  private withoutWaiting<Result>(run: () => Result): Result {
    const { connection, locking } = this;
    if (!locking.writes || locking.timeout === 0) return run();
    connection.exec('PRAGMA busy_timeout = 0');
    try {
      return run();
    } finally {
      connection.exec(`PRAGMA busy_timeout = ${locking.timeout}`);
    }
  }

  private guardStatements(
    runner: SqliteRunner,
    getStatement: (sql: string) => Promise<DriverStatement>,
  ): void {
    runner.getStmt = async (sql) => {
      if (sql === COMMIT && this.patience !== undefined) {
        await this.repeatCommit(this.patience);
        return NOTHING_TO_DO;
      }
      // The application says anew for how long the driver waits.
      if (/busy_timeout/i.test(sql)) this.lockings.delete(this.connection);
      const statement = await getStatement(sql);
      const { reader, readonly } = statement;
      const run = (take: (from: DriverStatement) => unknown): unknown => {
        if (!this.isToRun(sql, runner)) return take(NOTHING_TO_DO);
        return this.ours.getStore()?.over === false
          ? this.atOnce(readonly, () => take(statement))
          : take(statement);
      };
      return {
        reader,
        readonly,
        all: (...parameters) => run((from) => from.all(...parameters)),
        run: (...parameters) => run((from) => from.run(...parameters)),
      };
    };
  }

  private async repeatCommit(patience: number): Promise<void> {
    for (const attempts = new RetryBudget(patience); ;) {
      if (!this.isInTransaction) throw new TransactionUndone();
      try {
        this.withoutWaiting(() => this.connection.exec(COMMIT));
        return;
      } catch (error) {
        if (!isLocked(error) || !(await attempts.retry('locked'))) throw error;
      }
    }
  }

  private guardQueries(runner: SqliteRunner, query: RunQuery): void {
    runner.query = async (sql, ...more) => (this.isToRun(sql, runner) ? query(sql, ...more) : undefined);
  }

  /** False for what is done: the BEGIN of a transaction of ours, and the ROLLBACK of one that SQLite has rolled back. */
  private isToRun(sql: string, runner: SqliteRunner): boolean {
    if (this.isBegun && sql === BEGIN) return false;
    if (runner.transactionDepth === 0 || this.isInTransaction) return true;
    if (/^\s*ROLLBACK/i.test(sql)) return false;
    throw new TransactionUndone();
  }
}

/** Whether another connection to the file keeps a statement out. */
export function isLocked(error: unknown): boolean {
  const code = driverErrorProperty(error, 'code');
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}

/** Nobody else has a database in memory, and with a log of writes (WAL) nobody keeps those out who read. */
function lockingOf(connection: DriverConnection): Locking {
  const ask = (sql: string): unknown => connection.pragma?.(sql, { simple: true });
  if (connection.memory !== false || !connection.pragma) return { writes: false, reads: false, timeout: 0 };
  return { writes: true, reads: ask('journal_mode') !== 'wal', timeout: Number(ask('busy_timeout')) };
}
