import type { Requester } from '../../../core/contracts/requester.js';
import type { StatementCanceller } from '../../../sql/dialects/statement-canceller.js';

/** Milliseconds between two looks at what runs. */
const LOOK_EVERY = 50;
/** What has run for less ends sooner by itself than by a cancel. */
const LEAVE_ALONE = 100;
/** Milliseconds for a cancel to be dealt with; without an answer by then the connection is closed. */
const ANSWER_WITHIN = 2000;
/** Cancels that are under way at once. */
const AT_ONCE = 2;

export interface ReadRules {
  readonly canceller: StatementCanceller;
  /** Takes a connection out of its pool. */
  readonly discard: (connection: unknown) => void;
  /** Milliseconds that reading over one connection may take; undefined for any time. */
  readonly limit: number | undefined;
}

/**
 * Reads of the whole process that are under way over a connection of a server. One timer looks at them: those whose client has
 * gone, and those that take too long, are cancelled at the server. What is over before it looks costs an entry in a set.
 */
class RunningReads {
  private readonly running = new Set<RunningRead>();
  private timer: NodeJS.Timeout | undefined;
  private readonly wanted: RunningRead[] = [];
  private cancelling = 0;

  add(read: RunningRead): void {
    this.running.add(read);
    // It goes on for a while behind the last one: most reads are over before it looks once.
    this.timer ??= setInterval(() => {
      this.look();
    }, LOOK_EVERY).unref();
  }

  remove(read: RunningRead): void {
    this.running.delete(read);
  }

  private look(): void {
    if (this.running.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const now = performance.now();
    for (const read of this.running) {
      if (!read.isToBeCancelled(now)) continue;
      this.running.delete(read);
      this.wanted.push(read);
    }
    this.cancelNext();
  }

  private cancelNext(): void {
    while (this.cancelling < AT_ONCE) {
      const read = this.wanted.shift();
      if (!read) return;
      this.cancelling++;
      void read.cancel().finally(() => {
        this.cancelling--;
        this.cancelNext();
      });
    }
  }
}

const READS = new RunningReads();

/** What one request reads over one connection: a statement, or a few of one page. */
export class RunningRead {
  private readonly begun = performance.now();
  /** Whether the connection is good for others, once a cancel has been sent. */
  private cancelled: Promise<boolean> | undefined;
  private settle: (() => void) | undefined;
  private over = false;

  private constructor(
    private readonly connection: unknown,
    private readonly rules: ReadRules,
    private readonly requester: Requester | undefined,
  ) {}

  static begin(
    connection: unknown,
    { rules, requester }: { readonly rules: ReadRules; readonly requester: Requester | undefined },
  ): RunningRead {
    const read = new RunningRead(connection, rules, requester);
    READS.add(read);
    return read;
  }

  isToBeCancelled(now: number): boolean {
    const taken = now - this.begun;
    return (
      taken >= LEAVE_ALONE &&
      (taken >= (this.rules.limit ?? Infinity) || this.requester?.isAborted() === true)
    );
  }

  /**
   * When nothing of it runs any more. Undefined where the connection may go back at once; else whether it may, when the cancel has
   * been dealt with: until then it could hit what others run.
   */
  end(): Promise<boolean> | undefined {
    this.over = true;
    if (!this.cancelled) READS.remove(this);
    this.settle?.();
    return this.cancelled;
  }

  /** Resolves when all is dealt with. Does nothing for one that has ended while it waited for its turn. */
  async cancel(): Promise<void> {
    if (!this.over) await (this.cancelled = this.cancelNow());
  }

  private async cancelNow(): Promise<boolean> {
    const { connection, rules } = this;
    const settled = new Promise<void>((resolve) => {
      this.settle = resolve;
    });
    const waiting = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => {
        resolve(false);
      }, ANSWER_WITHIN);
    });
    // One that could not be sent is as one without an answer: closing at once would leave the server with ever more statements that run.
    const clean = Promise.all([rules.canceller.cancel(connection, waiting.signal), settled])
      .then(() => rules.canceller.runEmpty(connection))
      .then(
        () => true,
        () => late,
      );
    const good = await Promise.race([clean, late]);
    clearTimeout(timer);
    if (good) return true;
    waiting.abort();
    if (!this.over) {
      rules.canceller.breakOff(connection);
      await settled;
    }
    rules.discard(connection);
    return false;
  }
}
