import type { Actor } from '../schema/actor.js';

/** How a POST that comes twice is done once (`Idempotency-Key`, draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyOptions {
  /** A POST must have a key: 400 without. Default: false. */
  readonly require?: boolean;
  /** Seconds for which an answer is kept. Default: 86,400, a day. */
  readonly life?: number;
  /** What tells one caller from another; undefined for one whose keys are refused. Default: the actor's `id`, `sub`, `username` and `name`. */
  readonly key?: (actor: NonNullable<Actor>) => string | undefined;
}

/** The same, compiled. */
export interface Idempotency {
  readonly require: boolean;
  readonly life: number;
  readonly key: IdempotencyOptions['key'];
}

/** Marks the class whose table keeps the answers, whichever copy of the package an application has it from. */
export const STORES_RESPONSES = Symbol.for('nestjs-restify.IdempotencyRecord');

export function storesResponses(target: unknown): boolean {
  return (
    typeof target === 'function' &&
    (target as { readonly [STORES_RESPONSES]?: unknown })[STORES_RESPONSES] === true
  );
}
