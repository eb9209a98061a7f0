import type { Actor } from '../schema/caller.js';

/** The rate limit of a model for each caller. */
export interface Throttle {
  /** Maximum number of requests within `ttl`. */
  readonly limit: number;
  /** Length of the window in milliseconds. */
  readonly ttl: number;
  /** Returns the identifier of the caller. Default: the actor's `id`, `sub`, `username` or `name`, else the address. */
  readonly key?: (actor: Actor) => string | undefined;
}

/** Counts requests, in this process or across all of them. Rejects if its storage is unavailable. */
export interface RequestCounter {
  /** Counts a request. Resolves to the seconds to wait, or 0 if the request is within the limit. */
  count(key: string, throttle: Throttle): Promise<number>;
}
