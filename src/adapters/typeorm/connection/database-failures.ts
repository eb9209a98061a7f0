import { QueryFailedError } from 'typeorm';
import type { DataSource } from 'typeorm';
import {
  ClientClosedRequest,
  DatabaseUnavailable,
  InvalidSearchPattern,
} from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import { probeClusterPools } from '../../../internals/mysql2.js';
import type { Emitter, EmittingPool } from '../../../internals/mysql2.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { DatabaseError, Dialect } from '../../../sql/dialects/dialect.js';
import { isSystemCode } from '../../../sql/dialects/error-codes.js';
import { isClientClosed } from '../../../execution/connection/running-reads.js';
import type { Reading } from '../../../execution/connection/running-reads.js';

/** Classifies the errors of one data source's statements: which can be retried, and what the client receives for the others. */
export class DatabaseFailures {
  /** False once a session has lost a prepared statement: behind a connection pooler, sessions are shared with other processes. */
  keepsPrepared = true;

  constructor(private readonly dialect: Dialect) {}

  /** The kind of a database error. After a lost prepared statement, the next attempts use none. */
  kindOf(error: unknown): DatabaseError['kind'] | undefined {
    const kind = isRestException(error) ? undefined : this.dialect.errorFor(error)?.kind;
    if (kind === 'unprepared') this.keepsPrepared = false;
    return kind;
  }

  isRetryable(error: unknown): boolean {
    const kind = this.kindOf(error);
    return kind === 'conflict' || kind === 'unprepared' || kind === 'locked';
  }

  readonly isConnectionLost = (error: unknown): boolean => this.dialect.errorFor(error)?.kind === 'away';

  /** Maps an unavailable database to a 503 (contract 21.1), and returns every other error unchanged. */
  report(error: unknown): unknown {
    return !isRestException(error) && isTemporary(this.dialect.errorFor(error))
      ? new DatabaseUnavailable({ cause: error })
      : error;
  }

  /** As `report`. An invalid pattern in a statement that searches by one is that of the search term. */
  ofStatement(error: unknown): unknown {
    const { regexOperator } = this.dialect;
    return error instanceof QueryFailedError &&
      regexOperator !== undefined &&
      error.query.includes(` ${regexOperator} `) &&
      this.dialect.errorFor(error)?.kind === 'pattern'
      ? new InvalidSearchPattern('search')
      : this.report(error);
  }

  /** As `ofStatement`; a read that was cancelled for a disconnected client is not a failure of the database. */
  ofRead(error: unknown, reading: Reading): unknown {
    const failure = this.ofStatement(error);
    return failure instanceof DatabaseUnavailable && isClientClosed(reading)
      ? new ClientClosedRequest({ cause: error })
      : failure;
  }

  /**
   * Returns if the database has rejected a statement, which has written nothing then.
   * @throws every error that leaves the outcome unknown, or that another attempt would repeat.
   */
  assertRejected(error: unknown): void {
    const kind = this.dialect.errorFor(error)?.kind;
    if (
      kind === 'away' ||
      kind === 'timeout' ||
      kind === 'full' ||
      kind === 'locked' ||
      kind === 'unique' ||
      isRestException(error)
    )
      throw this.report(error);
    if (!(error instanceof QueryFailedError)) throw error;
    if (kind === 'unprepared') this.keepsPrepared = false;
  }
}

/** The pools of TypeORM's driver: those of pg, or those of mysql2, whose cluster has one pool for each server. */
interface PooledDriver {
  readonly master?: EmittingPool;
  readonly slaves?: readonly EmittingPool[];
  readonly pool?: EmittingPool;
  readonly poolCluster?: object;
}

const ATTACHED = new WeakSet<object>();

/** The number of listeners to `acquire` that are added to a pool. */
export const OWN_ACQUIRE_LISTENERS = 1;

/**
 * Error listeners on pooled connections, because an `error` event without a listener ends the process. pg listens on
 * idle connections only, mysql2 only to the first error. The statement that uses the connection reports the error
 * itself.
 */
export class ConnectionErrors {
  private attached: object | undefined;
  /** Whether the pools are found, so that each of their connections has a listener before it is used. */
  private coversPools = true;

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds the listeners. Call it before a connection is acquired: a data source that is initialized again has new pools.
   */
  attach(): void {
    const driver = this.dataSource.driver as PooledDriver;
    const attaching = driver.master ?? driver.pool ?? driver.poolCluster;
    if (attaching === undefined || attaching === this.attached) return;
    this.attached = attaching;
    const pools = poolsOf(driver);
    this.coversPools = pools !== undefined;
    for (const pool of pools ?? []) attachToPool(pool);
  }

  /** Adds the listener to a connection of a query runner whose pool is not found. */
  attachToConnection(connection: unknown): void {
    if (!this.coversPools) ignoreErrors(connection as Emitter);
  }
}

/** Undefined if mysql2 keeps the pools of its cluster in another way. */
function poolsOf({
  master,
  slaves = [],
  pool,
  poolCluster,
}: PooledDriver): readonly EmittingPool[] | undefined {
  if (poolCluster) return probeClusterPools(poolCluster);
  return [master, ...slaves, pool].filter((each) => each !== undefined);
}

function attachToPool(pool: EmittingPool): void {
  // Two prefixes may share a data source.
  if (ATTACHED.has(pool)) return;
  ATTACHED.add(pool);
  pool.on('acquire', ignoreErrors);
}

function ignoreErrors(connection: Emitter): void {
  if (ATTACHED.has(connection)) return;
  ATTACHED.add(connection);
  connection.on('error', () => undefined);
}

/**
 * Maps a failed connection to a 503 if the server cannot be reached, which only an error code of the operating system
 * identifies.
 */
export function connectionFailure(error: unknown): Error {
  return isSystemCode((error as { code?: unknown } | null | undefined)?.code)
    ? new DatabaseUnavailable({ cause: error })
    : (error as Error);
}
