import { addErrors, emptyFieldErrors, errorAt } from '../errors/rest-exception.js';
import type { FieldErrors, Json } from '../errors/rest-exception.js';
import type { FieldValues, DuplicateReference } from '../query/plan.js';
import type { ToOneRelation } from '../schema/relation.js';
import { parseValue } from './parse-value.js';

/** The value at a path of a body, in embedded objects too; undefined if absent. */
export function valueAt(values: FieldValues, [name = '', ...rest]: readonly string[]): unknown {
  const value = values.get(name);
  return rest.length === 0 ? value : valueAt(toFieldValues(value), rest);
}

export function withoutValue(values: FieldValues, [name = '', ...rest]: readonly string[]): FieldValues {
  const left = new Map(values);
  if (rest.length === 0) left.delete(name);
  else left.set(name, Object.fromEntries(withoutValue(toFieldValues(values.get(name)), rest)));
  return left;
}

/** The members of an embedded object. */
export function toFieldValues(value: unknown): FieldValues {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

/** Whether a value of the plain column equals this key of the related model, whose type may differ. */
export function isKeyOf([key]: readonly Json[], value: Json, { on: [pair] }: ToOneRelation): boolean {
  const outcome = pair && parseValue(value, pair.referencedColumn.type);
  return outcome?.errors === undefined && outcome?.value === key;
}

/** The errors of two references to different rows. Both fields get one, because either may be wrong. */
export function contradiction({ byRelation, byColumn }: DuplicateReference): FieldErrors {
  const errors = emptyFieldErrors();
  for (const [one, other] of [
    [byRelation.path, byColumn.path],
    [byColumn.path, byRelation.path],
  ] as const)
    addErrors(errors, errorAt(one, `This field and "${other.at(-1) ?? ''}" name different objects.`));
  return errors;
}
