import type { DataSource, QueryRunner } from 'typeorm';
import type { Requester } from '../../../core/query/plan.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { AcquireDeadlines } from '../../../execution/connection/acquire-timeout.js';
import { ConnectionLock } from '../../../execution/connection/connection-lock.js';
import { CommittedWrites } from './committed-writes.js';
import { SqliteConnection } from './sqlite-connection.js';
import { ConnectionErrors, DatabaseFailures } from './database-failures.js';
import { DriverQueries } from './driver-queries.js';
import { JoinedTransactions, attemptTransaction } from './transaction.js';
import { PoolQueues } from './pool-queue.js';
import { withPooledConnection, poolOf } from './postgres-pool.js';
import type { PoolRules } from './postgres-pool.js';
import { QueryRunnerPool } from './query-runner-pool.js';
import type { PooledRunner, SingleUseRunner } from './query-runner-pool.js';
import { RetryBudget } from '../../../execution/connection/retry-budget.js';
import { CancellableReads, ignoreClosedClient } from '../../../execution/connection/running-reads.js';
import type { ReadFrom, Reading } from '../../../execution/connection/running-reads.js';
import { sessionIsFit } from './session.js';
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

/** Called once a statement has written, with the query runner that has run it, if any. */
export type Written = (records: Records, runner: QueryRunner | undefined) => void;

function mapWritten(
  written: MaybePromise<Records>,
  { runner }: { readonly runner?: QueryRunner },
  tell: Written | undefined,
): MaybePromise<Records> {
  if (!tell) return written;
  return mapMaybe(written, (records) => {
    tell(records, runner);
    return records;
  });
}

const CONNECTION_LOCKS = new WeakMap<DataSource, ConnectionLock>();

const NOT_TOLD = 'A write is committed, and what is told of it has failed';

const AFTER_COMMIT = 'A write is committed, and afterTransactionCommit of a subscriber has failed';

/**
 * Acquires connections of a data source and releases them: one for related reads outside of a transaction, one for each
 * transaction. It uses TypeORM's query runner, so that its logging, subscribers and replicas work.
 *
 * An acquisition takes at most `acquireTimeout` milliseconds, and an error never leaks a connection.
 */
export class ConnectionManager {
  private readonly lock: ConnectionLock;
  private readonly deadlines: AcquireDeadlines;
  private readonly direct: DriverQueries;
  readonly failures: DatabaseFailures;
  private readonly errors: ConnectionErrors;
  private readonly queues: PoolQueues;
  private readonly runnerPool: QueryRunnerPool;
  private readonly poolRules: PoolRules;
  private readonly transactions: TransactionParts;
  /** The transactions of the application in which operations run. */
  readonly joined: JoinedTransactions;
  readonly committed: CommittedWrites;

  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
    private readonly limits: ConnectionSettings,
  ) {
    const reads = new CancellableReads(dialect, limits.statementTimeout);
    this.failures = new DatabaseFailures(dialect);
    this.deadlines = new AcquireDeadlines(limits.acquireTimeout);
    this.errors = new ConnectionErrors(dataSource);
    const { errors, deadlines } = this;
    const queues = new PoolQueues(dataSource, { fairShare: limits.fairShare, deadlines });
    this.queues = queues;
    this.poolRules = { deadlines, reads, isBroken: this.failures.isConnectionLost };
    const sqlite = SqliteConnection.of(dataSource);
    this.runnerPool = new QueryRunnerPool({ dataSource, dialect, errors, queues, reads, sqlite, deadlines });
    this.direct = new DriverQueries(dataSource, { named: () => this.failures.keepsPrepared, sqlite });
    // One lock for each data source: two prefixes may share its connection.
    const lock = CONNECTION_LOCKS.get(dataSource) ?? new ConnectionLock(dialect.oneConnection);
    CONNECTION_LOCKS.set(dataSource, lock);
    this.lock = lock;
    const { failures } = this;
    this.transactions = { dataSource, dialect, sqlite, failures, patience: limits.acquireTimeout };
    this.joined = new JoinedTransactions(this.transactions, failures);
    this.committed = new CommittedWrites({
      openTransaction: dialect.openTransaction,
      isInTransaction: () => sqlite?.isInTransaction ?? false,
      outside: (work) => {
        lock.runOutside(work);
      },
      reportError: (error) => limits.reportError?.(error, { subject: NOT_TOLD, requester: undefined }),
    });
  }

  /** The driver's pool, or undefined if subscribers listen to queries: only query runners notify them. */
  private poolFor(from: ReadFrom): ReturnType<typeof poolOf> {
    this.errors.attach();
    return this.joined.current || this.direct.isWatched() ? undefined : poolOf(this.dataSource, from);
  }

  /** Runs a statement on an acquired query runner. */
  async records(runner: QueryRunner, statement: Statement): Promise<Records> {
    return this.direct.records(runner, statement);
  }

  /**
   * Runs one reading statement: synchronously if the database has a single connection that no transaction holds, and a
   * synchronous driver.
   */
  read(statement: Statement, from: ReadFrom, requester?: Requester): MaybePromise<Records> {
    return (
      this.readSync(statement) ??
      this.readPooled({ from, requester }, ({ runner, connection }) =>
        this.direct.recordsOf(connection, statement, runner),
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
    const read = ({ runner, connection }: SingleUseRunner): MaybePromise<Records | undefined> =>
      requester?.isAborted() === true ? undefined : this.direct.recordsOf(connection, statement, runner);
    return this.readPooled({ from: 'replica', requester }, read).catch(ignoreClosedClient);
  }

  /**
   * Reads over a connection of the driver's pool if there is one. A conflict or a lost prepared statement is retried on
   * a query runner.
   */
  private readPooled<Result>(
    reading: Reading,
    work: (acquired: SingleUseRunner) => MaybePromise<Result>,
  ): Promise<Result> {
    const general = (): Promise<Result> =>
      this.readingOver(reading, async (acquired) => work(acquired), this.direct.isWatched());
    const pool = this.poolFor(reading.from);
    if (!pool) return general();
    const use = (connection: unknown): MaybePromise<Result> => work({ connection });
    return this.queues
      .withPermit(
        reading,
        (permit) => withPooledConnection(pool, { use, permit, reading }, this.poolRules),
        pool,
      )
      .catch((error: unknown) => {
        if (this.failures.isRetryable(error)) return general();
        throw this.failures.ofRead(error, reading);
      });
  }

  /** Undefined if the connection is busy or the driver asynchronous, and if the error can be retried. */
  private readSync(statement: Statement): Records | undefined {
    const acquired = this.lock.isFree ? this.direct.trySync() : undefined;
    if (!acquired) return undefined;
    try {
      return this.direct.recordsOf(acquired.connection, statement, acquired.runner) as Records;
    } catch (error) {
      if (this.failures.isRetryable(error)) return undefined;
      throw this.failures.ofStatement(error);
    }
  }

  /** Runs several reading statements on one server, so that a replica does not lag differently between them. */
  reading<Result>(
    from: ReadFrom,
    work: (runner: QueryRunner) => Promise<Result>,
    requester?: Requester,
  ): Promise<Result> {
    return this.readingOver({ from, requester }, ({ runner }) => work(runner));
  }

  /** As `reading` on a replica; undefined if the client has disconnected. */
  readingUnlessAborted<Result>(
    work: (runner: QueryRunner) => Promise<Result>,
    requester: Requester | undefined,
  ): Promise<Result | undefined> {
    const wanted = ({ runner }: PooledRunner): Promise<Result | undefined> =>
      requester?.isAborted() === true ? Promise.resolve(undefined) : work(runner);
    return this.readingOver({ from: 'replica', requester }, wanted).catch(ignoreClosedClient);
  }

  private async readingOver<Result>(
    reading: Reading,
    use: (acquired: PooledRunner) => Promise<Result>,
    runsApplicationCode = true,
  ): Promise<Result> {
    const joined = this.joined.current;
    const read = (): Promise<Result> =>
      joined
        ? this.joined.read(joined, use)
        : this.runnerPool.acquire(reading, { use, isCancellable: true, runsApplicationCode });
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
    written?: Written,
  ): MaybePromise<Records | undefined> {
    const acquired = this.lock.isFree ? this.direct.trySync() : undefined;
    if (!acquired) return this.writeLater(statement, { from: 'primary', requester }, written);
    try {
      return mapWritten(
        this.direct.recordsOf(acquired.connection, statement, acquired.runner),
        acquired,
        written,
      );
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
    written?: Written,
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

  private writeWaiting(statement: Statement, reading: Reading, written?: Written): Promise<Records> {
    const joined = this.joined.current;
    if (joined)
      return this.joined.transact(joined, async (runner) =>
        mapWritten(await this.records(runner, statement), { runner }, written),
      );
    const pool = this.poolFor('primary');
    if (pool) {
      const use = (connection: unknown): MaybePromise<Records> =>
        mapWritten(this.direct.recordsOf(connection, statement), {}, written);
      return this.queues.withPermit(
        reading,
        (permit) => withPooledConnection(pool, { use, permit, reading: undefined }, this.poolRules),
        pool,
      );
    }
    const use = async ({ runner, connection }: PooledRunner): Promise<Records> =>
      mapWritten(this.direct.recordsOf(connection, statement, runner), { runner }, written);
    const runsApplicationCode = this.direct.isWatched();
    return this.lock.runExclusive(
      () => this.runnerPool.acquire(reading, { use, isCancellable: false, runsApplicationCode }),
      this.deadlines,
    );
  }

  /** Whether the sessions need no statements before a write. */
  needsNoPreparation(): Promise<boolean> {
    const isFit = ({ runner }: PooledRunner): Promise<boolean> =>
      sessionIsFit(runner, this.dataSource, this.dialect);
    return this.readingOver({ from: 'primary', requester: undefined }, isFit, this.direct.isWatched());
  }

  /** Runs `work`, which writes `size` rows, in a transaction, which is rolled back if it throws. */
  async transact<Result>(
    work: (runner: QueryRunner) => Promise<Result>,
    requester?: Requester,
    size?: number,
  ): Promise<Result> {
    const joined = this.joined.current;
    if (joined) return this.joined.transact(joined, work);
    const reportError = (error: unknown): void => {
      this.limits.reportError?.(error, { subject: AFTER_COMMIT, requester });
    };
    const use = (acquired: PooledRunner): Promise<Attempt<Result>> =>
      attemptTransaction(acquired, work, { ...this.transactions, reportError });
    const once = (): Promise<Attempt<Result>> =>
      this.runnerPool.acquire(
        { from: 'primary', requester },
        { use, isCancellable: false, runsApplicationCode: true },
      );
    try {
      // A conflict or deadlock is retried, because no response has been sent yet. The lock is released between
      // attempts.
      for (const attempts = new RetryBudget(this.limits.acquireTimeout, size); ;) {
        const attempted = await this.lock.acquireExclusive(once, this.deadlines);
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
}
