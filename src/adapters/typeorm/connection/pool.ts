import type { DataSource } from 'typeorm';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import { isSystemCode } from '../../../sql/dialects/error-codes.js';
import type { Permit } from './pool-queue.js';
import type { RunningRead } from './running-reads.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/** The part of pg's pool that is used. */
interface DriverPool {
  connect(
    callback: (
      error: Error | undefined,
      client: PooledClient | undefined,
      release: (broken?: boolean) => void,
    ) => void,
  ): void;
}

/** A client of pg. */
type PooledClient = object;

interface Pools {
  readonly master?: DriverPool;
  readonly slaves?: readonly DriverPool[];
}

/**
 * The driver's own pool for single statements. Undefined if the driver has none, and if the application's logger is an
 * object, which may use the query runner. Of several replicas a random one is chosen, as TypeORM does.
 */
export function poolOf({ driver, options }: DataSource, from: 'primary' | 'replica'): DriverPool | undefined {
  if (options.type !== 'postgres' || typeof options.logger === 'object') return undefined;
  const { master, slaves = [] } = driver as unknown as Pools;
  return from === 'replica' && slaves.length > 0 ? slaves[Math.floor(Math.random() * slaves.length)] : master;
}

export interface PoolRules {
  readonly deadlines: AcquireDeadlines;
  readonly isBroken: (error: unknown) => boolean;
  /** Registers a reading statement, which can be cancelled. */
  readonly watch?: (connection: unknown) => RunningRead | undefined;
  /** The permit, released when the connection is back in the pool. */
  readonly permit?: Permit | undefined;
}

/**
 * Runs `use` on a pooled connection without TypeORM's query runner, which dominates the cost of a small statement. A
 * connection that arrives after the deadline goes back to the pool immediately, and a broken one is removed from it.
 */
export async function withPooledConnection<Result>(
  pool: DriverPool,
  use: (connection: unknown) => Promise<Result>,
  { deadlines, isBroken, watch, permit }: PoolRules,
): Promise<Result> {
  // Awaited, because a pool calls back in the asynchronous context of the request that has released the connection.
  const { client, release: backToPool } = await checkout(
    pool,
    deadlines,
    permit?.until ?? deadlines.deadline(),
  ).catch((error: unknown) => {
    permit?.leave();
    return throwUnreachable(error);
  });
  const release = (broken: boolean): void => {
    backToPool(broken);
    permit?.leave();
  };
  const read = watch?.(client);
  const returnConnection = (broken: boolean): void => {
    const cancelled = read?.end();
    if (cancelled)
      void cancelled.then((good) => {
        release(!good);
      });
    else release(broken);
  };
  try {
    const result = await use(client);
    returnConnection(false);
    return result;
  } catch (error) {
    returnConnection(isBroken(error));
    throw error;
  }
}

/**
 * Maps a failed connection to a 503 if the server cannot be reached, which only an error code of the operating system
 * identifies.
 */
export function throwUnreachable(error: unknown): never {
  throw isSystemCode((error as { code?: unknown } | null | undefined)?.code)
    ? new DatabaseUnavailable({ cause: error })
    : error;
}

interface PoolCheckout {
  readonly client: PooledClient;
  readonly release: (broken?: boolean) => void;
}

function checkout(pool: DriverPool, deadlines: AcquireDeadlines, until: number): Promise<PoolCheckout> {
  return new Promise((resolve, reject) => {
    const leave = deadlines.register(until, reject);
    pool.connect((error, client, release) => {
      const isInTime = leave();
      if (error || !client) reject(error ?? new Error('The pool has no connection'));
      else if (!isInTime) release();
      else resolve({ client, release });
    });
  });
}
