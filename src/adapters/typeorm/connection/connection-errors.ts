import type { DataSource } from 'typeorm';

/** A connection of pg or mysql2. */
interface Emitter {
  on(event: 'error', listener: () => void): unknown;
}

/** Both tell who is about to use a connection, a new one too. */
interface Pool {
  on(event: 'acquire', listener: (connection: Emitter) => void): unknown;
}

/** TypeORM's: pools of pg, or of mysql2, of which a cluster has one a server. */
interface PooledDriver {
  readonly master?: Pool;
  readonly slaves?: readonly Pool[];
  readonly pool?: Pool;
  readonly poolCluster?: { readonly _nodes?: Readonly<Record<string, { readonly pool: Pool }>> };
}

const HEARD = new WeakSet<object>();

/**
 * Listens to the errors of connections: one that nobody listens to ends the process. pg has a listener on idle connections
 * alone, mysql2 one for the first error. Whoever runs a statement is told by that.
 */
export class ConnectionErrors {
  private heard: object | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** To be called before a connection is taken: a data source that is initialized anew has other pools. */
  hear(): void {
    const driver = this.dataSource.driver as PooledDriver;
    const made = driver.master ?? driver.pool ?? driver.poolCluster;
    if (made === undefined || made === this.heard) return;
    this.heard = made;
    for (const pool of poolsOf(driver)) hearPool(pool);
  }
}

function poolsOf({ master, slaves = [], pool, poolCluster }: PooledDriver): readonly Pool[] {
  const nodes = Object.values(poolCluster?._nodes ?? {}).map((node) => node.pool);
  return [master, ...slaves, pool, ...nodes].filter((each) => each !== undefined);
}

function hearPool(pool: Pool): void {
  // Two prefixes share a data source.
  if (HEARD.has(pool)) return;
  HEARD.add(pool);
  pool.on('acquire', (connection) => {
    if (HEARD.has(connection)) return;
    HEARD.add(connection);
    connection.on('error', () => undefined);
  });
}
