import type { MaybePromise } from '../core/maybe-promise.js';
import type { RestContext } from './rest-context.js';
import { isPromise } from '../core/maybe-promise.js';

/** A stage of a request: sets its part of the context, or throws a `RestException`. */
export type Stage = (context: RestContext) => MaybePromise<void>;

/**
 * Runs stages in sequence, synchronously until one returns a promise. The error of a stage is thrown or rejects
 * accordingly; the deferred checks of the context run first, and their errors have precedence.
 */
export function runStages(stages: readonly Stage[], context: RestContext, from = 0): MaybePromise<void> {
  for (let index = from; index < stages.length; index++) {
    let pending: MaybePromise<void>;
    try {
      pending = stages[index]?.(context);
    } catch (error) {
      return fail(context, error);
    }
    if (isPromise(pending))
      return pending.then(
        () => runStages(stages, context, index + 1),
        (error: unknown) => fail(context, error),
      );
  }
}

/** Deferred checks are removed before they run, so that nested stages run them once. */
function fail(context: RestContext, error: unknown): MaybePromise<never> {
  const checks = context.deferredChecks;
  if (checks.length === 0) throw error;
  context.clearDeferredChecks();
  return checkFirst(checks, error);
}

async function checkFirst(checks: RestContext['deferredChecks'], error: unknown): Promise<never> {
  for (const check of checks) await check();
  throw error;
}
