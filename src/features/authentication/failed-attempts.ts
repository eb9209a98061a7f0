import { AuthenticationUnavailable, Throttled } from '../../core/errors/http-exceptions.js';
import type { MaybePromise } from '../../core/maybe-promise.js';

interface Waiting {
  readonly admit: () => void;
  readonly refuse: (error: Error) => void;
}

/** How many refusals there may be in so many milliseconds. */
export interface RefusalLimit {
  readonly limit: number;
  readonly ttl: number;
}

/**
 * What is known of one address, or of one user name from it: refusals of the last `ttl`, and checks that are running.
 * Both together never exceed the limit, so that guesses which come at once are no more than those one after another: a
 * check that could exceed it waits until one of those that are running has ended.
 */
export class Attempts {
  private refusals: number[] = [];
  private checking = 0;
  private shutUntil = 0;
  private readonly waiting = new Set<Waiting>();

  constructor(private readonly rules: RefusalLimit) {}

  /** Whether nothing has to be kept of it. */
  isIdle(now: number): boolean {
    return this.checking === 0 && this.waiting.size === 0 && this.shutUntil <= now && this.recent(now) === 0;
  }

  /** Throws 429 while no credentials are looked at. */
  refuseShut(now: number): void {
    const error = this.shutError(now);
    if (error) throw error;
  }

  /** One more check: now, or once there is room for it. Rejects with 429 where none will be, and with 503 at `ends`. */
  begin(now: number, ends: number): MaybePromise<void> {
    this.refuseShut(now);
    if (this.waiting.size > 0 || !this.hasRoom(now)) return this.wait(ends - now);
    this.checking++;
  }

  /** A check has ended, with another answer than a refusal. */
  end(now: number): void {
    this.checking--;
    this.admitWaiting(now);
  }

  /** A check has ended with a refusal. */
  refuse(now: number): void {
    this.refusals.push(now);
    if (this.recent(now) >= this.rules.limit) this.shut(now + this.rules.ttl);
    this.end(now);
  }

  shut(until: number): void {
    this.refusals = [];
    this.shutUntil = Math.max(this.shutUntil, until);
  }

  forget(): void {
    this.refusals = [];
  }

  private hasRoom(now: number): boolean {
    return this.recent(now) + this.checking < this.rules.limit;
  }

  private recent(now: number): number {
    const since = now - this.rules.ttl;
    while (this.refusals[0] !== undefined && this.refusals[0] <= since) this.refusals.shift();
    return this.refusals.length;
  }

  private wait(milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        admit: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        this.waiting.delete(waiting);
        reject(
          new AuthenticationUnavailable({
            cause: new Error('Other checks of credentials of this caller took too long'),
          }),
        );
      }, milliseconds);
      timer.unref();
      this.waiting.add(waiting);
    });
  }

  private admitWaiting(now: number): void {
    const shut = this.shutError(now);
    for (const each of this.waiting) {
      if (!shut && !this.hasRoom(now)) return;
      this.waiting.delete(each);
      if (shut) {
        each.refuse(shut);
      } else {
        this.checking++;
        each.admit();
      }
    }
  }

  private shutError(now: number): Throttled | undefined {
    return this.shutUntil > now ? new Throttled(Math.ceil((this.shutUntil - now) / 1000)) : undefined;
  }
}
