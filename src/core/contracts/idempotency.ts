import type { Actor } from '../schema/actor.js';

/** Options of idempotent POST requests (`Idempotency-Key`, draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyOptions {
  /** Requires a key for POST: 400 without one. Default: false. */
  readonly require?: boolean;
  /** Seconds for which a response is stored. Default: 86,400, a day. */
  readonly life?: number;
  /** Returns the identifier of the caller; undefined to reject its keys. Default: the actor's `id`, `sub`, `username` and `name`. */
  readonly key?: (actor: NonNullable<Actor>) => string | undefined;
}

/** The compiled `IdempotencyOptions`. */
export interface Idempotency {
  readonly require: boolean;
  readonly life: number;
  readonly key: IdempotencyOptions['key'];
}

/** Marks the entity class that stores responses. A global symbol, so that it works across copies of the package. */
export const STORES_RESPONSES = Symbol.for('nestjs-restify.IdempotencyRecord');

export function storesResponses(target: unknown): boolean {
  return (
    typeof target === 'function' &&
    (target as { readonly [STORES_RESPONSES]?: unknown })[STORES_RESPONSES] === true
  );
}
