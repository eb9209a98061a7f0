import { AsyncLocalStorage } from 'node:async_hooks';
import type { Requester } from '../../../core/contracts/requester.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/** A pool of fewer is anybody's: to keep one free would leave a caller one at most. */
const LEAST_SHARED = 3;

/** The right to ask the driver's pool for a connection. */
export class Turn {
  /** Whose it is, once that was asked; undefined for the application itself. */
  caller: string | undefined;
  /** Until when the driver is waited for, where the turn was waited for too. */
  until: number | undefined;
  isOver = false;

  constructor(
    private readonly queue: PoolQueue,
    private readonly requester: Requester | undefined,
  ) {}

  /** Asked when there is not enough for all: it costs more than a turn. */
  named(): string | undefined {
    return (this.caller ??= this.requester?.caller);
  }

  /** When the connection is back. */
  leave(): void {
    this.queue.leave(this);
  }

  /** Runs what may ask for connections itself. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.queue.runInside(this, work);
  }
}

interface Waiting {
  readonly turn: Turn;
  readonly given: () => void;
}

/**
 * Who may ask a pool for its connections: all, while there are enough. One caller never has the last one, and of those who wait
 * the one who has fewest comes first. It knows of the statements of this adapter alone; whoever else uses the pool is waited for in
 * the driver's own queue, behind this one.
 */
export class PoolQueue {
  private readonly held = new Set<Turn>();
  /** By caller, in the order in which they came. Nobody in it could have what is free. */
  private readonly waiting = new Map<string | undefined, Waiting[]>();
  /** The turn inside which something runs. */
  private readonly inside = new AsyncLocalStorage<Turn>();

  constructor(private readonly size: number) {}

  /** For nobody's share without a requester. Rejects with 503 when it comes too late. Undefined for what is asked inside of somebody's turn, who would wait for itself. */
  enter(requester: Requester | undefined, room: AcquireDeadlines): MaybePromise<Turn> | undefined {
    if (this.inside.getStore()?.isOver === false) return undefined;
    const turn = new Turn(this, requester);
    if (!this.isFreeFor(turn)) return this.wait(turn, room);
    this.held.add(turn);
    return turn;
  }

  leave(turn: Turn): void {
    turn.isOver = true;
    this.held.delete(turn);
    while (this.waiting.size > 0 && this.serveNext());
  }

  runInside<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
    return this.inside.run(turn, work);
  }

  private isFreeFor(turn: Turn): boolean {
    if (this.held.size < this.size - 1) return true;
    return this.held.size < this.size && this.mayHoldMore(turn.named());
  }

  private mayHoldMore(caller: string | undefined): boolean {
    return this.size < LEAST_SHARED || caller === undefined || this.heldBy(caller) < this.size - 1;
  }

  private heldBy(caller: string): number {
    let count = 0;
    for (const each of this.held) if (each.named() === caller) count++;
    return count;
  }

  private wait(turn: Turn, room: AcquireDeadlines): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const until = room.deadline();
      turn.until = until;
      const caller = turn.named();
      const own: Waiting = {
        turn,
        given: () => {
          leaveRoom();
          resolve(turn);
        },
      };
      const leaveRoom = room.add(until, (error) => {
        this.remove(caller, own);
        reject(error);
      });
      const others = this.waiting.get(caller);
      if (others) others.push(own);
      else this.waiting.set(caller, [own]);
    });
  }

  private remove(caller: string | undefined, own: Waiting): void {
    const waiting = this.waiting.get(caller)?.filter((each) => each !== own) ?? [];
    if (waiting.length > 0) this.waiting.set(caller, waiting);
    else this.waiting.delete(caller);
  }

  /** Whether somebody was given a turn. */
  private serveNext(): boolean {
    if (this.held.size >= this.size) return false;
    const chosen = this.next();
    if (!chosen) return false;
    const [caller, waiting] = chosen;
    const first = waiting.shift();
    // Behind the others who have as few.
    this.waiting.delete(caller);
    if (waiting.length > 0) this.waiting.set(caller, waiting);
    if (!first) return true;
    this.held.add(first.turn);
    first.given();
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
