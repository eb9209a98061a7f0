import { AsyncLocalStorage } from 'node:async_hooks';
import type { Requester } from '../../../core/contracts/requester.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/**
 * The smallest pool of which one connection is reserved: of a smaller one, a caller would be left with one connection
 * at most.
 */
const MIN_FAIR_SHARE_SIZE = 3;

/** A permit to acquire a connection of the driver's pool. */
export class Permit {
  /** The caller, once resolved; undefined for the application itself. */
  caller: string | undefined;
  /** The acquire deadline, if the permit had to be waited for. */
  until: number | undefined;
  isReleased = false;

  constructor(
    private readonly queue: PoolQueue,
    private readonly requester: Requester | undefined,
  ) {}

  /** Resolves the caller. Only called if the pool is nearly exhausted, because it costs more than the permit. */
  resolveCaller(): string | undefined {
    return (this.caller ??= this.requester?.caller);
  }

  /** Releases the permit, once the connection is back in the pool. */
  leave(): void {
    this.queue.leave(this);
  }

  /** Runs work that may itself acquire connections. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.queue.runInside(this, work);
  }
}

interface Waiting {
  readonly permit: Permit;
  readonly grant: () => void;
}

/**
 * A fair queue in front of a connection pool. Permits are granted immediately while enough connections are free. One
 * caller never holds the last connection, and of the waiting callers the one with the fewest connections comes first.
 * It counts the statements of this adapter only; other users of the pool compete in the driver's entry queue, after this
 * one.
 */
export class PoolQueue {
  private readonly held = new Set<Permit>();
  /**
   * Waiting permits by caller, in the order of arrival. None of these callers may use a connection that is free at
   * present.
   */
  private readonly waiting = new Map<string | undefined, Waiting[]>();
  /** The permit of the current asynchronous context. */
  private readonly context = new AsyncLocalStorage<Permit>();

  constructor(private readonly size: number) {}

  /**
   * Acquires a permit; without a requester no caller's share is counted. Rejects with 503 at the deadline. Undefined
   * inside a context that already holds a permit, which would wait for itself.
   */
  enter(requester: Requester | undefined, deadlines: AcquireDeadlines): MaybePromise<Permit> | undefined {
    if (this.context.getStore()?.isReleased === false) return undefined;
    const permit = new Permit(this, requester);
    if (!this.isFreeFor(permit)) return this.wait(permit, deadlines);
    this.held.add(permit);
    return permit;
  }

  leave(permit: Permit): void {
    permit.isReleased = true;
    this.held.delete(permit);
    while (this.waiting.size > 0 && this.serveNext());
  }

  runInside<Result>(permit: Permit, work: () => Promise<Result>): Promise<Result> {
    return this.context.run(permit, work);
  }

  private isFreeFor(permit: Permit): boolean {
    if (this.held.size < this.size - 1) return true;
    return this.held.size < this.size && this.mayHoldMore(permit.resolveCaller());
  }

  private mayHoldMore(caller: string | undefined): boolean {
    return this.size < MIN_FAIR_SHARE_SIZE || caller === undefined || this.heldBy(caller) < this.size - 1;
  }

  private heldBy(caller: string): number {
    let count = 0;
    for (const each of this.held) if (each.resolveCaller() === caller) count++;
    return count;
  }

  private wait(permit: Permit, deadlines: AcquireDeadlines): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const until = deadlines.deadline();
      permit.until = until;
      const caller = permit.resolveCaller();
      const entry: Waiting = {
        permit,
        grant: () => {
          clearDeadline();
          resolve(permit);
        },
      };
      const clearDeadline = deadlines.register(until, (error) => {
        this.remove(caller, entry);
        reject(error);
      });
      const others = this.waiting.get(caller);
      if (others) others.push(entry);
      else this.waiting.set(caller, [entry]);
    });
  }

  private remove(caller: string | undefined, entry: Waiting): void {
    const waiting = this.waiting.get(caller)?.filter((each) => each !== entry) ?? [];
    if (waiting.length > 0) this.waiting.set(caller, waiting);
    else this.waiting.delete(caller);
  }

  /** True if the queue has changed, and another permit may be granted. */
  private serveNext(): boolean {
    if (this.held.size >= this.size) return false;
    const chosen = this.next();
    if (!chosen) return false;
    const [caller, waiting] = chosen;
    const first = waiting.shift();
    // Moves the caller behind the others with as few connections.
    this.waiting.delete(caller);
    if (waiting.length > 0) this.waiting.set(caller, waiting);
    if (!first) return true;
    this.held.add(first.permit);
    first.grant();
    return true;
  }

  private next(): readonly [string | undefined, Waiting[]] | undefined {
    let chosen: readonly [string | undefined, Waiting[]] | undefined;
    let fewest = Infinity;
    for (const each of this.waiting) {
      const [caller] = each;
      const holds = caller === undefined ? 0 : this.heldBy(caller);
      if (holds >= fewest || !this.mayHoldMore(caller)) continue;
      chosen = each;
      fewest = holds;
      if (holds === 0) break;
    }
    return chosen;
  }
}
