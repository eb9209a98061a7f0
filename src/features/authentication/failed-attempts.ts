import type { SchemeOutcome } from '../../core/contracts/authentication.js';
import { AuthenticationUnavailable, Throttled } from '../../core/errors/http-exceptions.js';
import { evictOldest } from '../../core/evict-oldest.js';
import { isPromise } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { REMEMBERED_CALLERS } from '../../core/schema/limits.js';

interface WaitingAttempt {
  readonly admit: () => void;
  readonly refuse: (error: Error) => void;
}

/** The limit of rejected credentials within a time window in milliseconds. */
interface RefusalLimit {
  readonly limit: number;
  readonly ttl: number;
}

/**
 * The attempts of one address, or of one user name from it: rejections within the last `ttl` and running checks. Their sum
 * never exceeds the limit, so that concurrent guesses are no more than sequential ones: a check that could exceed it
 * waits until a running one has ended.
 */
class Attempts {
  private rejections: number[] = [];
  private checking = 0;
  private shutUntil = 0;
  /** In the order of arrival; undefined until one waits, which is rare. */
  private waiting: Set<WaitingAttempt> | undefined;

  constructor(private readonly rules: RefusalLimit) {}

  /** True if the attempts have no effect and can be evicted. */
  isIdle(now: number): boolean {
    return this.checking === 0 && !this.isWaiting && this.shutUntil <= now && this.recent(now) === 0;
  }

  /** Throws 429 while locked out. */
  refuseShut(now: number): void {
    const error = this.shutError(now);
    if (error) throw error;
  }

  /**
   * Starts a check, immediately or when there is capacity. Rejects with 429 if the limit is reached, and with 503 at the
   * deadline `ends`.
   */
  begin(now: number, ends: number): MaybePromise<void> {
    this.refuseShut(now);
    if (this.isWaiting || !this.hasRoom(now)) return this.wait(ends - now);
    this.checking++;
  }

  /** Ends a check that was not rejected. */
  end(now: number): void {
    this.checking--;
    this.admitWaiting(now);
  }

  /** Ends a check that was rejected. */
  refuse(now: number): void {
    this.rejections.push(now);
    if (this.recent(now) >= this.rules.limit) this.shut(now + this.rules.ttl);
    this.end(now);
  }

  shut(until: number): void {
    this.rejections = [];
    this.shutUntil = Math.max(this.shutUntil, until);
  }

  forget(): void {
    this.rejections = [];
  }

  private hasRoom(now: number): boolean {
    return this.recent(now) + this.checking < this.rules.limit;
  }

  private recent(now: number): number {
    const since = now - this.rules.ttl;
    while (this.rejections[0] !== undefined && this.rejections[0] <= since) this.rejections.shift();
    return this.rejections.length;
  }

  private wait(milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: WaitingAttempt = {
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
        this.waiting?.delete(waiting);
        reject(
          new AuthenticationUnavailable({
            cause: new Error('Other checks of credentials of this caller took too long'),
          }),
        );
      }, milliseconds);
      timer.unref();
      this.waiting ??= new Set();
      this.waiting.add(waiting);
    });
  }

  private get isWaiting(): boolean {
    return this.waiting !== undefined && this.waiting.size > 0;
  }

  private admitWaiting(now: number): void {
    if (!this.waiting) return;
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

/** A started check of credentials. The caller must end it with its outcome. */
export interface CredentialCheck {
  end(outcome: SchemeOutcome['kind']): void;
}

export interface KeyRules extends RefusalLimit {
  /** True if a successful check resets the count of failed ones. */
  readonly clearedBySuccess: boolean;
}

/** Failed attempts by address, or by user name and address, with a bounded number of keys. */
export class AttemptsByKey {
  /** Ordered by last check, so that the least recently used key is evicted first. */
  private readonly known = new Map<string, Attempts>();

  constructor(private readonly rules: KeyRules) {}

  get size(): number {
    return this.known.size;
  }

  /** Throws 429 while the key is locked out. */
  refuseShut(key: string): void {
    this.known.get(key)?.refuseShut(performance.now());
  }

  /** Throws or rejects with 429 if too many credentials have been rejected, and with 503 at the deadline `ends`. */
  begin(key: string, ends: number): MaybePromise<CredentialCheck> {
    const attempts = this.of(key);
    const abandon = (error: unknown): never => {
      this.settle(key, attempts, performance.now());
      throw error;
    };
    try {
      const waiting = attempts.begin(performance.now(), ends);
      return isPromise(waiting)
        ? waiting.then(() => this.checkOf(key, attempts), abandon)
        : this.checkOf(key, attempts);
    } catch (error) {
      return abandon(error);
    }
  }

  private checkOf(key: string, attempts: Attempts): CredentialCheck {
    return {
      end: (outcome) => {
        const now = performance.now();
        if (outcome === 'actor' && this.rules.clearedBySuccess) attempts.forget();
        if (outcome === 'wrong') attempts.refuse(now);
        else attempts.end(now);
        this.settle(key, attempts, now);
      },
    };
  }

  /** Applies a lockout that another process has reported. */
  shut(key: string, milliseconds: number): void {
    this.of(key).shut(performance.now() + milliseconds);
  }

  private of(key: string): Attempts {
    const known = this.known.get(key);
    if (known) return known;
    const attempts = new Attempts(this.rules);
    this.keep(key, attempts);
    return attempts;
  }

  /** Removes attempts that no longer have an effect. */
  private settle(key: string, attempts: Attempts, now: number): void {
    if (this.known.get(key) !== attempts) return;
    this.known.delete(key);
    if (!attempts.isIdle(now)) this.keep(key, attempts);
  }

  private keep(key: string, attempts: Attempts): void {
    this.known.set(key, attempts);
    evictOldest(this.known, REMEMBERED_CALLERS);
  }
}
