import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';

/**
 * A pending acquisition and its deadline, a time of the monotonic `performance.now()` in milliseconds: the wall clock
 * may be set back.
 */
interface PendingAcquisition {
  readonly until: number;
  readonly reject: (error: Error) => void;
}

/**
 * Deadlines for acquiring a connection. One timer serves all pending acquisitions, because most succeed immediately and
 * a timer for each would cost more than the wait.
 */
export class AcquireDeadlines {
  private readonly pending = new Set<PendingAcquisition>();
  private timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;

  /** @param limit the acquire timeout in milliseconds. */
  constructor(private readonly limit: number) {}

  deadline(): number {
    return performance.now() + this.limit;
  }

  /**
   * Settles as `waited` does, or rejects with a 503 at the deadline (a time of `performance.now()`). The caller handles
   * a result that arrives later.
   */
  withinDeadline<Result>(waited: Promise<Result>, until: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const remove = this.register(until, reject);
      waited.finally(remove).then(resolve, reject);
    });
  }

  /**
   * Registers a pending acquisition: `reject` is called with a 503 at the deadline. The returned function removes the
   * entry, and returns whether the deadline had not passed yet.
   */
  register(until: number, reject: (error: Error) => void): () => boolean {
    const entry: PendingAcquisition = { until, reject };
    this.pending.add(entry);
    if (!this.timer || this.timer.at > until) this.scheduleWakeup(until);
    return () => this.pending.delete(entry);
  }

  /**
   * Schedules the timer. It keeps running after the last acquisition, and is unreferenced, so that it does not keep the
   * process alive.
   */
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
    for (const each of this.pending) {
      if (each.until > now) next = Math.min(next, each.until);
      else {
        this.pending.delete(each);
        each.reject(
          new DatabaseUnavailable({ cause: new Error('No connection to the database became free in time') }),
        );
      }
    }
    if (next < Infinity) this.scheduleWakeup(next);
  }
}
