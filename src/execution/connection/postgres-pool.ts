import type { MaybePromise } from '../../core/maybe-promise.js';
import type { DriverPool } from '../port.js';
import type { Permit } from './pool-queue.js';
import { connectionFailure } from './database-failures.js';
import type { CancellableReads, Reading, RunningRead } from './running-reads.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

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
  const connection = await checkout(pool, permit, rules.deadlines);
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
  const release = (isBroken: boolean): void => {
    connection.release(isBroken);
    permit?.release();
  };
  const cancelled = read?.end();
  if (cancelled)
    void cancelled.then((good) => {
      release(!good);
    });
  else release(broken);
}

interface PoolConnection {
  readonly client: object;
  readonly release: (broken: boolean) => void;
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
        else if (isInTime && client) resolve({ client, release });
        else if (client) release();
      });
    } catch (error) {
      // A pool that the application has wrapped may throw.
      if (deadlines.remove(pending)) fail(error);
    }
  });
}
