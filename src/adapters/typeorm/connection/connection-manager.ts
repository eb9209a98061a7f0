import { QueryFailedError } from 'typeorm';
import type { DataSource, QueryRunner } from 'typeorm';
import { ClientClosedRequest, DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import type { Requester } from '../../../core/contracts/requester.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { DatabaseError, Dialect } from '../../../sql/dialects/dialect.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { RetryBudget } from './retry-budget.js';
import { ConnectionErrors } from './connection-errors.js';
import { ConnectionLock } from './connection-lock.js';
import type { ConnectionLimits } from './connection-limits.js';
import { DriverQueries } from './driver-queries.js';
import { poolConnector, poolOf } from './pool.js';
import type { PoolRules } from './pool.js';
import { PoolQueues } from './pool-queues.js';
import { QueryRunnerPool } from './query-runner-pool.js';
import type { PooledRunner, SingleUseRunner } from './query-runner-pool.js';
import type { RunningRead } from './running-reads.js';
import { CancellableReads, isUnwanted, unwanted } from './cancellable-reads.js';
import type { ReadFrom, Reading } from './cancellable-reads.js';
import { readError } from '../write/constraint-errors.js';
import { prepareSession, sessionIsFit } from './session.js';
import { SqliteConnection } from './sqlite-connection.js';
import { SqliteTransaction } from './sqlite-transaction.js';
import { PooledTransaction } from './transaction.js';
import type { Transaction } from './transaction.js';
import { AcquireDeadlines } from './acquire-timeout.js';

const CONNECTION_LOCKS = new WeakMap<DataSource, ConnectionLock>();

/** What became of a transaction that may be begun anew where the database has given it up. */
type Attempt<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'undone'; readonly error: unknown; readonly begun: boolean };

/**
 * Takes connections from a data source and gives them back: one for what belongs together outside of transactions, one
 * a transaction. Goes through TypeORM's query runner, so that its logging, its subscribers and its replicas stay.
 *
 * Nobody waits for a connection longer than `acquireTimeout` milliseconds, and what fails leaves none behind.
 */
export class ConnectionManager {
  private readonly gate: ConnectionLock;
  private readonly waiting: AcquireDeadlines;
  private readonly direct: DriverQueries;
  private readonly errors: ConnectionErrors;
  private readonly sqlite: SqliteConnection | undefined;
  private readonly reads: CancellableReads;
  private readonly lender: QueryRunnerPool;
  /** Whether the server's sessions are this process's alone, so that they keep what was prepared. */
  private named = true;

  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
    private readonly limits: ConnectionLimits,
  ) {
    this.reads = new CancellableReads(dialect, limits.statementTimeout);
    this.waiting = new AcquireDeadlines(limits.acquireTimeout);
    this.errors = new ConnectionErrors(dataSource);
    const { errors, reads, waiting } = this;
    const queues = new PoolQueues(dataSource, { fairShare: limits.fairShare, waiting });
    this.sqlite = SqliteConnection.of(dataSource);
    const { sqlite } = this;
    this.lender = new QueryRunnerPool({ dataSource, dialect, errors, queues, reads, sqlite, waiting });
    this.direct = new DriverQueries(dataSource, { named: () => this.named, sqlite: this.sqlite });
    // One gate a data source: two prefixes share its connection.
    const gate = CONNECTION_LOCKS.get(dataSource) ?? new ConnectionLock(dialect.oneConnection);
    CONNECTION_LOCKS.set(dataSource, gate);
    this.gate = gate;
  }

  /** Who subscribes to queries hears of those of query runners alone. */
  private poolFor(from: ReadFrom): ReturnType<typeof poolOf> {
    this.errors.hear();
    return this.direct.isWatched() ? undefined : poolOf(this.dataSource, from);
  }

  private get poolRules(): PoolRules {
    return { waiting: this.waiting, isBroken: this.isBroken };
  }

  private readonly isBroken = (error: unknown): boolean => this.dialect.errorFor(error)?.kind === 'away';

  /** On a runner that was lent. */
  async records(runner: QueryRunner, statement: Statement): Promise<Records> {
    return this.direct.records(runner, statement);
  }

  /** One statement that reads: at once, where the database has one connection, which answers at once and which nobody holds. */
  read(statement: Statement, from: ReadFrom, requester?: Requester): MaybePromise<Records> {
    return (
      this.readSync(statement) ??
      this.readExclusively({ from, requester }, ({ runner, connection }) =>
        this.direct.recordsOf(connection, statement, runner),
      )
    );
  }

  /** As `read`, unless nobody wants it any more when there is a connection, or while it runs: who has waited for one may have gone meanwhile. */
  readIfWanted(statement: Statement, requester: Requester | undefined): MaybePromise<Records | undefined> {
    if (this.gate.isFree && requester?.isAborted() === true) return undefined;
    const atOnce = this.readSync(statement);
    if (atOnce) return atOnce;
    const read = ({ runner, connection }: SingleUseRunner): MaybePromise<Records | undefined> =>
      requester?.isAborted() === true ? undefined : this.direct.recordsOf(connection, statement, runner);
    return this.readExclusively({ from: 'replica', requester }, read).catch(unwanted);
  }

  /** Over a connection of the driver's pool, where it has one; what the database has given up, or knows no more, is tried again in the general way. */
  private readExclusively<Result>(
    reading: Reading,
    work: (lent: SingleUseRunner) => MaybePromise<Result>,
  ): Promise<Result> {
    const general = (): Promise<Result> => this.readingOver(reading, async (lent) => work(lent));
    const pool = this.poolFor(reading.from);
    if (!pool) return general();
    const watch = (connection: unknown): RunningRead | undefined => this.reads.watch(connection, reading);
    return this.lender
      .inTurn(reading, (turn) =>
        poolConnector(pool, async (connection) => work({ connection }), { ...this.poolRules, watch, turn }),
      )
      .catch((error: unknown) => {
        if (this.isWorthAnother(error)) return general();
        throw this.failureOf(error, reading);
      });
  }

  /** Undefined where it has to be waited for, and where it may come about by another attempt. */
  private readSync(statement: Statement): Records | undefined {
    const lent = this.gate.isFree ? this.direct.trySync() : undefined;
    if (!lent) return undefined;
    try {
      return this.direct.recordsOf(lent.connection, statement, lent.runner) as Records;
    } catch (error) {
      if (this.isWorthAnother(error)) return undefined;
      throw this.reported(readError(error, this.dialect));
    }
  }

  /** Several statements that read, of one server, and so of one state of its rows as far as a replica has come. */
  reading<Result>(
    from: ReadFrom,
    work: (runner: QueryRunner) => Promise<Result>,
    requester?: Requester,
  ): Promise<Result> {
    return this.readingOver({ from, requester }, ({ runner }) => work(runner));
  }

  /** As `reading` of a replica, with the exception of `readWanted`. */
  readingIfWanted<Result>(
    work: (runner: QueryRunner) => Promise<Result>,
    requester: Requester | undefined,
  ): Promise<Result | undefined> {
    const wanted = ({ runner }: PooledRunner): Promise<Result | undefined> =>
      requester?.isAborted() === true ? Promise.resolve(undefined) : work(runner);
    return this.readingOver({ from: 'replica', requester }, wanted).catch(unwanted);
  }

  private async readingOver<Result>(
    reading: Reading,
    work: (lent: PooledRunner) => Promise<Result>,
  ): Promise<Result> {
    for (const attempts = new RetryBudget(this.limits.acquireTimeout); ;) {
      try {
        return await this.gate.runShared(() => this.lender.acquire(reading, work, true), this.waiting);
      } catch (error) {
        if (!(await attempts.retry(this.kindOf(error)))) throw this.failureOf(error, reading);
      }
    }
  }

  private failureOf(error: unknown, reading: Reading): unknown {
    const failure = this.reported(readError(error, this.dialect));
    return failure instanceof DatabaseUnavailable && isUnwanted(reading)
      ? new ClientClosedRequest({ cause: error })
      : failure;
  }

  /**
   * One statement that writes, and is all or nothing by itself. Undefined where the database does not take it: nothing has
   * been written then.
   */
  write(statement: Statement, requester: Requester | undefined): MaybePromise<Records | undefined> {
    const lent = this.gate.isFree ? this.direct.trySync() : undefined;
    if (!lent) return this.writeLater(statement, { from: 'primary', requester });
    try {
      return this.direct.recordsOf(lent.connection, statement, lent.runner);
    } catch (error) {
      if (this.kindOf(error) === 'locked') return this.writeLater(statement, { from: 'primary', requester });
      this.assertKnown(error);
      return undefined;
    }
  }

  private async writeLater(statement: Statement, asked: Reading): Promise<Records | undefined> {
    for (const attempts = new RetryBudget(this.limits.acquireTimeout); ;) {
      try {
        return await this.writeWaiting(statement, asked);
      } catch (error) {
        if (this.kindOf(error) === 'locked' && (await attempts.retry('locked'))) continue;
        this.assertKnown(error);
        return undefined;
      }
    }
  }

  private async writeWaiting(statement: Statement, asked: Reading): Promise<Records> {
    const pool = this.poolFor('primary');
    if (pool)
      return this.lender.inTurn(asked, (turn) =>
        poolConnector(pool, async (connection) => this.direct.recordsOf(connection, statement), {
          ...this.poolRules,
          turn,
        }),
      );
    return this.gate.runExclusive(
      () =>
        this.lender.acquire(asked, async ({ runner, connection }) =>
          this.direct.recordsOf(connection, statement, runner),
        ),
      this.waiting,
    );
  }

  /** What the database has refused, it has not written. Throws what leaves that open. */
  private assertKnown(error: unknown): void {
    const kind = this.dialect.errorFor(error)?.kind;
    // Nobody can say what became of it, or another attempt would end alike.
    if (
      kind === 'away' ||
      kind === 'timeout' ||
      kind === 'full' ||
      kind === 'locked' ||
      isRestException(error)
    )
      throw this.reported(error);
    if (!(error instanceof QueryFailedError)) throw error;
    if (kind === 'unprepared') this.named = false;
  }

  /** Whether sessions are as a write needs them. */
  needsNoSession(): Promise<boolean> {
    return this.reading('primary', (runner) => sessionIsFit(runner, this.dataSource, this.dialect));
  }

  /** All or nothing: what `work` throws rolls back everything that it did. */
  async transact<Result>(
    work: (runner: QueryRunner) => Promise<Result>,
    requester?: Requester,
  ): Promise<Result> {
    const once = (): Promise<Attempt<Result>> =>
      this.lender.acquire({ from: 'primary', requester }, (lent) => this.transactOnce(lent, work));
    try {
      // What the database has given up for another's sake is begun anew: nothing has been answered yet. Others may go on between attempts.
      for (const attempts = new RetryBudget(this.limits.acquireTimeout); ;) {
        const attempted = await this.gate.acquireExclusive(once, this.waiting);
        if (attempted.kind === 'done') return attempted.result;
        const kind = this.kindOf(attempted.error);
        // The application's hooks have run: what is locked then may be another file of theirs, and they run a few times at most.
        if (!(await attempts.retry(kind === 'locked' && attempted.begun ? 'conflict' : kind)))
          throw attempted.error;
      }
    } catch (error) {
      throw this.reported(error);
    }
  }

  /** Of a statement that the server's session no longer knows, the next attempt is not prepared. */
  private kindOf(error: unknown): DatabaseError['kind'] | undefined {
    const kind = isRestException(error) ? undefined : this.dialect.errorFor(error)?.kind;
    if (kind === 'unprepared') this.named = false;
    return kind;
  }

  private isWorthAnother(error: unknown): boolean {
    const kind = this.kindOf(error);
    return kind === 'conflict' || kind === 'unprepared' || kind === 'locked';
  }

  private transactionOn(runner: QueryRunner): Transaction {
    return this.sqlite
      ? new SqliteTransaction(this.sqlite, runner, this.limits.acquireTimeout)
      : new PooledTransaction(runner);
  }

  private async transactOnce<Result>(
    lent: PooledRunner,
    work: (runner: QueryRunner) => Promise<Result>,
  ): Promise<Attempt<Result>> {
    const { runner } = lent;
    const transaction = this.transactionOn(runner);
    let restoring: readonly string[] = [];
    let begun = false;
    try {
      await transaction.begin();
      begun = true;
      restoring = await prepareSession(runner, this.dataSource, this.dialect);
      const result = await work(runner);
      await transaction.commit();
      return { kind: 'done', result };
    } catch (error) {
      // Behind a COMMIT everything is written, and a second attempt would write it twice.
      if (!transaction.isOpen) throw error;
      lent.broken ||= !(await transaction.undo());
      lent.broken ||= this.dialect.errorFor(error)?.kind === 'away';
      return { kind: 'undone', error, begun };
    } finally {
      await this.restore(lent, restoring);
    }
  }

  /** A session that cannot be taken back to what it was goes to nobody else. */
  private async restore(lent: PooledRunner, statements: readonly string[]): Promise<void> {
    try {
      if (!lent.broken) for (const statement of statements) await lent.runner.query(statement);
    } catch {
      lent.broken = true;
    }
  }

  /** A database that is away is an error of contract 21.1 wherever it shows; all other errors go on as they are. */
  reported(error: unknown): unknown {
    return !isRestException(error) && isTemporary(this.dialect.errorFor(error))
      ? new DatabaseUnavailable({ cause: error })
      : error;
  }
}
