import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { DatabaseFailures } from './database-failures.js';
import type { PooledRunner } from './query-runner-pool.js';
import { pause } from './retry-budget.js';
import { prepareJoinedSession, prepareSession } from './session.js';
import type { SqliteConnection, SqliteRunner } from './sqlite-connection.js';

/** The result of one attempt at a transaction, which may be retried after the database has rolled it back. */
export type Attempt<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'undone'; readonly error: unknown; readonly hasBegun: boolean };

export interface TransactionParts {
  readonly dataSource: DataSource;
  readonly dialect: Dialect;
  readonly sqlite: SqliteConnection | undefined;
  readonly failures: DatabaseFailures;
  /** How long a transaction on SQLite waits for those of the application, and for readers, in milliseconds. */
  readonly patience: number;
  readonly reportError?: (error: unknown) => void;
  /** Whether it is a savepoint in a transaction of the application. */
  readonly isJoined?: boolean;
}

/**
 * Runs `work` in a transaction on an acquired query runner: commits, or rolls back and returns the error. An error of the
 * application after the COMMIT is reported: everything is written then.
 */
export async function attemptTransaction<Result>(
  acquired: PooledRunner,
  work: (runner: QueryRunner) => Promise<Result>,
  { dataSource, dialect, sqlite, failures, patience, reportError, isJoined = false }: TransactionParts,
): Promise<Attempt<Result>> {
  const { runner } = acquired;
  const transaction = sqlite
    ? new SqliteTransaction(sqlite, runner, patience)
    : new PooledTransaction(runner, isJoined);
  let restoring: readonly string[] = [];
  let hasBegun = false;
  let done: Attempt<Result> | undefined;
  try {
    await transaction.begin();
    hasBegun = true;
    restoring = await (isJoined
      ? prepareJoinedSession(runner, dialect)
      : prepareSession(runner, dataSource, dialect));
    done = { kind: 'done', result: await work(runner) };
    await transaction.commit();
    return done;
  } catch (error) {
    if (!transaction.isOpen) {
      // The application rolls its own transaction back, because of the error.
      if (!done || transaction.isNested) throw error;
      reportError?.(error);
      return done;
    }
    acquired.broken ||= !(await transaction.rollback());
    acquired.broken ||= failures.isConnectionLost(error);
    return { kind: 'undone', error, hasBegun };
  } finally {
    await restoreSession(acquired, restoring);
  }
}

/** Restores the session. If that fails, the connection is discarded. */
async function restoreSession(acquired: PooledRunner, statements: readonly string[]): Promise<void> {
  try {
    if (!acquired.broken) for (const statement of statements) await acquired.runner.query(statement);
  } catch {
    acquired.broken = true;
  }
}

/** One transaction on the connection of a query runner, from BEGIN to COMMIT or ROLLBACK. */
interface Transaction {
  begin(): Promise<void>;
  commit(): Promise<void>;
  /** Whether a rollback is possible. False after COMMIT, even if a later step fails. */
  readonly isOpen: boolean;
  /** Whether it is a savepoint in a transaction of the application. */
  readonly isNested: boolean;
  /** Rolls back. False if the connection may still be inside the transaction, and so cannot be reused. */
  rollback(): Promise<boolean>;
}

/** The number of transactions and savepoints that are open on the connection of a query runner. */
function depthOf(runner: QueryRunner): number {
  return (runner as unknown as { readonly transactionDepth: number }).transactionDepth;
}

/** A transaction on a pooled connection, which it holds exclusively until the release, or a savepoint in one of the application. */
class PooledTransaction implements Transaction {
  private readonly depthAround: number;

  constructor(
    private readonly runner: QueryRunner,
    readonly isNested: boolean,
  ) {
    this.depthAround = depthOf(runner);
  }

  get isOpen(): boolean {
    return this.isNested ? depthOf(this.runner) > this.depthAround : this.runner.isTransactionActive;
  }

  begin(): Promise<void> {
    return this.runner.startTransaction();
  }

  commit(): Promise<void> {
    return this.runner.commitTransaction();
  }

  rollback(): Promise<boolean> {
    return this.runner.rollbackTransaction().then(
      () => true,
      () => false,
    );
  }
}

/**
 * A transaction on SQLite's single connection, or a savepoint if the application has already begun a transaction on it,
 * which is then neither committed nor rolled back here. Afterwards connection and runner are in their previous state.
 */
class SqliteTransaction implements Transaction {
  private readonly runner: SqliteRunner;
  /**
   * Whether the application has a transaction around this one. TypeORM does not know one that was begun with a
   * statement of the application's own.
   */
  readonly isNested: boolean;
  private readonly previous: Readonly<Pick<SqliteRunner, 'isTransactionActive' | 'transactionDepth'>>;
  private readonly depthAround: number;
  private isBegun = false;

  /**
   * @param patience how long to wait for inner transactions of the application, and for readers at the COMMIT, in
   * milliseconds.
   */
  constructor(
    private readonly connection: SqliteConnection,
    private readonly queryRunner: QueryRunner,
    private readonly patience: number,
  ) {
    this.runner = connection.guard(queryRunner);
    const { isTransactionActive, transactionDepth } = this.runner;
    this.previous = { isTransactionActive, transactionDepth };
    this.isNested = transactionDepth > 0 || connection.isInTransaction;
    this.depthAround = this.isNested ? Math.max(1, transactionDepth) : 0;
  }

  get isOpen(): boolean {
    return !this.isBegun || this.runner.transactionDepth > this.depthAround;
  }

  async begin(): Promise<void> {
    if (this.isNested) {
      Object.assign(this.runner, { isTransactionActive: true, transactionDepth: this.depthAround });
      await this.queryRunner.startTransaction();
    } else {
      await this.connection.beginToWrite(this.queryRunner);
    }
    this.isBegun = true;
  }

  /**
   * Commits. TypeORM's COMMIT ends the innermost transaction, so one that the application has begun meanwhile has to
   * end first.
   */
  async commit(): Promise<void> {
    const deadline = performance.now() + this.patience;
    while (this.runner.transactionDepth > this.depthAround + 1) {
      if (performance.now() > deadline)
        throw new Error('A transaction was begun inside the one of a write, and not ended.');
      await pause(10);
    }
    try {
      await (this.isNested
        ? this.queryRunner.commitTransaction()
        : this.connection.commitWithin(this.patience, this.queryRunner));
    } finally {
      if (!this.isOpen) this.restore();
    }
  }

  async rollback(): Promise<boolean> {
    const savepoint = `typeorm_${this.depthAround}`;
    if (this.runner.transactionDepth === this.depthAround + 1)
      await this.queryRunner.rollbackTransaction().catch(() => undefined);
    if (!this.isNested) await this.rollBack();
    else if (this.runner.transactionDepth > this.depthAround && this.connection.isInTransaction)
      this.connection.run(`ROLLBACK TO SAVEPOINT ${savepoint}`);
    this.restore();
    return true;
  }

  /**
   * Rolls back until SQLite is in no transaction. Only this one is open, so nothing of the application is rolled back.
   * A statement that is still being iterated keeps it open.
   */
  private async rollBack(): Promise<void> {
    while (this.connection.isInTransaction) {
      try {
        this.connection.run('ROLLBACK');
      } catch {
        await pause(10);
      }
    }
  }

  private restore(): void {
    Object.assign(this.runner, this.previous);
  }
}
