import type { QueryRunner } from 'typeorm';
import type { SqliteConnection, SqliteRunner } from './sqlite-connection.js';
import type { Transaction } from './transaction.js';

/**
 * On SQLite's only connection. Where the application is in a transaction of its own, it is a savepoint in that one, which
 * is neither committed nor rolled back here. Whatever becomes of it, connection and runner are then as they were found.
 */
export class SqliteTransaction implements Transaction {
  private readonly runner: SqliteRunner;
  /** The application's, around this one. One that it began by a statement of its own is unknown to TypeORM. */
  private readonly isNested: boolean;
  private readonly found: Readonly<Pick<SqliteRunner, 'isTransactionActive' | 'transactionDepth'>>;
  private readonly depthAround: number;
  private isBegun = false;

  /** `patience`: for how many milliseconds it waits for others inside it, and for those who read what it commits. */
  constructor(
    private readonly connection: SqliteConnection,
    private readonly queryRunner: QueryRunner,
    private readonly patience: number,
  ) {
    this.runner = connection.guard(queryRunner);
    const { isTransactionActive, transactionDepth } = this.runner;
    this.found = { isTransactionActive, transactionDepth };
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

  /** TypeORM's COMMIT ends the innermost transaction: one that the application has begun meanwhile ends before. */
  async commit(): Promise<void> {
    const deadline = performance.now() + this.patience;
    while (this.runner.transactionDepth > this.depthAround + 1) {
      if (performance.now() > deadline)
        throw new Error('A transaction was begun inside the one of a write, and not ended.');
      await pause();
    }
    await (this.isNested
      ? this.queryRunner.commitTransaction()
      : this.connection.commitWithin(this.patience, this.queryRunner));
    this.putBack();
  }

  async undo(): Promise<boolean> {
    const savepoint = `typeorm_${this.depthAround}`;
    if (this.runner.transactionDepth === this.depthAround + 1)
      await this.queryRunner.rollbackTransaction().catch(() => undefined);
    if (!this.isNested) await this.leave();
    else if (this.runner.transactionDepth > this.depthAround && this.connection.isInTransaction)
      this.connection.run(`ROLLBACK TO SAVEPOINT ${savepoint}`);
    this.putBack();
    return true;
  }

  /** What is open is this transaction: nothing of anybody else's is undone. A statement that somebody is still reading from keeps it open. */
  private async leave(): Promise<void> {
    while (this.connection.isInTransaction) {
      try {
        this.connection.run('ROLLBACK');
      } catch {
        await pause();
      }
    }
  }

  private putBack(): void {
    Object.assign(this.runner, this.found);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
