import type { DataSource } from 'typeorm';
import { probeClusterPools } from '../../../internals/mysql2.js';
import type { Emitter, EmittingPool } from '../../../internals/mysql2.js';

/** The pools of TypeORM's driver: those of pg, or those of mysql2, whose cluster has one pool for each server. */
interface PooledDriver {
  readonly master?: EmittingPool;
  readonly slaves?: readonly EmittingPool[];
  readonly pool?: EmittingPool;
  readonly poolCluster?: object;
}

const ATTACHED = new WeakSet<object>();

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
  withListener(connecting: Promise<unknown>): Promise<unknown> {
    if (this.coversPools) return connecting;
    return connecting.then((connection) => {
      ignoreErrors(connection as Emitter);
      return connection;
    });
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
