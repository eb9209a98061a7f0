import type { SchemeOutcome } from '../../core/contracts/authentication.js';
import { REMEMBERED_CALLERS } from '../../core/schema/limits.js';
import { Attempts } from './failed-attempts.js';
import type { RefusalLimit } from './failed-attempts.js';

/** A check of credentials that may run. It has to be ended, with what came of it. */
export interface CredentialCheck {
  end(outcome: SchemeOutcome['kind']): void;
}

export interface KeyRules extends RefusalLimit {
  /** Whether right credentials make up for wrong ones. */
  readonly clearedBySuccess: boolean;
}

/** Attempts by address, or by user name from one; of so many that memory is bounded. */
export class AttemptsByKey {
  /** In the order of their last check: the first one has been quiet for the longest time. */
  private readonly known = new Map<string, Attempts>();

  constructor(private readonly rules: KeyRules) {}

  get size(): number {
    return this.known.size;
  }

  /** Throws 429 while no credentials are looked at. */
  refuseShut(key: string): void {
    this.known.get(key)?.refuseShut(performance.now());
  }

  /** Rejects with 429 where too many have been refused, and with 503 at `ends`. */
  async begin(key: string, ends: number): Promise<CredentialCheck> {
    const attempts = this.of(key);
    try {
      await attempts.begin(performance.now(), ends);
    } catch (error) {
      this.settle(key, attempts, performance.now());
      throw error;
    }
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

  /** What another process has counted. */
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

  /** What says nothing any more is not kept. */
  private settle(key: string, attempts: Attempts, now: number): void {
    if (this.known.get(key) !== attempts) return;
    this.known.delete(key);
    if (!attempts.isIdle(now)) this.keep(key, attempts);
  }

  private keep(key: string, attempts: Attempts): void {
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= REMEMBERED_CALLERS) this.known.delete(oldest);
    this.known.set(key, attempts);
  }
}
