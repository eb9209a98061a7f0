import type { InvalidInput } from '../../core/errors/http-exceptions.js';
import { isRestException } from '../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import { eachInSlices } from '../../core/event-loop.js';
import { settleMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { RefusedPlan } from '../../core/query/plan.js';
import { requireObject } from '../request-input.js';
import type { JsonObject } from '../request-input.js';

/**
 * Plans each item of a list. `refuse` makes the plan of an item that cannot be planned: its errors are reported with those of the others.
 */
export async function planItems<Plan, Refused>(
  items: readonly unknown[],
  plan: (item: JsonObject, index: number) => MaybePromise<Plan>,
  refuse: (errors: FieldErrors) => Refused,
): Promise<readonly (Plan | Refused)[]> {
  const plans: (Plan | Refused)[] = [];
  const add = (each: Plan | Refused): void => {
    plans.push(each);
  };
  await eachInSlices(items.entries(), ([index, item]) =>
    settleMaybe(
      () => plan(requireObject(item), index),
      add,
      (error) => {
        if (!isRestException(error) || !('fields' in error)) throw error;
        add(refuse((error as InvalidInput).fields));
      },
    ),
  );
  return plans;
}

/** The plan of an item that has these errors. */
export function refusedPlan(errors: FieldErrors): RefusedPlan {
  return { kind: 'refused', errors };
}
