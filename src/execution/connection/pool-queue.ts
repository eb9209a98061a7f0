import type { Requester } from '../../core/query/plan.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { NO_POSITION, UnorderedSet } from '../../core/unordered-set.js';
import type { UnorderedSetMember } from '../../core/unordered-set.js';
import type { AcquireDeadlines } from './acquire-timeout.js';
import { AsyncContext } from './async-context.js';

/**
 * The smallest pool of which one connection is reserved: of a smaller one, a caller would be left with one connection
 * at most.
 */
const MIN_FAIR_SHARE_SIZE = 3;

/** A permit to acquire a connection of the driver's pool. */
export class Permit implements UnorderedSetMember {
  position = NO_POSITION;
  /** The caller, once resolved; undefined for the application itself. */
  private caller: string | undefined;
  private isResolved = false;
  /** The acquire deadline, if the permit had to be waited for. */
  until: number | undefined;
  isReleased = false;

  constructor(
    private readonly queue: PoolQueue,
    private readonly requester: Requester | undefined,
  ) {}

  /** Resolves the caller. Only called if the pool is nearly exhausted, because it costs more than the permit. */
  resolveCaller(): string | undefined {
    if (!this.isResolved) {
      this.isResolved = true;
      this.caller = callerOf(this.requester);
    }
    return this.caller;
  }

  /** Releases the permit, once the connection is back in the pool. */
  release(): void {
    this.queue.release(this);
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
  private readonly held = new UnorderedSet<Permit>();
  /**
   * Waiting permits by caller, in the order of arrival. None of these callers may use a connection that is free at
   * present.
   */
  private readonly waiting = new Map<string | undefined, Waiting[]>();
  /** The permit of the current asynchronous context. */
  private readonly context = new AsyncContext<Permit>();

  /** The maximum number of connections of one caller. */
  private readonly share: number;

  constructor(private readonly size: number) {
    this.share = size < MIN_FAIR_SHARE_SIZE ? size : size - 1;
  }

  /**
   * Acquires a permit; without a requester no caller's share is counted. Rejects with 503 at the deadline. Undefined
   * inside a context that already holds a permit, which would wait for itself.
   */
  acquire(requester: Requester | undefined, deadlines: AcquireDeadlines): MaybePromise<Permit> | undefined {
    if (this.context.value?.isReleased === false) return undefined;
    const permit = new Permit(this, requester);
    if (!this.isFreeFor(permit)) return this.wait(permit, deadlines);
    this.held.add(permit);
    return permit;
  }

  release(permit: Permit): void {
    permit.isReleased = true;
    this.held.delete(permit);
    for (let next = this.takeNext(); next; next = this.takeNext()) next.grant();
  }

  runInside<Result>(permit: Permit, work: () => Promise<Result>): Promise<Result> {
    return this.context.run(permit, work);
  }

  private isFreeFor(permit: Permit): boolean {
    if (this.held.size < this.size - 1) return true;
    return this.held.size < this.size && this.heldBy(permit.resolveCaller()) < this.share;
  }

  /** The number of connections that a caller holds; none for the application itself, which is not limited. */
  private heldBy(caller: string | undefined): number {
    return caller === undefined ? 0 : this.held.count((each) => each.resolveCaller() === caller);
  }

  private wait(permit: Permit, deadlines: AcquireDeadlines): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const until = deadlines.deadline();
      permit.until = until;
      const caller = permit.resolveCaller();
      const entry: Waiting = {
        permit,
        grant: () => {
          deadlines.remove(pending);
          resolve(permit);
        },
      };
      const pending = deadlines.register(until, (error) => {
        this.remove(caller, entry);
        reject(error);
      });
      const others = this.waiting.get(caller);
      if (others) others.push(entry);
      else this.waiting.set(caller, [entry]);
    });
  }

  private remove(caller: string | undefined, entry: Waiting): void {
    const waiting = this.waiting.get(caller) ?? [];
    const index = waiting.indexOf(entry);
    if (index >= 0) waiting.splice(index, 1);
    if (waiting.length === 0) this.waiting.delete(caller);
  }

  /** Removes the waiting permit that comes next, and counts it as held; undefined if none may be granted. */
  private takeNext(): Waiting | undefined {
    const chosen = this.waiting.size > 0 && this.held.size < this.size ? this.chooseCaller() : undefined;
    if (!chosen) return undefined;
    const [caller, waiting] = chosen;
    const next = waiting.shift();
    if (waiting.length === 0) this.waiting.delete(caller);
    else if (this.waiting.size > 1) {
      // Moves the caller behind the others with as few connections.
      this.waiting.delete(caller);
      this.waiting.set(caller, waiting);
    }
    if (next) this.held.add(next.permit);
    return next;
  }

  private chooseCaller(): readonly [string | undefined, Waiting[]] | undefined {
    let chosen: readonly [string | undefined, Waiting[]] | undefined;
    let fewest = this.share;
    for (const each of this.waiting) {
      const holds = this.heldBy(each[0]);
      if (holds >= fewest) continue;
      chosen = each;
      fewest = holds;
      if (holds === 0) break;
    }
    return chosen;
  }
}

/** All requesters of which the application cannot say who they are share one part of the pool. */
const UNKNOWN_CALLER = '';

/** Never throws: the queue asks for the callers of other requests, too. */
function callerOf(requester: Requester | undefined): string | undefined {
  try {
    return requester?.caller;
  } catch {
    return UNKNOWN_CALLER;
  }
}
