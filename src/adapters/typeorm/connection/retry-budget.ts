import type { DatabaseError } from '../../../sql/dialects/dialect.js';

/** The maximum number of attempts after conflicts, before the client receives a 503 and has to retry itself. */
const MAX_CONFLICT_ATTEMPTS = 5;
/** The longest pause in milliseconds. */
const MAX_PAUSE = 50;

/**
 * The retries of one operation. A locked SQLite file is retried for `patience` milliseconds, because SQLite does not
 * signal when the lock is free, and waiting inside SQLite would block the event loop.
 */
export class RetryBudget {
  private attempts = 1;
  private lockedPause = 1;
  private until: number | undefined;

  constructor(private readonly patience: number) {}

  /** Waits before the next attempt. False if the budget is exhausted, or the error cannot be retried. */
  async retry(kind: DatabaseError['kind'] | undefined): Promise<boolean> {
    if (kind === 'locked') return this.retryLocked();
    if ((kind !== 'conflict' && kind !== 'unprepared') || this.attempts >= MAX_CONFLICT_ATTEMPTS)
      return false;
    // Exponential backoff with jitter: on a busy machine, two conflicting transactions would collide again.
    await pause(Math.random() * 20 * 2 ** this.attempts);
    this.attempts += 1;
    return true;
  }

  private async retryLocked(): Promise<boolean> {
    const now = performance.now();
    this.until ??= now + this.patience;
    if (now >= this.until) return false;
    this.lockedPause = Math.min(MAX_PAUSE, 2 * this.lockedPause);
    await pause(Math.min(this.until - now, this.lockedPause * (0.5 + Math.random() / 2)));
    return true;
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
