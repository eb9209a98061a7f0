import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { forgetWritesAbove } from '../../../execution/connection/committed-writes.js';
import { pause } from '../../../execution/connection/retry-budget.js';
import type { Transaction } from '../../../execution/port.js';
import { probeDepth, savepointAt } from '../../../internals/typeorm.js';
import type { SqliteRunner, TransactionState } from '../../../internals/typeorm.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** The start has made sure that query runners count their transactions. */
export function openDepth(runner: QueryRunner): number {
  return probeDepth(runner) ?? 0;
}

/** A transaction on a pooled connection, which it holds exclusively until the release, or a savepoint in one of the application. */
export class PooledTransaction implements Transaction {
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
export class SqliteTransaction implements Transaction {
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

/** TypeORM 0.3 calls the data source `connection`. */
interface Manager extends Pick<EntityManager, 'queryRunner'> {
  readonly dataSource?: unknown;
  readonly connection?: unknown;
}

/**
 * The query runner of a manager in a transaction that the application has begun.
 * @throws Error without an active transaction of this data source.
 */
export function runnerInTransaction(manager: object, expected: DataSource): QueryRunner {
  const { queryRunner: runner, dataSource, connection } = manager as Manager;
  if ((dataSource ?? connection) !== expected)
    throw new Error('The manager belongs to another data source than the model: pass one of its own.');
  if (!runner?.isTransactionActive || runner.isReleased)
    throw new Error(
      'The manager has no active transaction: pass the one that dataSource.transaction(async (manager) => …) gives, and await each operation in it.',
    );
  return runner;
}
