import type { MaybePromise } from '../../core/maybe-promise.js';
import { probeReusable } from '../../internals/pg.js';
import type { DriverPool } from '../port.js';
import type { PassedConnection, Permit } from './pool-queue.js';
import { connectionFailure } from './database-failures.js';
import type { CancellableReads, Reading, RunningRead } from './running-reads.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/** The number of listeners to `acquire` that this package adds to a pool. */
const OWN_ACQUIRE_LISTENERS = 1;

/** What all connections of a database's pools have in common. */
export interface PoolRules {
  readonly deadlines: AcquireDeadlines;
  readonly isBroken: (error: unknown) => boolean;
  readonly reads: CancellableReads;
}

/** One use of a pooled connection. */
export interface PoolUse<Result> {
  readonly use: (connection: unknown) => MaybePromise<Result>;
  /** The permit, released when the connection is back in the pool. */
  readonly permit: Permit | undefined;
  /** A read that can be cancelled; undefined for a write. */
  readonly reading: Reading | undefined;
}

/**
 * Runs `use` on a pooled connection without a session of the ORM, which dominates the cost of a small statement. A
 * connection that arrives after the deadline goes back to the pool immediately, and a broken one is removed from it.
 */
export async function withPooledConnection<Result>(
  pool: DriverPool,
  { use, permit, reading }: PoolUse<Result>,
  rules: PoolRules,
): Promise<Result> {
  // Awaited, because a pool calls back in the asynchronous context of the request that has released the connection.
  const connection =
    (permit?.connection as PoolConnection | undefined) ?? (await checkout(pool, permit, rules.deadlines));
  const read = reading && rules.reads.watch(connection.client, reading);
  let result: Result;
  try {
    result = await use(connection.client);
  } catch (error) {
    returnConnection(connection, { read, permit, broken: rules.isBroken(error) });
    throw error;
  }
  returnConnection(connection, { read, permit, broken: false });
  return result;
}

interface EndedUse {
  readonly read: RunningRead | undefined;
  readonly permit: Permit | undefined;
  readonly broken: boolean;
}

/** Returns the connection, and then the permit: after a cancel, once that has completed. */
function returnConnection(connection: PoolConnection, { read, permit, broken }: EndedUse): void {
  const cancelled = read?.end();
  if (cancelled)
    void cancelled.then((good) => {
      returnNow(connection, permit, !good);
    });
  else returnNow(connection, permit, broken);
}

/**
 * Passes the connection to the next permit: through pg's pool it would be idle in between, which costs a timer and a
 * turn of the event loop.
 */
function returnNow(connection: PoolConnection, permit: Permit | undefined, broken: boolean): void {
  if (permit && !broken && mayBePassed(connection)) {
    permit.release(connection);
    return;
  }
  connection.release(broken);
  permit?.release();
}

/** False if the pool has to decide about the connection, or the application takes part in each checkout. */
function mayBePassed({ pool, client }: PoolConnection): boolean {
  return (
    pool.waitingCount === 0 &&
    pool.ending !== true &&
    probeReusable(client) === true &&
    !hasLimits(pool.options ?? {}) &&
    !hasOwnCheckout(pool)
  );
}

/** Whether the pool limits the uses or the lifetime of each connection. */
function hasLimits({
  maxUses = Infinity,
  maxLifetimeSeconds = 0,
}: NonNullable<DriverPool['options']>): boolean {
  return maxUses !== Infinity || maxLifetimeSeconds !== 0;
}

/**
 * Whether the application prepares each connection that is taken, for example for row-level security: by another
 * `connect`, or by listeners.
 */
function hasOwnCheckout(pool: DriverPool): boolean {
  const listeners = (event: 'acquire' | 'release'): number => pool.listenerCount?.(event) ?? 0;
  return (
    Object.hasOwn(pool, 'connect') || listeners('acquire') > OWN_ACQUIRE_LISTENERS || listeners('release') > 0
  );
}

interface PoolConnection extends PassedConnection {
  readonly pool: DriverPool;
  readonly client: object;
}

/** Rejects with a 503 at the deadline, and if the server cannot be reached. The permit is released on failure. */
function checkout(
  pool: DriverPool,
  permit: Permit | undefined,
  deadlines: AcquireDeadlines,
): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      permit?.release();
      reject(connectionFailure(error));
    };
    const pending = deadlines.register(permit?.until ?? deadlines.deadline(), fail);
    try {
      pool.connect((error, client, release) => {
        const isInTime = deadlines.remove(pending);
        if (isInTime && (error || !client)) fail(error ?? new Error('The pool has no connection'));
        else if (isInTime && client) resolve({ pool, client, release });
        else if (client) release();
      });
    } catch (error) {
      // A pool that the application has wrapped may throw.
      if (deadlines.remove(pending)) fail(error);
    }
  });
}
