import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import { DeclarationError } from '../../../core/errors/declaration-error.js';
import {
  BEGIN,
  COMMIT,
  hasKnownTransactions,
  ROLLBACK,
  SqliteRunner,
  unknownRunner,
} from '../../../internals/typeorm.js';
import type { DriverStatement, GetStatement, RunQuery } from '../../../internals/typeorm.js';
import { driverErrorProperty } from '../../../sql/dialects/dialect.js';
import { AsyncContext } from '../../../execution/connection/async-context.js';
import { RetryBudget } from '../../../execution/connection/retry-budget.js';

/** The connection of better-sqlite3 or sql.js. Only better-sqlite3 has `inTransaction`. */
interface DriverConnection {
  readonly inTransaction?: boolean;
  /** Of better-sqlite3: true for a database without a file. */
  readonly memory?: boolean;
  exec(sql: string): unknown;
  pragma?(sql: string, options: { readonly simple: true }): unknown;
}

/** SQLite's error for `BEGIN` inside a transaction. */
const ALREADY_IN_TRANSACTION = /within a transaction/i;

/** The replacement of a statement that need not run, such as the `ROLLBACK` of a transaction that has already ended. */
const NO_OP: DriverStatement = {
  reader: false,
  readonly: true,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  safeIntegers: () => undefined,
};

/**
 * The error of a statement in a transaction that SQLite has already rolled back. The code is SQLite's own for this
 * case.
 */
export class TransactionRolledBack extends Error {
  readonly code = 'SQLITE_ABORT_ROLLBACK';

  constructor() {
    super(
      'SQLite has rolled this transaction back, because of an error in it: nothing of it is stored. Roll it back, and begin it anew.',
    );
    this.name = 'TransactionRolledBack';
  }
}

/**
 * Which statements may have to wait for another process, and the application's settings: `busy_timeout` in milliseconds, and
 * whether integers are read as BigInt.
 */
interface Settings {
  readonly writes: boolean;
  readonly reads: boolean;
  readonly bigInts: boolean;
  timeout: number;
}

const CONNECTIONS = new WeakMap<DataSource, SqliteConnection>();

/**
 * The single connection of a data source on SQLite, and its single query runner, which the application shares. SQLite
 * rolls a transaction back by itself if the disk is full, if I/O fails and if memory runs out. TypeORM does not notice,
 * and the following statements would be committed one by one. Therefore each statement of a runner in a transaction
 * first checks that SQLite is still in one, whether the adapter or the application has begun it.
 */
export class SqliteConnection {
  private readonly guarded = new WeakMap<object, SqliteRunner>();
  /** The number of statements of query runners that have been checked. */
  private checked = 0;
  private readonly known = new WeakMap<DriverConnection, Settings>();
  /** The asynchronous context of this adapter's work, until that is finished. */
  private readonly adapterContext = new AsyncContext<{ isFinished: boolean }>();
  /** True while TypeORM begins a transaction that SQLite has already begun. */
  private isBegun = false;
  /** Whether a ROLLBACK has ended the transaction that began last. */
  private hasRolledBack = false;
  /** How long a COMMIT of this adapter is retried, in milliseconds. */
  private patience: number | undefined;

  private constructor(private readonly dataSource: DataSource) {
    this.guard(dataSource.createQueryRunner());
  }

  /**
   * One instance for each data source; undefined if it is not SQLite.
   * @throws DeclarationError if the query runner of TypeORM has another form.
   */
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
      // A closed database cannot begin a transaction either, and is not in one.
      return ALREADY_IN_TRANSACTION.test(String(error));
    }
    connection.exec('ROLLBACK');
    return false;
  }

  run(sql: string): void {
    this.connection.exec(sql);
  }

  /** Adds the check to a query runner. A data source that is initialized again has another runner. */
  guard(queryRunner: QueryRunner): SqliteRunner {
    const known = this.guarded.get(queryRunner);
    if (known) return known;
    const { type } = this.dataSource.options;
    const runner = SqliteRunner.probe(queryRunner, type);
    if (!runner) throw new DeclarationError([unknownRunner(type)]);
    this.guarded.set(queryRunner, runner);
    if (!runner.replaceStatements((getStatement) => this.guardStatements(runner, getStatement)))
      runner.replaceQueries((query) => this.guardQueries(runner, query));
    return runner;
  }

  /** Whether TypeORM's query runner has the statements of transactions that are known here, and runs them through the check. */
  async isKnownRunner(): Promise<boolean> {
    const queryRunner = this.dataSource.createQueryRunner();
    this.guard(queryRunner);
    const before = this.checked;
    await queryRunner.query('SELECT 1');
    return this.checked > before && hasKnownTransactions(queryRunner);
  }

  /**
   * Begins with BEGIN IMMEDIATE. TypeORM's BEGIN takes no lock, and a transaction that has read fails immediately,
   * regardless of the timeout, if it then writes while another process does.
   */
  async beginToWrite(queryRunner: QueryRunner): Promise<void> {
    this.withZeroTimeout(() => this.connection.exec('BEGIN IMMEDIATE'));
    this.isBegun = true;
    try {
      await queryRunner.startTransaction();
    } finally {
      this.isBegun = false;
    }
  }

  /**
   * Commits, and retries the COMMIT alone for `patience` milliseconds if a reader holds a lock: the transaction stays
   * open meanwhile.
   */
  async commitWithin(patience: number, queryRunner: QueryRunner): Promise<void> {
    this.patience = patience;
    try {
      await queryRunner.commitTransaction();
    } catch (error) {
      // A 503 instead of a retry of the whole transaction.
      throw isLocked(error) && this.isInTransaction ? new DatabaseUnavailable({ cause: error }) : error;
    } finally {
      this.patience = undefined;
    }
  }

  /**
   * Runs the adapter's work, in which no statement waits for a lock inside SQLite, because that would block the event
   * loop, and integers are numbers. Work that outlives it counts as the application's.
   */
  async asAdapter<Result>(run: () => Promise<Result>): Promise<Result> {
    if (!this.settings.writes && !this.settings.bigInts) return run();
    const context = { isFinished: false };
    try {
      return await this.adapterContext.run(context, run);
    } finally {
      context.isFinished = true;
    }
  }

  /**
   * Runs one statement, which fails immediately if another process holds the lock. Inside a transaction the lock is
   * already held.
   */
  runWithoutWaiting<Result>(isReading: boolean, run: () => Result): Result {
    const { writes, reads } = this.settings;
    return (isReading ? reads : writes) && this.connection.inTransaction !== true
      ? this.withZeroTimeout(run)
      : run();
  }

  /** @throws TransactionRolledBack if the runner's transaction has been rolled back by SQLite. */
  assertTransaction(queryRunner: QueryRunner): void {
    if (queryRunner.isTransactionActive && !this.isInTransaction) throw new TransactionRolledBack();
  }

  private get connection(): DriverConnection {
    return (this.dataSource.driver as unknown as { readonly databaseConnection: DriverConnection })
      .databaseConnection;
  }

  private get settings(): Settings {
    const { connection } = this;
    const known = this.known.get(connection);
    if (known) return known;
    const found = readSettings(connection);
    this.known.set(connection, found);
    return found;
  }

  /** Runs with `busy_timeout` 0, and restores the application's value before anything else runs. */
  private withZeroTimeout<Result>(run: () => Result): Result {
    const { connection, settings } = this;
    if (!settings.writes || settings.timeout === 0) return run();
    connection.exec('PRAGMA busy_timeout = 0');
    try {
      return run();
    } finally {
      connection.exec(`PRAGMA busy_timeout = ${settings.timeout}`);
    }
  }

  private guardStatements(runner: SqliteRunner, getStatement: GetStatement): GetStatement {
    return async (sql) => {
      if (sql === COMMIT && this.patience !== undefined) {
        await this.repeatCommit(this.patience);
        return NO_OP;
      }
      // The statement sets another `busy_timeout`, which is read again.
      if (/busy_timeout/i.test(sql)) this.known.delete(this.connection);
      const statement = await getStatement(sql);
      const { reader, readonly } = statement;
      const run = (take: (from: DriverStatement) => unknown): unknown => {
        if (!this.mustRun(sql, runner)) return take(NO_OP);
        const isAdapter = this.adapterContext.value?.isFinished === false;
        if (this.settings.bigInts) statement.safeIntegers(!isAdapter);
        return isAdapter ? this.runWithoutWaiting(readonly, () => take(statement)) : take(statement);
      };
      return {
        reader,
        readonly,
        all: (...parameters) => run((from) => from.all(...parameters)),
        run: (...parameters) => run((from) => from.run(...parameters)),
        safeIntegers: (on) => statement.safeIntegers(on),
      };
    };
  }

  private async repeatCommit(patience: number): Promise<void> {
    for (const attempts = new RetryBudget(patience); ;) {
      if (!this.isInTransaction) throw new TransactionRolledBack();
      try {
        this.withZeroTimeout(() => this.connection.exec(COMMIT));
        return;
      } catch (error) {
        if (!isLocked(error) || !(await attempts.retry('locked'))) throw error;
      }
    }
  }

  private guardQueries(runner: SqliteRunner, query: RunQuery): RunQuery {
    return async (sql, ...more) => (this.mustRun(sql, runner) ? query(sql, ...more) : undefined);
  }

  /**
   * False for a statement that is already done: the BEGIN of the adapter's transaction, and the ROLLBACK of one that
   * SQLite has rolled back. A second ROLLBACK fails as without this package: TypeORM would count one transaction too few.
   */
  private mustRun(sql: string, runner: SqliteRunner): boolean {
    this.checked += 1;
    const hadRolledBack = this.hasRolledBack;
    if (sql === BEGIN) this.hasRolledBack = false;
    else if (sql === ROLLBACK) this.hasRolledBack = true;
    if (this.isBegun && sql === BEGIN) return false;
    if (runner.depth === 0 || this.isInTransaction) return true;
    if (/^\s*ROLLBACK/i.test(sql)) return sql === ROLLBACK && hadRolledBack;
    throw new TransactionRolledBack();
  }
}

/** Whether another connection to the file holds the lock. */
export function isLocked(error: unknown): boolean {
  const code = driverErrorProperty(error, 'code');
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}

/** A database in memory has a single connection, and with a write-ahead log (WAL) writers do not block readers. */
function readSettings(connection: DriverConnection): Settings {
  const readPragma = (sql: string): unknown => connection.pragma?.(sql, { simple: true });
  const bigInts = typeof readPragma('user_version') === 'bigint';
  if (connection.memory !== false || !connection.pragma)
    return { writes: false, reads: false, bigInts, timeout: 0 };
  return {
    writes: true,
    bigInts,
    reads: readPragma('journal_mode') !== 'wal',
    timeout: Number(readPragma('busy_timeout')),
  };
}
