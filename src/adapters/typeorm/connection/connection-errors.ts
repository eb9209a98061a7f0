import type { DataSource } from 'typeorm';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import { isSystemCode } from '../../../sql/dialects/error-codes.js';

/** A connection of pg or mysql2. */
interface Emitter {
  on(event: 'error', listener: () => void): unknown;
}

/** A pool of pg or mysql2. Both emit `acquire` before a connection is used, including a new one. */
interface EmittingPool {
  on(event: 'acquire', listener: (connection: Emitter) => void): unknown;
}

/** The pools of TypeORM's driver: those of pg, or those of mysql2, whose cluster has one pool for each server. */
interface PooledDriver {
  readonly master?: EmittingPool;
  readonly slaves?: readonly EmittingPool[];
  readonly pool?: EmittingPool;
  readonly poolCluster?: { readonly _nodes?: Readonly<Record<string, { readonly pool: EmittingPool }>> };
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

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds the listeners. Call it before a connection is acquired: a data source that is initialized again has new pools.
   */
  attach(): void {
    const driver = this.dataSource.driver as PooledDriver;
    const pools = driver.master ?? driver.pool ?? driver.poolCluster;
    if (pools === undefined || pools === this.attached) return;
    this.attached = pools;
    for (const pool of poolsOf(driver)) attachToPool(pool);
  }
}

function poolsOf({ master, slaves = [], pool, poolCluster }: PooledDriver): readonly EmittingPool[] {
  const nodes = Object.values(poolCluster?._nodes ?? {}).map((node) => node.pool);
  return [master, ...slaves, pool, ...nodes].filter((each) => each !== undefined);
}

function attachToPool(pool: EmittingPool): void {
  // Two prefixes may share a data source.
  if (ATTACHED.has(pool)) return;
  ATTACHED.add(pool);
  pool.on('acquire', (connection) => {
    if (ATTACHED.has(connection)) return;
    ATTACHED.add(connection);
    connection.on('error', () => undefined);
  });
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
