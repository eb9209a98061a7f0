import type { QueryRunner } from 'typeorm';
import { pause } from './retry-budget.js';
import type { SqliteConnection, SqliteRunner } from './sqlite-connection.js';
import type { Transaction } from './transaction.js';

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
  private readonly isNested: boolean;
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
    await (this.isNested
      ? this.queryRunner.commitTransaction()
      : this.connection.commitWithin(this.patience, this.queryRunner));
    this.restore();
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
