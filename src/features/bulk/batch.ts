import type { Bulk } from '../../core/contracts/bulk.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { BulkWriteError, emptyFieldErrors, NON_FIELD_ERRORS } from '../../core/errors/rest-exception.js';
import type { BulkStepError, FieldErrors } from '../../core/errors/rest-exception.js';
import { InvalidInput, InvalidItems } from '../../core/errors/http-exceptions.js';
import type { BatchPlan, RefusedPlan } from '../../core/query/plan.js';
import { refusedPlan } from '../../request/plan/plan-items.js';
import { writeWithPairs, writtenWith } from '../../request/plan/write-with-pairs.js';

/** Throws 400 for more objects than the model allows in one request. */
export function assertItemCount(count: number, { max }: Bulk): void {
  if (count > max) throw InvalidInput.ofNoField(`Ensure this field has no more than ${max} elements.`);
}

/** The message of an item that identifies the row of an earlier one. */
export const REPEATED = 'This object is in the list already.';

/** Rejects two items of one list that identify the same row: the result would depend on their order. */
export function rejectDuplicates<Plan extends { readonly kind: string }>(
  plans: readonly Plan[],
  textOf: (plan: Plan, index: number) => string | undefined,
  where: string,
): readonly (Plan | RefusedPlan)[] {
  const seen = new Set<string>();
  return plans.map((plan, index) => {
    const text = textOf(plan, index);
    if (text === undefined) return plan;
    const isKnown = seen.has(text);
    seen.add(text);
    return isKnown ? refusedPlan(errorsAt(where, REPEATED)) : plan;
  });
}

/** Runs the writes in one transaction. `toError` creates the error of the request from the errors of single writes. */
export async function writeBatch(
  adapter: DataAdapter,
  plan: BatchPlan,
  toError: (rejections: ReadonlyMap<number, BulkStepError>) => Error,
): Promise<readonly Row[]> {
  if (plan.steps.length === 0) return [];
  try {
    return await writeWithPairs(writtenWith(plan), () => adapter.writeAll(plan));
  } catch (error) {
    throw error instanceof BulkWriteError ? toError(error.rejections) : error;
  }
}

/** The error of a list, with the errors of each item. */
export function itemErrors(
  rejections: ReadonlyMap<number, BulkStepError>,
  count: number,
  missing: (index: number) => FieldErrors = () => errorsAt(NON_FIELD_ERRORS, 'Not found.'),
): InvalidItems {
  return new InvalidItems(
    Array.from({ length: count }, (_, index) => {
      const rejection = rejections.get(index);
      return rejection === 'missing' ? missing(index) : (rejection ?? emptyFieldErrors());
    }),
  );
}

/** The messages of one field. */
export function errorsAt(name: string, ...messages: string[]): FieldErrors {
  const errors = emptyFieldErrors();
  errors[name] = messages;
  return errors;
}
