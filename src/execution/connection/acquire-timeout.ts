import { DatabaseUnavailable } from '../../core/errors/http-exceptions.js';
import { NO_POSITION, UnorderedSet } from '../../core/unordered-set.js';
import type { UnorderedSetMember } from '../../core/unordered-set.js';

/**
 * A pending acquisition and its deadline, a time of the monotonic `performance.now()` in milliseconds: the wall clock
 * may be set back.
 */
export class PendingAcquisition implements UnorderedSetMember {
  position = NO_POSITION;

  constructor(
    readonly until: number,
    readonly reject: (error: Error) => void,
  ) {}
}

/**
 * Deadlines for acquiring a connection. One timer serves all pending acquisitions, because most succeed immediately and
 * a timer for each would cost more than the wait.
 */
export class AcquireDeadlines {
  private readonly pending = new UnorderedSet<PendingAcquisition>();
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
      const pending = this.register(until, reject);
      waited.finally(() => this.remove(pending)).then(resolve, reject);
    });
  }

  /** Registers a pending acquisition: `reject` is called with a 503 at the deadline, unless it is removed before. */
  register(until: number, reject: (error: Error) => void): PendingAcquisition {
    const pending = new PendingAcquisition(until, reject);
    this.pending.add(pending);
    if (!this.timer || this.timer.at > until) this.scheduleWakeup(until);
    return pending;
  }

  /** Removes a pending acquisition. False if its deadline has passed. */
  remove(pending: PendingAcquisition): boolean {
    return this.pending.delete(pending);
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
    this.pending.forEach((each) => {
      if (each.until > now) next = Math.min(next, each.until);
      else {
        this.pending.delete(each);
        each.reject(
          new DatabaseUnavailable({ cause: new Error('No connection to the database became free in time') }),
        );
      }
    });
    if (next < Infinity) this.scheduleWakeup(next);
  }
}
