import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { KeyCheck, RelatedRows, UpdatePlan } from '../../core/query/plan.js';
import { resourceOf } from '../../core/schema/resource.js';
import { toFieldValues, valueAt, withoutValue } from '../../core/values/duplicate-references.js';
import { keyRepresentation } from '../../core/values/keys.js';

/** Reads rows of any model. */
type StoredRows = Pick<RelatedRows, 'read' | 'exists'>;

/** Writes a change; once more without unchanged keys of deleted objects, where these are an error. Throws the errors of a write. */
export async function writeChange(
  plan: UpdatePlan,
  write: (plan: UpdatePlan) => MaybePromise<Row | undefined>,
  adapter: DataAdapter,
): Promise<Row | undefined> {
  try {
    return await write(plan);
  } catch (error) {
    const rest = error instanceof InvalidInput && (await leaveUnchangedKeys(plan, error.fields, adapter));
    if (!rest) throw error;
    return write(rest);
  }
}

/**
 * A change without the keys that the body sends back as they are stored, and whose objects have been deleted since (contract 23.9).
 * Undefined if none of the errors is about such a key.
 */
export async function leaveUnchangedKeys(
  plan: UpdatePlan,
  errors: FieldErrors,
  adapter: StoredRows,
): Promise<UpdatePlan | undefined> {
  const wrong = plan.keys.filter(
    ({ forbidden, path, relation }) =>
      !forbidden && resourceOf(relation.target).trash && valueAt(toFieldValues(errors), path) !== undefined,
  );
  if (wrong.length === 0) return undefined;
  const { resource, where } = plan;
  const row = await adapter.read({ kind: 'retrieve', resource, where, forWriting: true }, 'rows');
  const readable = resource.fields.filter((field) => field.readable);
  const stored = new Map(readable.map(({ name }, index) => [name, row?.values[index]]));
  const left: KeyCheck[] = [];
  for (const check of wrong)
    if (isDeepStrictEqual(valueAt(stored, check.path), keyRepresentation(check.key)))
      if (await isDeleted(check, adapter)) left.push(check);
  if (left.length === 0) return undefined;
  return {
    ...plan,
    keys: plan.keys.filter((check) => !left.includes(check)),
    values: left.reduce((values, { path }) => withoutValue(values, path), plan.values),
  };
}

/** Whether the object of a key is deleted, and would be visible to the caller if it were not. */
async function isDeleted({ relation, where }: KeyCheck, adapter: StoredRows): Promise<boolean> {
  const { trash } = resourceOf(relation.target);
  return trash !== undefined && adapter.exists({ resource: trash.only, where, forWriting: true });
}
