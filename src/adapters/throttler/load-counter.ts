import type { RequestCounter, Throttle } from '../../core/contracts/throttle.js';

/** The part of @nestjs/throttler that is used here: the package is an optional peer. */
interface ThrottlerStorageLike {
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    name: string,
  ): Promise<{ readonly isBlocked: boolean; readonly timeToBlockExpire: number }>;
}

/** What the library calls the token of its storage. */
const STORAGE = 'ThrottlerStorage';

const INSTALL =
  'A model names a throttle: install @nestjs/throttler, and import ThrottlerModule.forRoot([]) in the application.';

/** The counter over the application's own throttler storage, so that it holds as far as that storage reaches. */
export async function loadCounter(find: (token: symbol) => unknown): Promise<RequestCounter> {
  const token = await storageToken();
  const storage = find(token) as ThrottlerStorageLike | undefined;
  if (!storage) throw new Error(INSTALL);
  return { count: (key, throttle) => countIn(storage, key, throttle) };
}

/**
 * The same where the application has such a storage, and undefined where it has none, installed or not. It is known by
 * the name of its token, so that a package which nothing else needs is not loaded, and looked up when it is first used.
 */
export function counterOf(
  tokens: Iterable<unknown>,
  find: (token: symbol) => unknown,
): RequestCounter | undefined {
  const token = [...tokens].find((each) => typeof each === 'symbol' && each.description === STORAGE);
  if (typeof token !== 'symbol') return undefined;
  return {
    count: async (key, throttle) => {
      const storage = find(token) as ThrottlerStorageLike | undefined;
      if (!storage) throw new Error(`The application's ${STORAGE} is not there`);
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
    const { code } = error as { code?: string };
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND')
      throw new Error(INSTALL, { cause: error });
    throw error;
  }
}
