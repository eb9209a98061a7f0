import type { DatabaseError } from '../../sql/dialects/dialect.js';

/** The maximum number of attempts after conflicts, before the client receives a 503 and has to retry itself. */
const MAX_CONFLICT_ATTEMPTS = 5;
/** The same for the largest bulk write: of as many as a pool has connections, at least one succeeds in each round. */
const MAX_BULK_ATTEMPTS = 15;
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
  private begunAt = 0;
  private readonly maxAttempts: number;

  /** @param size the number of rows that the operation writes. */
  constructor(
    private readonly patience: number,
    private readonly size = 1,
  ) {
    this.maxAttempts = Math.min(MAX_BULK_ATTEMPTS, MAX_CONFLICT_ATTEMPTS + Math.ceil(Math.log2(size)));
  }

  /** Whether the next attempt has to follow those of other bulk writes, which it would conflict with again. */
  get takesTurn(): boolean {
    return this.size > 1 && this.attempts > 1;
  }

  /** Called when an attempt begins. */
  begin(): void {
    this.begunAt = performance.now();
  }

  /** Waits before the next attempt. False if the budget is exhausted, or the error cannot be retried. */
  async retry(kind: DatabaseError['kind'] | undefined): Promise<boolean> {
    if (kind === 'locked') return this.retryLocked();
    if ((kind !== 'conflict' && kind !== 'unprepared') || this.attempts >= this.maxAttempts) return false;
    // Exponential backoff with jitter: on a busy machine, two conflicting transactions would collide again.
    await pause(Math.random() * this.longestPause());
    this.attempts += 1;
    return true;
  }

  /** Bulk writes that conflict have to follow each other, so the pause lasts as long as several of them. */
  private longestPause(): number {
    const round = Math.min(this.attempts, MAX_CONFLICT_ATTEMPTS - 1);
    const others = this.size > 1 ? round * (performance.now() - this.begunAt) : 0;
    return 20 * 2 ** round + others;
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
