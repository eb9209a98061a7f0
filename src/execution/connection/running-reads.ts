import type { Requester } from '../../core/query/plan.js';
import { ClientClosedRequest } from '../../core/errors/http-exceptions.js';
import { NO_POSITION, UnorderedSet } from '../../core/unordered-set.js';
import type { UnorderedSetMember } from '../../core/unordered-set.js';
import type { Dialect, StatementCanceller } from '../../sql/dialects/dialect.js';
import type { ReadFrom } from '../port.js';

/** The interval of the checks in milliseconds. */
const CHECK_INTERVAL = 50;
/** The minimum age in milliseconds: a younger read usually ends before a cancel would. */
const MIN_AGE = 100;
/** The timeout of a cancel in milliseconds, after which the connection is closed. */
const CANCEL_TIMEOUT = 2000;
/** The maximum number of concurrent cancels. */
const MAX_CONCURRENT_CANCELS = 2;

export interface ReadRules {
  readonly canceller: StatementCanceller;
  /** Removes a connection from its pool. */
  readonly discard: (connection: unknown) => void;
  /** How long reading over one connection may take, in milliseconds; undefined for no limit. */
  readonly limit: number | undefined;
}

/**
 * The running reads of the whole process on database servers. One timer cancels those whose client has disconnected and
 * those beyond the time limit at the server. A read that ends before the next check costs one entry of an array.
 */
class RunningReads {
  private readonly running = new UnorderedSet<RunningRead>();
  private timer: NodeJS.Timeout | undefined;
  private readonly queue: RunningRead[] = [];
  private cancelling = 0;

  add(read: RunningRead): void {
    this.running.add(read);
    // The timer keeps running for one interval after the last read, because most reads end before the first check.
    this.timer ??= setInterval(() => {
      this.check();
    }, CHECK_INTERVAL).unref();
  }

  remove(read: RunningRead): void {
    this.running.delete(read);
  }

  private check(): void {
    if (this.running.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const now = performance.now();
    this.running.forEach((read) => {
      if (!read.isToBeCancelled(now)) return;
      this.running.delete(read);
      this.queue.push(read);
    });
    this.cancelNext();
  }

  private cancelNext(): void {
    while (this.cancelling < MAX_CONCURRENT_CANCELS) {
      const read = this.queue.shift();
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

/** The reads of one request over one connection: a single statement, or the few of one page. */
export class RunningRead implements UnorderedSetMember {
  position = NO_POSITION;
  private readonly startedAt = performance.now();
  /** Once a cancel has been sent: whether the connection can be reused. */
  private cancelled: Promise<boolean> | undefined;
  private settle: (() => void) | undefined;
  private hasEnded = false;

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
    const age = now - this.startedAt;
    return age >= MIN_AGE && (age >= (this.rules.limit ?? Infinity) || this.requester?.isAborted() === true);
  }

  /**
   * Ends the read. Undefined if the connection can be released immediately; otherwise resolves to whether it can be
   * reused, after the cancel has completed: until then the cancel could hit the next statement.
   */
  end(): Promise<boolean> | undefined {
    this.hasEnded = true;
    if (!this.cancelled) READS.remove(this);
    this.settle?.();
    return this.cancelled;
  }

  /** Resolves when the cancel has completed. Does nothing if the read has ended meanwhile. */
  async cancel(): Promise<void> {
    if (!this.hasEnded) await (this.cancelled = this.cancelNow());
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
      }, CANCEL_TIMEOUT);
    });
    // A cancel that could not be sent is treated as one without a response: closing the connection immediately would
    // leave the statement running on the server.
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
    if (!this.hasEnded) {
      rules.canceller.closeSocket(connection);
      await settled;
    }
    rules.discard(connection);
    return false;
  }
}

/** The client that a read belongs to, and the server that it uses. */
export interface Reading {
  readonly from: ReadFrom;
  readonly requester: Requester | undefined;
}

/**
 * Reads on the connections of one data source that the database can cancel. SQLite cannot: it runs statements
 * synchronously.
 */
export class CancellableReads {
  private readonly rules: ReadRules | undefined;

  /** @param limit the statement timeout in milliseconds; undefined for no timeout. */
  constructor(dialect: Dialect, limit: number | undefined) {
    const { canceller } = dialect;
    const discard = (connection: unknown): void => {
      dialect.discard(connection);
    };
    this.rules = canceller && { canceller, discard, limit };
  }

  /**
   * Registers a read, which can be cancelled until its `end` is called. Undefined if the database cannot cancel
   * statements.
   */
  watch(connection: unknown, { from, requester }: Reading): RunningRead | undefined {
    return (
      this.rules &&
      RunningRead.begin(connection, {
        rules: this.rules,
        requester: from === 'replica' ? requester : undefined,
      })
    );
  }
}

/**
 * True if the read's client has disconnected. A read that belongs to a write uses the primary, and completes regardless
 * of the client.
 */
export function isClientClosed({ from, requester }: Reading): boolean {
  return from === 'replica' && requester?.isAborted() === true;
}

/** Maps the cancellation of an aborted request to undefined, and rethrows every other error. */
export function ignoreClosedClient(error: unknown): undefined {
  if (error instanceof ClientClosedRequest) return undefined;
  throw error;
}
