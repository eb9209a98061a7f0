import { isPromise } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { RestContext } from '../request/rest-context.js';
import type { Stage } from '../request/stage.js';

/**
 * Runs stages one after the other, synchronously until one returns a promise. An error of a stage is thrown, or rejects,
 * accordingly; the context's deferred checks run before it, and what they throw takes its place.
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

/** The checks are removed before they run: stages that run others check once. */
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
