import type { DataSource, QueryRunner, EntityManager } from 'typeorm';
import { probeDepth, savepointAt } from '../../../internals/typeorm.js';
import type { SqliteRunner, TransactionState } from '../../../internals/typeorm.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { AsyncContext } from '../../../execution/connection/async-context.js';
import { forgetWritesAbove } from './committed-writes.js';
import type { DatabaseFailures } from './database-failures.js';
import type { PooledRunner } from './query-runner-pool.js';
import { pause } from '../../../execution/connection/retry-budget.js';
import { prepareJoinedSession, prepareSession } from './session.js';
import type { SqliteConnection } from './sqlite-connection.js';

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

/** The start has made sure that query runners count their transactions. */
function openDepth(runner: QueryRunner): number {
  return probeDepth(runner) ?? 0;
}

/** A transaction on a pooled connection, which it holds exclusively until the release, or a savepoint in one of the application. */
class PooledTransaction implements Transaction {
  private readonly depthAround: number;

  constructor(
    private readonly runner: QueryRunner,
    readonly isNested: boolean,
  ) {
    this.depthAround = openDepth(runner);
  }

  get isOpen(): boolean {
    return this.isNested ? openDepth(this.runner) > this.depthAround : this.runner.isTransactionActive;
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
  private readonly previous: TransactionState;
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
    this.previous = this.runner.state;
    const { depth } = this.previous;
    this.isNested = depth > 0 || connection.isInTransaction;
    this.depthAround = this.isNested ? Math.max(1, depth) : 0;
  }

  get isOpen(): boolean {
    return !this.isBegun || this.runner.depth > this.depthAround;
  }

  async begin(): Promise<void> {
    if (this.isNested) {
      this.runner.restore({ isActive: true, depth: this.depthAround });
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
    while (this.runner.depth > this.depthAround + 1) {
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
    if (this.runner.depth === this.depthAround + 1)
      await this.queryRunner.rollbackTransaction().catch(() => undefined);
    if (!this.isNested) await this.rollBack();
    else if (this.runner.depth > this.depthAround && this.connection.isInTransaction)
      this.connection.run(`ROLLBACK TO SAVEPOINT ${savepointAt(this.depthAround)}`);
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

  /** A COMMIT that the application runs as a statement is not seen: what has been written inside of that transaction is forgotten. */
  private restore(): void {
    this.runner.restore(this.previous);
    forgetWritesAbove(this.queryRunner, this.previous.depth);
  }
}

/** A transaction of the application, and the number of writes around the current code that are open in it. */
interface Joined {
  readonly runner: QueryRunner;
  readonly depth: number;
}

/** TypeORM 0.3 calls the data source `connection`. */
interface Manager extends Pick<EntityManager, 'queryRunner'> {
  readonly dataSource?: unknown;
  readonly connection?: unknown;
}

/**
 * Operations inside a transaction that the application has begun: all of their statements run on its connection, and each
 * write has a savepoint. Nothing is retried, because the transaction has more statements than those of the operation.
 */
export class JoinedTransactions {
  private readonly context = new AsyncContext<Joined>();
  /** The number of open writes. */
  private readonly open = new WeakMap<QueryRunner, number>();

  constructor(
    private readonly parts: TransactionParts,
    private readonly failures: DatabaseFailures,
  ) {}

  /** The transaction that the current asynchronous context has joined. */
  get current(): Joined | undefined {
    return this.context.value;
  }

  /** @throws Error without an active transaction of this data source. */
  async run<Result>(manager: object, work: () => Promise<Result>): Promise<Result> {
    const { queryRunner: runner, dataSource, connection } = manager as Manager;
    if ((dataSource ?? connection) !== this.parts.dataSource)
      throw new Error('The manager belongs to another data source than the model: pass one of its own.');
    if (!runner?.isTransactionActive || runner.isReleased)
      throw new Error(
        'The manager has no active transaction: pass the one that dataSource.transaction(async (manager) => …) gives, and await each operation in it.',
      );
    const depth = this.current?.runner === runner ? this.current.depth : 0;
    return this.context.run({ runner, depth }, work);
  }

  /** Runs reading statements on the connection of the transaction. */
  async read<Result>({ runner }: Joined, use: (acquired: PooledRunner) => Promise<Result>): Promise<Result> {
    const acquired: PooledRunner = { runner, connection: await runner.connect(), broken: false };
    const { sqlite } = this.parts;
    return sqlite ? sqlite.asAdapter(() => use(acquired)) : use(acquired);
  }

  /** Runs `work` in a savepoint, which is rolled back if it throws. */
  async transact<Result>(
    { runner, depth }: Joined,
    work: (runner: QueryRunner) => Promise<Result>,
  ): Promise<Result> {
    if ((this.open.get(runner) ?? 0) !== depth)
      throw new Error(
        'Two writes run in one transaction at the same time: await each operation before the next one.',
      );
    const inner = { runner, depth: depth + 1 };
    this.open.set(runner, inner.depth);
    const attempted = await this.context
      .run(inner, () =>
        this.read(inner, (acquired) => attemptTransaction(acquired, work, { ...this.parts, isJoined: true })),
      )
      .finally(() => this.open.set(runner, depth));
    if (attempted.kind === 'undone') throw this.failures.report(attempted.error);
    return attempted.result;
  }
}
