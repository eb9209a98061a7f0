import type { QueryRunner } from 'typeorm';

/** One transaction over the connection of a query runner, from BEGIN to COMMIT or ROLLBACK. */
export interface Transaction {
  begin(): Promise<void>;
  commit(): Promise<void>;
  /** Whether there is something to roll back. Not so behind COMMIT, whatever fails then. */
  readonly isOpen: boolean;
  /** Rolls back. False where the connection may still be inside the transaction, and so is of no use to the next one. */
  undo(): Promise<boolean>;
}

/** On a connection that is this transaction's alone until it goes back to its pool. */
export class PooledTransaction implements Transaction {
  constructor(private readonly runner: QueryRunner) {}

  get isOpen(): boolean {
    return this.runner.isTransactionActive;
  }

  begin(): Promise<void> {
    return this.runner.startTransaction();
  }

  commit(): Promise<void> {
    return this.runner.commitTransaction();
  }

  undo(): Promise<boolean> {
    return this.runner.rollbackTransaction().then(
      () => true,
      () => false,
    );
  }
}
