import type { DataSource } from 'typeorm';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import { isSystemCode } from '../../../sql/dialects/error-codes.js';
import type { Turn } from './pool-queue.js';
import type { RunningRead } from './running-reads.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/** Of pg's pool: the part that is used here. */
interface Pool {
  connect(
    taken: (
      error: Error | undefined,
      client: Client | undefined,
      release: (broken?: boolean) => void,
    ) => void,
  ): void;
}

/** Of pg. */
type Client = object;

interface Pools {
  readonly master?: Pool;
  readonly slaves?: readonly Pool[];
}

/**
 * The driver's own pool for statements that stand alone; undefined where the driver has none of the kind, and where a logger of the
 * application's may ask for the query runner. One of several replicas by chance, as TypeORM does.
 */
export function poolOf({ driver, options }: DataSource, from: 'primary' | 'replica'): Pool | undefined {
  if (options.type !== 'postgres' || typeof options.logger === 'object') return undefined;
  const { master, slaves = [] } = driver as unknown as Pools;
  return from === 'replica' && slaves.length > 0 ? slaves[Math.floor(Math.random() * slaves.length)] : master;
}

export interface PoolRules {
  readonly waiting: AcquireDeadlines;
  readonly isBroken: (error: unknown) => boolean;
  /** Of a statement that reads: it may be cancelled. */
  readonly watch?: (connection: unknown) => RunningRead | undefined;
  /** Left when the connection is back. */
  readonly turn?: Turn | undefined;
}

/**
 * Lends a connection of a pool, without a query runner of TypeORM's around it: what costs most of a small statement. One that
 * comes too late goes back at once, and one that is broken goes to nobody else.
 */
export async function poolConnector<Result>(
  pool: Pool,
  use: (connection: unknown) => Promise<Result>,
  { waiting, isBroken, watch, turn }: PoolRules,
): Promise<Result> {
  // Awaited, because a pool calls back in the asynchronous context of whoever has given the connection back.
  const { client, release: backToPool } = await checkout(
    pool,
    waiting,
    turn?.until ?? waiting.deadline(),
  ).catch((error: unknown) => {
    turn?.leave();
    return throwUnreachable(error);
  });
  const release = (broken: boolean): void => {
    backToPool(broken);
    turn?.leave();
  };
  const read = watch?.(client);
  const giveBack = (broken: boolean): void => {
    const cancelled = read?.end();
    if (cancelled)
      void cancelled.then((good) => {
        release(!good);
      });
    else release(broken);
  };
  try {
    const result = await use(client);
    giveBack(false);
    return result;
  } catch (error) {
    giveBack(isBroken(error));
    throw error;
  }
}

/** What a connection could not be opened for: a server that cannot be reached is told by the codes of the operating system alone. */
export function throwUnreachable(error: unknown): never {
  throw isSystemCode((error as { code?: unknown } | null | undefined)?.code)
    ? new DatabaseUnavailable({ cause: error })
    : error;
}

interface PoolCheckout {
  readonly client: Client;
  readonly release: (broken?: boolean) => void;
}

function checkout(pool: Pool, waiting: AcquireDeadlines, until: number): Promise<PoolCheckout> {
  return new Promise((resolve, reject) => {
    const leave = waiting.add(until, reject);
    pool.connect((error, client, release) => {
      const inTime = leave();
      if (error || !client) reject(error ?? new Error('The pool has no connection'));
      else if (!inTime) release();
      else resolve({ client, release });
    });
  });
}
