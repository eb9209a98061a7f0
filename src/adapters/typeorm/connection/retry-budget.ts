import type { DatabaseError } from '../../../sql/dialects/dialect.js';

/** Attempts at one piece of work that stood in another one's way, before the client is told to try again later. */
const MOST = 5;
/** Milliseconds. */
const LONGEST_PAUSE = 50;

/**
 * Attempts at one piece of work. A file that is locked is tried for `patience` milliseconds, because SQLite tells nobody when it
 * is free, and its own waiting would stop the whole process.
 */
export class RetryBudget {
  private made = 1;
  private lockedPause = 1;
  private until: number | undefined;

  constructor(private readonly patience: number) {}

  /** Waits until it is time for another one. False where none may pass. */
  async retry(kind: DatabaseError['kind'] | undefined): Promise<boolean> {
    if (kind === 'locked') return this.retryLocked();
    if ((kind !== 'conflict' && kind !== 'unprepared') || this.made >= MOST) return false;
    // Twice as long each time: on a busy machine, those that got in each other's way would meet again.
    await pause(Math.random() * 20 * 2 ** this.made);
    this.made += 1;
    return true;
  }

  private async retryLocked(): Promise<boolean> {
    const now = performance.now();
    this.until ??= now + this.patience;
    if (now >= this.until) return false;
    this.lockedPause = Math.min(LONGEST_PAUSE, 2 * this.lockedPause);
    await pause(Math.min(this.until - now, this.lockedPause * (0.5 + Math.random() / 2)));
    return true;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
