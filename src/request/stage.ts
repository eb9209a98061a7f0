import type { MaybePromise } from '../core/maybe-promise.js';
import type { RestContext } from './rest-context.js';

/** A stage of a request: sets its part of the context, or throws a `RestException`. */
export type Stage = (context: RestContext) => MaybePromise<void>;
