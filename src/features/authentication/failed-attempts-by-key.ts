import type { SchemeOutcome } from '../../core/contracts/authentication.js';
import { isPromise } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { REMEMBERED_CALLERS } from '../../core/schema/limits.js';
import { Attempts } from './failed-attempts.js';
import type { RefusalLimit } from './failed-attempts.js';

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
    if (this.known.size >= REMEMBERED_CALLERS) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    this.known.set(key, attempts);
  }
}
