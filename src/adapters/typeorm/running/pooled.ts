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

/** The driver's own pool for statements that stand alone; undefined where the driver has none of the kind. One of several replicas by chance, as TypeORM does. */
export function poolOf({ driver, options }: DataSource, from: 'primary' | 'replica'): Pool | undefined {
  if (options.type !== 'postgres') return undefined;
  const { master, slaves = [] } = driver as unknown as Pools;
  return from === 'replica' && slaves.length > 0 ? slaves[Math.floor(Math.random() * slaves.length)] : master;
}

/** Clients that are listened to: an error of one that runs nothing would end the process. Whoever runs something is told by that. */
const HEEDED = new WeakSet<Client>();

/**
 * Lends a connection of a pool, without a query runner of TypeORM's around it: what costs most of a small statement. One that
 * comes too late goes back at once, and one that is broken goes to nobody else.
 */
export function lendOf<Result>(pool: Pool, use: (connection: unknown) => Promise<Result>, { waiting, isBroken }: { readonly waiting: WaitingRoom; readonly isBroken: (error: unknown) => boolean }): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = waiting.enter(waiting.deadline(), reject);
    pool.connect((error, client, release) => {
      const inTime = leave();
      if (error || !client) reject(error ?? new Error('The pool has no connection'));
      else if (!inTime) release();
      else {
        heed(client);
        const used = use(client);
        used.then(() => { release(); }, (failure: unknown) => { release(isBroken(failure)); });
        resolve(used);
      }
    });
  });
}

function heed(client: Client): void {
  if (HEEDED.has(client)) return;
  HEEDED.add(client);
  client.on('error', () => undefined);
}
