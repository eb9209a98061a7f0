import { isMissingPackage } from '../../core/errors/missing-package.js';
import type { RequestCounter, Throttle } from '../../core/contracts/throttle.js';

/** The used part of @nestjs/throttler's storage. The package is an optional peer dependency. */
interface ThrottlerStorageLike {
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    name: string,
  ): Promise<{ readonly isBlocked: boolean; readonly timeToBlockExpire: number }>;
}

/** The description of the injection token of the storage. */
const STORAGE = 'ThrottlerStorage';

const INSTALL =
  'A model names a throttle: install @nestjs/throttler, and import ThrottlerModule.forRoot([]) in the application.';

/** Loads a counter that uses the application's throttler storage, so that limits have the scope of that storage. */
export async function loadCounter(find: (token: symbol) => unknown): Promise<RequestCounter> {
  const token = await storageToken();
  const storage = find(token) as ThrottlerStorageLike | undefined;
  if (!storage) throw new Error(INSTALL);
  return { count: (key, throttle) => countIn(storage, key, throttle) };
}

/**
 * The same if the application has a throttler storage, otherwise undefined. The storage is identified by the description of
 * its token, so that the package need not be loaded, and resolved when it is first used.
 */
export function findCounter(
  tokens: Iterable<unknown>,
  find: (token: symbol) => unknown,
): RequestCounter | undefined {
  const token = [...tokens].find((each) => typeof each === 'symbol' && each.description === STORAGE);
  if (typeof token !== 'symbol') return undefined;
  return {
    count: async (key, throttle) => {
      const storage = find(token) as ThrottlerStorageLike | undefined;
      if (!storage) throw new Error(`The application has no provider of ${STORAGE}`);
      return countIn(storage, key, throttle);
    },
  };
}

async function countIn(
  storage: ThrottlerStorageLike,
  key: string,
  { limit, ttl }: Throttle,
): Promise<number> {
  const { isBlocked, timeToBlockExpire } = await storage.increment(key, ttl, limit, ttl, 'restify');
  return isBlocked ? Math.max(1, timeToBlockExpire) : 0;
}

async function storageToken(): Promise<symbol> {
  try {
    const library = (await import('@nestjs/throttler')) as unknown as { readonly ThrottlerStorage: symbol };
    return library.ThrottlerStorage;
  } catch (error) {
    throw isMissingPackage(error) ? new Error(INSTALL, { cause: error }) : error;
  }
}
