import { describePackage } from './installed-version.js';

/** A connection of pg or mysql2. */
export interface Emitter {
  on(event: 'error', listener: () => void): unknown;
}

/** A pool of pg or mysql2. Both emit `acquire` before a connection is used, including a new one. */
export interface EmittingPool {
  on(event: 'acquire', listener: (connection: Emitter) => void): unknown;
}

/** The undocumented part of mysql2's `PoolCluster`: a pool for each server, by its name. */
interface Cluster {
  readonly _nodes?: Readonly<Record<string, { readonly pool?: Partial<EmittingPool> } | undefined>> | null;
}

/** The pools of a cluster of mysql2, one for each server; undefined if it keeps them in another way. */
export function probeClusterPools(cluster: object): readonly EmittingPool[] | undefined {
  const { _nodes: nodes } = cluster as Cluster;
  if (typeof nodes !== 'object' || nodes === null) return undefined;
  const pools = Object.values(nodes).map((node) => node?.pool);
  return pools.every(isEmitting) ? pools : undefined;
}

function isEmitting(pool: Partial<EmittingPool> | undefined): pool is EmittingPool {
  return typeof pool?.on === 'function';
}

/** The warning at start for a cluster whose pools are not found. */
export function describeUnknownCluster(): string {
  return `${describePackage('mysql2')} keeps the pools of \`replication\` in another way than this package knows. Connections that requests to this package have used are safe; one that only the application's own statements have used may end the process when its server goes away. Please report it.`;
}
