import type { RequestCounter } from '../../model/throttle.js';

/** The part of @nestjs/throttler that is used here: the package is an optional peer. */
interface ThrottlerStorageLike {
  increment(key: string, ttl: number, limit: number, blockDuration: number, name: string): Promise<{ readonly isBlocked: boolean; readonly timeToBlockExpire: number }>;
}

const INSTALL = 'A model names a throttle: install @nestjs/throttler, and import ThrottlerModule.forRoot([]) in the application.';

/** The counter over the application's own throttler storage, so that it holds as far as that storage reaches. */
export async function loadCounter(find: (token: symbol) => unknown): Promise<RequestCounter> {
  const token = await storageToken();
  const storage = find(token) as ThrottlerStorageLike | undefined;
  if (!storage) throw new Error(INSTALL);
  return {
    count: async (key, { limit, ttl }) => {
      const { isBlocked, timeToBlockExpire } = await storage.increment(key, ttl, limit, ttl, 'restify');
      return isBlocked ? Math.max(1, timeToBlockExpire) : 0;
    },
  };
}

async function storageToken(): Promise<symbol> {
  try {
    const library = (await import('@nestjs/throttler')) as unknown as { readonly ThrottlerStorage: symbol };
    return library.ThrottlerStorage;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') throw new Error(INSTALL, { cause: error });
    throw error;
  }
}
