import type { Actor } from '../schema/actor.js';

/** How often one caller may use a model. */
export interface Throttle {
  /** Requests in `ttl`. */
  readonly limit: number;
  /** Milliseconds. */
  readonly ttl: number;
  /** What tells one caller from another. Default: the actor's `id`, `sub`, `username` or `name`, else the address. */
  readonly key?: (actor: Actor) => string | undefined;
}

/** Counts requests, in this process or for all of them. Rejects where it cannot be reached. */
export interface RequestCounter {
  /** Counts one more. Answers the seconds to wait, or 0 where the request may pass. */
  count(key: string, throttle: Throttle): Promise<number>;
}
