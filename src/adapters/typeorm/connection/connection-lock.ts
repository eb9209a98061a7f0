import { AsyncLocalStorage } from 'node:async_hooks';
import type { AcquireDeadlines } from './acquire-timeout.js';

/**
 * Keeps statements out of somebody else's transaction where a data source has one connection only (SQLite): a
 * transaction waits for the one before it, and everything else waits for the transaction, until a deadline. Elsewhere
 * it lets all pass.
 *
 * It knows of the transactions of this adapter; one that the application begins itself on the same data source is not
 * seen here.
 */
export class ConnectionLock {
  private busy: Promise<void> | undefined;
  /** The transaction inside which something runs: it would wait for itself. One that is over is none. */
  private readonly inside = new AsyncLocalStorage<Promise<void>>();

  constructor(private readonly oneConnection: boolean) {}

  /** Whether there is one connection, and nobody holds it. */
  get isFree(): boolean {
    return this.oneConnection && this.busy === undefined;
  }

  /** Runs statements, outside of every transaction but the one that they are asked from. */
  runShared<Result>(statements: () => Promise<Result>, waiting: AcquireDeadlines): Promise<Result> {
    return this.busy ? this.runSharedLater(statements, waiting) : statements();
  }

  private async runSharedLater<Result>(
    statements: () => Promise<Result>,
    waiting: AcquireDeadlines,
  ): Promise<Result> {
    if (this.busy && this.inside.getStore() === this.busy) return statements();
    let deadline: number | undefined;
    while (this.busy) await waiting.withinDeadline(this.busy, (deadline ??= waiting.deadline()));
    return statements();
  }

  /** Runs alone. Rejects inside another one: there is no second connection to begin it on. */
  acquireExclusive<Result>(transaction: () => Promise<Result>, waiting: AcquireDeadlines): Promise<Result> {
    return this.runExclusive(transaction, waiting, (here) => this.inside.run(here, transaction));
  }

  /** As `hold`, for what runs nothing of the application's: nobody asks whether it is inside. */
  async runExclusive<Result>(
    transaction: () => Promise<Result>,
    waiting: AcquireDeadlines,
    run: (here: Promise<void>) => Promise<Result> = transaction,
  ): Promise<Result> {
    if (!this.oneConnection) return transaction();
    if (this.busy && this.inside.getStore() === this.busy)
      throw new Error(
        'A write was begun inside the transaction of another one, and this database has one connection: use the manager that the hook is given.',
      );
    const deadline = waiting.deadline();
    while (this.busy) await waiting.withinDeadline(this.busy, deadline);
    let open = (): void => undefined;
    const here = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.busy = here;
    try {
      return await run(here);
    } finally {
      this.busy = undefined;
      open();
    }
  }
}
