import { isPromise } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import type { Acquired, ConnectionPort, DriverPool, ReadFrom, Session } from '../port.js';
import { connectionFailure } from './database-failures.js';
import { PoolQueue } from './pool-queue.js';
import type { Permit } from './pool-queue.js';
import { withPooledConnection } from './postgres-pool.js';
import type { PoolRules } from './postgres-pool.js';
import type { Reading, RunningRead } from './running-reads.js';

/** What is done with an acquired session. */
export interface SessionUse<S extends Session, Result> {
  readonly use: (acquired: Acquired<S>) => Promise<Result>;
  /** Whether the database may cancel the statements: reads only. */
  readonly isCancellable: boolean;
  /**
   * Whether code of the application may run meanwhile, which may use this package again: its statements then need no
   * permit of their own.
   */
  readonly runsApplicationCode: boolean;
}

/** What is done with an acquired connection of a driver's pool. */
export interface ConnectionUse<Result> {
  readonly pool: DriverPool;
  readonly use: (connection: unknown) => MaybePromise<Result>;
  readonly isCancellable: boolean;
}

export interface ConnectionPoolParts<S extends Session> extends PoolRules {
  readonly port: ConnectionPort<S>;
  readonly dialect: Dialect;
  readonly fairShare: boolean;
}

/** One set of queues for each database: two prefixes may share its pools. */
const QUEUES = new WeakMap<object, Map<ReadFrom, PoolQueue>>();

/**
 * Acquires sessions, and connections of a driver's pool, each with a permit of a fair queue: there is one queue for the
 * primary, and one for all of its replicas.
 */
export class ConnectionPool<S extends Session> {
  private readonly queues: Map<ReadFrom, PoolQueue>;

  constructor(private readonly parts: ConnectionPoolParts<S>) {
    const { database } = parts.port;
    this.queues = QUEUES.get(database) ?? new Map<ReadFrom, PoolQueue>();
    QUEUES.set(database, this.queues);
  }

  acquire<Result>(reading: Reading, use: SessionUse<S, Result>): Promise<Result> {
    return this.withPermit(reading, (permit) => this.withSession(reading, permit, use));
  }

  acquireFrom<Result>(
    reading: Reading,
    { pool, use, isCancellable }: ConnectionUse<Result>,
  ): Promise<Result> {
    return this.withPermit(reading, (permit) =>
      withPooledConnection(pool, { use, permit, reading: isCancellable ? reading : undefined }, this.parts),
    );
  }

  /** Runs `use` with a permit, which `use` releases itself. */
  private withPermit<Result>(
    { from, requester }: Reading,
    use: (permit: Permit | undefined) => Promise<Result>,
  ): Promise<Result> {
    const { dialect, fairShare, deadlines } = this.parts;
    if (dialect.oneConnection) return use(undefined);
    const permit = this.queueOf(from).acquire(fairShare ? requester : undefined, deadlines);
    return isPromise(permit) ? permit.then(use) : use(permit);
  }

  private queueOf(from: ReadFrom): PoolQueue {
    const known = this.queues.get(from);
    if (known) return known;
    const size = this.parts.port.poolSize(from);
    const queue = from === 'replica' && size === 0 ? this.queueOf('primary') : new PoolQueue(size);
    this.queues.set(from, queue);
    return queue;
  }

  private async withSession<Result>(
    reading: Reading,
    permit: Permit | undefined,
    { use, isCancellable, runsApplicationCode }: SessionUse<S, Result>,
  ): Promise<Result> {
    const { port, dialect, reads, isBroken } = this.parts;
    const session = port.openSession(reading.from);
    const connecting = port.connect(session);
    const connection = dialect.oneConnection
      ? await connecting
      : await this.connected(session, connecting, permit);
    const read = isCancellable ? reads.watch(connection, reading) : undefined;
    const acquired: Acquired<S> = { session, connection, broken: false };
    try {
      if (!runsApplicationCode) return await use(acquired);
      const work = (): Promise<Result> => port.runWork(use, acquired);
      return await (permit ? permit.run(work) : work());
    } catch (error) {
      acquired.broken ||= isBroken(error);
      throw error;
    } finally {
      await this.release(acquired, read, permit);
    }
  }

  /** Returns the connection, and then the permit: after a cancel, once that has completed. */
  private async release(
    { session, connection, broken }: Acquired<S>,
    read: RunningRead | undefined,
    permit: Permit | undefined,
  ): Promise<void> {
    const cancelled = read?.end();
    const release = (): Promise<void> => session.release().finally(() => permit?.release());
    if (cancelled) void cancelled.then(release);
    else {
      if (broken) this.parts.dialect.discard(connection);
      await release();
    }
  }

  /** Waits for the connection until the deadline. One that arrives later is released immediately. */
  private async connected(
    session: S,
    connecting: Promise<unknown>,
    permit: Permit | undefined,
  ): Promise<unknown> {
    try {
      return await this.parts.deadlines.withinDeadline(
        connecting,
        permit?.until ?? this.parts.deadlines.deadline(),
      );
    } catch (error) {
      permit?.release();
      void connecting.then(() => session.release()).catch(() => undefined);
      throw connectionFailure(error);
    }
  }
}
