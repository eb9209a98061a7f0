import type { QueryRunner } from 'typeorm';

/** One transaction on the connection of a query runner, from BEGIN to COMMIT or ROLLBACK. */
export interface Transaction {
  begin(): Promise<void>;
  commit(): Promise<void>;
  /** Whether a rollback is possible. False after COMMIT, even if a later step fails. */
  readonly isOpen: boolean;
  /** Rolls back. False if the connection may still be inside the transaction, and so cannot be reused. */
  rollback(): Promise<boolean>;
}

/** A transaction on a pooled connection, which it holds exclusively until the release. */
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

  rollback(): Promise<boolean> {
    return this.runner.rollbackTransaction().then(
      () => true,
      () => false,
    );
  }
}
