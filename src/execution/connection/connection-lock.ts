import type { AcquireDeadlines } from './acquire-timeout.js';
import { AsyncContext } from './async-context.js';

/**
 * A lock that keeps statements out of another request's transaction if the data source has only one connection
 * (SQLite): a transaction waits for the one before it, and every other statement waits for the transaction, until a
 * deadline. With more connections it has no effect.
 *
 * It covers the transactions of this adapter only, and does not see those that the application begins on the same data
 * source.
 */
export class ConnectionLock {
  private active: Promise<void> | undefined;
  /**
   * The transaction of the current asynchronous context, whose statements must not wait for it. Ignored once that
   * transaction has ended.
   */
  private readonly context = new AsyncContext<Promise<void>>();

  constructor(private readonly oneConnection: boolean) {}

  /** True if there is a single connection and no transaction holds it. */
  get isFree(): boolean {
    return this.oneConnection && this.active === undefined;
  }

  /** Runs work of which the statements wait for the transaction of the current asynchronous context. */
  runOutside(work: () => void): void {
    this.context.exit(work);
  }

  /** Runs statements outside of every transaction except the one of the current asynchronous context. */
  runShared<Result>(statements: () => Promise<Result>, deadlines: AcquireDeadlines): Promise<Result> {
    return this.active ? this.runSharedLater(statements, deadlines) : statements();
  }

  private async runSharedLater<Result>(
    statements: () => Promise<Result>,
    deadlines: AcquireDeadlines,
  ): Promise<Result> {
    if (this.active && this.context.value === this.active) return statements();
    let deadline: number | undefined;
    while (this.active) await deadlines.withinDeadline(this.active, (deadline ??= deadlines.deadline()));
    return statements();
  }

  /**
   * Runs a transaction exclusively.
   * @throws Error inside another transaction, because there is no second connection.
   */
  acquireExclusive<Result>(transaction: () => Promise<Result>, deadlines: AcquireDeadlines): Promise<Result> {
    return this.runExclusive(transaction, deadlines, (current) => this.context.run(current, transaction));
  }

  /**
   * As `acquireExclusive`, for work that runs no code of the application, so that the asynchronous context need not be
   * tracked.
   */
  async runExclusive<Result>(
    transaction: () => Promise<Result>,
    deadlines: AcquireDeadlines,
    run: (current: Promise<void>) => Promise<Result> = transaction,
  ): Promise<Result> {
    if (!this.oneConnection) return transaction();
    if (this.active && this.context.value === this.active)
      throw new Error(
        'A write was begun inside the transaction of another one, and this database has one connection: use the manager that the hook is given.',
      );
    const deadline = deadlines.deadline();
    while (this.active) await deadlines.withinDeadline(this.active, deadline);
    let release = (): void => undefined;
    const current = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.active = current;
    try {
      return await run(current);
    } finally {
      this.active = undefined;
      release();
    }
  }
}
