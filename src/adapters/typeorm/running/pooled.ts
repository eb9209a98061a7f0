import type { DataSource } from 'typeorm';
import type { WaitingRoom } from './waiting-room.js';

/** Of pg's pool: the part that is used here. */
interface Pool {
  connect(taken: (error: Error | undefined, client: Client | undefined, release: (broken?: boolean) => void) => void): void;
}

interface Client {
  on(event: 'error', listener: () => void): unknown;
}

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

/** Clients that are listened to: an error of one that runs nothing would end the process. Whoever runs something is told by that. */
const HEEDED = new WeakSet<Client>();

export interface LendingRules {
  readonly waiting: WaitingRoom;
  readonly isBroken: (error: unknown) => boolean;
}

/**
 * Lends a connection of a pool, without a query runner of TypeORM's around it: what costs most of a small statement. One that
 * comes too late goes back at once, and one that is broken goes to nobody else.
 */
export async function lendOf<Result>(pool: Pool, use: (connection: unknown) => Promise<Result>, { waiting, isBroken }: LendingRules): Promise<Result> {
  // Awaited, because a pool calls back in the asynchronous context of whoever has given the connection back.
  const { client, release } = await taken(pool, waiting);
  try {
    const result = await use(client);
    release();
    return result;
  } catch (error) {
    release(isBroken(error));
    throw error;
  }
}

interface Taken {
  readonly client: Client;
  readonly release: (broken?: boolean) => void;
}

function taken(pool: Pool, waiting: WaitingRoom): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const leave = waiting.enter(waiting.deadline(), reject);
    pool.connect((error, client, release) => {
      const inTime = leave();
      if (error || !client) reject(error ?? new Error('The pool has no connection'));
      else if (!inTime) release();
      else {
        heed(client);
        resolve({ client, release });
      }
    });
  });
}

function heed(client: Client): void {
  if (HEEDED.has(client)) return;
  HEEDED.add(client);
  client.on('error', () => undefined);
}
