import type { Requester } from '../../core/query/plan.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import type { Records, Statement } from '../../sql/statement.js';
import type { Acquired, ConnectionPort, DriverPool, ReadFrom, Session, SingleUse } from '../port.js';
import { AcquireDeadlines } from './acquire-timeout.js';
import { CommittedWrites } from './committed-writes.js';
import { ConnectionLock } from './connection-lock.js';
import { ConnectionPool } from './connection-pool.js';
import { DatabaseFailures } from './database-failures.js';
import { RetryBudget } from './retry-budget.js';
import { CancellableReads, ignoreClosedClient } from './running-reads.js';
import type { Reading } from './running-reads.js';
import { sessionIsFit } from './session.js';
import { JoinedTransactions, attemptTransaction } from './transaction.js';
import type { Attempt, TransactionParts } from './transaction.js';

/** Limits on the use of connections. Times are in milliseconds. */
interface ConnectionLimits {
  /** How long a request waits for a connection. */
  readonly acquireTimeout: number;
  /** How long the reads of one request over one connection may take; undefined for no limit. */
  readonly statementTimeout: number | undefined;
  /** Whether one caller has to leave at least one connection of the pool to others. */
  readonly fairShare: boolean;
}

/** Reports an error that changes no response. `subject` is the text of the log. */
export type ReportError = (
  error: unknown,
  about: { subject: string; requester: Requester | undefined },
) => void;

export interface ConnectionSettings extends ConnectionLimits {
  readonly reportError?: ReportError | undefined;
}

/** Called once a statement has written, with the session that has run it, if any. */
export type Written<S extends Session> = (records: Records, session: S | undefined) => void;

function mapWritten<S extends Session>(
  written: MaybePromise<Records>,
  session: S | undefined,
  tell: Written<S> | undefined,
): MaybePromise<Records> {
  if (!tell) return written;
  return mapMaybe(written, (records) => {
    tell(records, session);
    return records;
  });
}

/** One lock for each database: two prefixes may share its connection. */
const LOCKS = new WeakMap<object, ConnectionLock>();

const NOT_TOLD = 'A write is committed, and what is told of it has failed';

const AFTER_COMMIT = 'A write is committed, and afterTransactionCommit of a subscriber has failed';

/**
 * Acquires connections of a database and releases them: one for related reads outside of a transaction, one for each
 * transaction. They come from a port, so that the logging, subscribers and replicas of an ORM work.
 *
 * An acquisition takes at most `acquireTimeout` milliseconds, and an error never leaks a connection.
 */
export class ConnectionManager<S extends Session> {
  private readonly lock: ConnectionLock;
  private readonly deadlines: AcquireDeadlines;
  readonly failures: DatabaseFailures;
  private readonly pool: ConnectionPool<S>;
  private readonly transactions: TransactionParts<S>;
  /** The transactions of the application in which operations run. */
  readonly joined: JoinedTransactions<S>;
  readonly committed: CommittedWrites<S>;
  /** The end of the last turn of those that are waited for. */
  private lastTurn: Promise<void> = Promise.resolve();

  constructor(
    private readonly port: ConnectionPort<S>,
    private readonly dialect: Dialect,
    private readonly limits: ConnectionSettings,
  ) {
    const { fairShare, statementTimeout, acquireTimeout } = limits;
    const failures = new DatabaseFailures(dialect, port);
    const deadlines = new AcquireDeadlines(acquireTimeout);
    this.failures = failures;
    this.deadlines = deadlines;
    const reads = new CancellableReads(dialect, statementTimeout);
    const isBroken = failures.isConnectionLost;
    this.pool = new ConnectionPool({ port, dialect, fairShare, deadlines, reads, isBroken });
    const lock = LOCKS.get(port.database) ?? new ConnectionLock(dialect.oneConnection);
    LOCKS.set(port.database, lock);
    this.lock = lock;
    this.transactions = { port, dialect, failures };
    this.joined = new JoinedTransactions(this.transactions);
    this.committed = new CommittedWrites(port, {
      openTransaction: dialect.openTransaction,
      outside: (work) => {
        lock.runOutside(() => {
          this.joined.runOutside(work);
        });
      },
      reportError: (error) => limits.reportError?.(error, { subject: NOT_TOLD, requester: undefined }),
    });
  }

  /** The driver's pool, or undefined if only sessions may run statements now. */
  private poolFor(from: ReadFrom): DriverPool | undefined {
    return this.joined.current ? undefined : this.port.driverPool(from);
  }

  /** Runs a statement of an acquired session. */
  records(session: S, statement: Statement): Promise<Records> {
    return this.port.runInside(session, statement);
  }

  /**
   * Runs one reading statement: synchronously if the database has a single connection that no transaction holds, and a
   * synchronous driver.
   */
  read(statement: Statement, from: ReadFrom, requester?: Requester): MaybePromise<Records> {
    return (
      this.readSync(statement) ??
      this.readPooled({ from, requester }, ({ session, connection }) =>
        this.port.run(connection, statement, session),
      )
    );
  }

  /** As `read`; undefined if the client has disconnected before or during the statement. */
  readUnlessAborted(
    statement: Statement,
    requester: Requester | undefined,
  ): MaybePromise<Records | undefined> {
    if (this.lock.isFree && requester?.isAborted() === true) return undefined;
    const atOnce = this.readSync(statement);
    if (atOnce) return atOnce;
    const read = ({ session, connection }: SingleUse<S>): MaybePromise<Records | undefined> =>
      requester?.isAborted() === true ? undefined : this.port.run(connection, statement, session);
    return this.readPooled({ from: 'replica', requester }, read).catch(ignoreClosedClient);
  }

  /**
   * Reads over a connection of the driver's pool if there is one. A conflict or a lost prepared statement is retried on
   * a session.
   */
  private readPooled<Result>(
    reading: Reading,
    work: (acquired: SingleUse<S>) => MaybePromise<Result>,
  ): Promise<Result> {
    const general = (): Promise<Result> =>
      this.readingOver(reading, async (acquired) => work(acquired), this.port.isWatched());
    const pool = this.poolFor(reading.from);
    if (!pool) return general();
    const use = (connection: unknown): MaybePromise<Result> => work({ connection });
    return this.pool.acquireFrom(reading, { pool, use, isCancellable: true }).catch((error: unknown) => {
      if (this.failures.isRetryable(error)) return general();
      throw this.failures.ofRead(error, reading);
    });
  }

  /** Undefined if the connection is busy or the driver asynchronous, and if the error can be retried. */
  private readSync(statement: Statement): Records | undefined {
    const acquired = this.lock.isFree ? this.port.trySync() : undefined;
    if (!acquired) return undefined;
    try {
      return this.port.run(acquired.connection, statement, acquired.session) as Records;
    } catch (error) {
      if (this.failures.isRetryable(error)) return undefined;
      throw this.failures.ofStatement(error);
    }
  }

  /** Runs several reading statements on one server, so that a replica does not lag differently between them. */
  reading<Result>(
    from: ReadFrom,
    work: (session: S) => Promise<Result>,
    requester?: Requester,
  ): Promise<Result> {
    return this.readingOver({ from, requester }, ({ session }) => work(session));
  }

  /** As `reading` on a replica; undefined if the client has disconnected. */
  readingUnlessAborted<Result>(
    work: (session: S) => Promise<Result>,
    requester: Requester | undefined,
  ): Promise<Result | undefined> {
    const wanted = ({ session }: Acquired<S>): Promise<Result | undefined> =>
      requester?.isAborted() === true ? Promise.resolve(undefined) : work(session);
    return this.readingOver({ from: 'replica', requester }, wanted).catch(ignoreClosedClient);
  }

  private async readingOver<Result>(
    reading: Reading,
    use: (acquired: Acquired<S>) => Promise<Result>,
    runsApplicationCode = true,
  ): Promise<Result> {
    const joined = this.joined.current;
    const read = (): Promise<Result> =>
      joined
        ? this.joined.read(joined, use)
        : this.pool.acquire(reading, { use, isCancellable: true, runsApplicationCode });
    for (const attempts = new RetryBudget(this.limits.acquireTimeout); ;) {
      try {
        return await (joined ? read() : this.lock.runShared(read, this.deadlines));
      } catch (error) {
        if (joined || !(await attempts.retry(this.failures.kindOf(error))))
          throw this.failures.ofRead(error, reading);
      }
    }
  }

  /**
   * Runs one writing statement, which is atomic by itself. Undefined if the database rejects it: nothing has been
   * written then.
   * @throws the error of a duplicate value, with which nothing has been written either.
   */
  write(
    statement: Statement,
    requester: Requester | undefined,
    written?: Written<S>,
  ): MaybePromise<Records | undefined> {
    const acquired = this.lock.isFree ? this.port.trySync() : undefined;
    if (!acquired) return this.writeLater(statement, { from: 'primary', requester }, written);
    const { session, connection } = acquired;
    try {
      return mapWritten(this.port.run(connection, statement, session), session, written);
    } catch (error) {
      if (this.failures.kindOf(error) === 'locked')
        return this.writeLater(statement, { from: 'primary', requester }, written);
      this.failures.assertRejected(error);
      return undefined;
    }
  }

  private async writeLater(
    statement: Statement,
    reading: Reading,
    written?: Written<S>,
  ): Promise<Records | undefined> {
    for (const attempts = new RetryBudget(this.limits.acquireTimeout); ;) {
      try {
        return await this.writeWaiting(statement, reading, written);
      } catch (error) {
        const isLocked = !this.joined.current && this.failures.kindOf(error) === 'locked';
        if (isLocked && (await attempts.retry('locked'))) continue;
        this.failures.assertRejected(error);
        return undefined;
      }
    }
  }

  private writeWaiting(statement: Statement, reading: Reading, written?: Written<S>): Promise<Records> {
    const joined = this.joined.current;
    if (joined)
      return this.joined.transact(joined, async (session) =>
        mapWritten(await this.records(session, statement), session, written),
      );
    const pool = this.poolFor('primary');
    if (pool) {
      const use = (connection: unknown): MaybePromise<Records> =>
        mapWritten(this.port.run(connection, statement), undefined, written);
      return this.pool.acquireFrom(reading, { pool, use, isCancellable: false });
    }
    const use = async ({ session, connection }: Acquired<S>): Promise<Records> =>
      mapWritten(this.port.run(connection, statement, session), session, written);
    const runsApplicationCode = this.port.isWatched();
    return this.lock.runExclusive(
      () => this.pool.acquire(reading, { use, isCancellable: false, runsApplicationCode }),
      this.deadlines,
    );
  }

  /** Whether the sessions need no statements before a write. */
  needsNoPreparation(): Promise<boolean> {
    const isFit = ({ session }: Acquired<S>): Promise<boolean> =>
      sessionIsFit(session, this.port.database, this.dialect);
    return this.readingOver({ from: 'primary', requester: undefined }, isFit, this.port.isWatched());
  }

  /** Runs `work`, which writes `size` rows, in a transaction, which is rolled back if it throws. */
  async transact<Result>(
    work: (session: S) => Promise<Result>,
    requester?: Requester,
    size?: number,
  ): Promise<Result> {
    const joined = this.joined.current;
    if (joined) return this.joined.transact(joined, work);
    const reportError = (error: unknown): void => {
      this.limits.reportError?.(error, { subject: AFTER_COMMIT, requester });
    };
    const use = (acquired: Acquired<S>): Promise<Attempt<Result>> =>
      attemptTransaction(acquired, work, { ...this.transactions, reportError });
    const once = (): Promise<Attempt<Result>> =>
      this.pool.acquire(
        { from: 'primary', requester },
        { use, isCancellable: false, runsApplicationCode: true },
      );
    try {
      // A conflict or deadlock is retried, because no response has been sent yet. The lock is released between
      // attempts.
      for (const attempts = new RetryBudget(this.limits.acquireTimeout, size); ;) {
        const attempt = (): Promise<Attempt<Result>> => {
          attempts.begin();
          return this.lock.acquireExclusive(once, this.deadlines);
        };
        const attempted = await (attempts.takesTurn ? this.inTurn(attempt) : attempt());
        if (attempted.kind === 'done') return attempted.result;
        const kind = this.failures.kindOf(attempted.error);
        // Once the application's hooks have run, the locked file may be another one of theirs: then the number of
        // attempts is limited, as for a conflict.
        if (!(await attempts.retry(kind === 'locked' && attempted.hasBegun ? 'conflict' : kind)))
          throw attempted.error;
      }
    } catch (error) {
      throw this.failures.report(error);
    }
  }

  /** Runs further attempts of bulk writes one after the other; one that has waited as long as for a connection runs beside others. */
  private async inTurn<Result>(attempt: () => Promise<Result>): Promise<Result> {
    const before = this.lastTurn;
    let end = (): void => undefined;
    this.lastTurn = new Promise((resolve) => {
      end = resolve;
    });
    await this.deadlines.withinDeadline(before, this.deadlines.deadline()).catch(() => undefined);
    return attempt().finally(end);
  }
}
