import type { Actor } from '../schema/caller.js';

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

/** A request with an idempotency key. */
export interface ClaimRequest {
  /** The key, qualified by its scope. */
  readonly id: string;
  /** A hash of the request. */
  readonly fingerprint: string;
  /** Seconds for which the response is stored. */
  readonly life: number;
}

/** A lease on an idempotency key, held by the request that runs with it until it expires and another takes it. */
export interface Claim {
  readonly id: string;
  readonly token: string;
  /** The expiry of the stored response (epoch ms). */
  readonly ends: number;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /** Another request holds the claim and is still running. */
  | { readonly kind: 'running' }
  /** The key was used with a different request. */
  | { readonly kind: 'other' }
  | { readonly kind: 'completed'; readonly response: string };

/**
 * The port to the store of responses for idempotent requests. A claim is visible to all processes at once; of concurrent claims
 * of the same key only one succeeds.
 */
export interface IdempotencyStore {
  claim(request: ClaimRequest): Promise<ClaimOutcome>;
  /** Stores the response in the transaction of the write, so that both commit or neither. False if another request has taken the claim: the write must be rolled back. */
  complete(claim: Claim, response: string, transaction: object): Promise<boolean>;
  /** Releases a claim without a write. Does nothing if it is completed or held by another request. */
  release(claim: Claim): Promise<void>;
}
