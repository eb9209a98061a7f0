import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';

/** Somebody who waits, until a time of `performance.now()`: clocks are set back. */
interface Waiting {
  readonly until: number;
  readonly giveUp: (error: Error) => void;
}

/**
 * Bounds how long anybody waits for a connection: by one timer for all of them, because most get theirs at once and a
 * timer each would cost more than the wait.
 */
export class AcquireDeadlines {
  private readonly waiting = new Set<Waiting>();
  private timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;

  /** `limit` in milliseconds. */
  constructor(private readonly limit: number) {}

  deadline(): number {
    return performance.now() + this.limit;
  }

  /** What `waited` gives, if it comes before the deadline (a time of `performance.now()`); else a 503. What comes later is the caller's to see to. */
  withinDeadline<Result>(waited: Promise<Result>, until: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const leave = this.add(until, reject);
      waited.finally(leave).then(resolve, reject);
    });
  }

  /** Until the function that it gives is called, which says whether that was in time; `giveUp` is told a 503 where it was not. */
  add(until: number, giveUp: (error: Error) => void): () => boolean {
    const here: Waiting = { until, giveUp };
    this.waiting.add(here);
    if (!this.timer || this.timer.at > until) this.scheduleWakeup(until);
    return () => this.waiting.delete(here);
  }

  /** The timer is left running when nobody waits any more, and holds no process up. */
  private scheduleWakeup(at: number): void {
    clearTimeout(this.timer?.handle);
    const handle = setTimeout(
      () => {
        this.timer = undefined;
        this.rejectExpired();
      },
      Math.max(0, at - performance.now()),
    );
    handle.unref();
    this.timer = { at, handle };
  }

  private rejectExpired(): void {
    const now = performance.now();
    let next = Infinity;
    for (const each of this.waiting) {
      if (each.until > now) next = Math.min(next, each.until);
      else {
        this.waiting.delete(each);
        each.giveUp(
          new DatabaseUnavailable({ cause: new Error('No connection to the database became free in time') }),
        );
      }
    }
    if (next < Infinity) this.scheduleWakeup(next);
  }
}
