import { addErrors, emptyFieldErrors, errorAt } from '../errors/rest-exception.js';
import type { FieldErrors, Json } from '../errors/rest-exception.js';
import type { FieldValues, NamedTwice } from '../query/plan.js';
import type { ToOneRelation } from '../schema/relation.js';
import { parseValue } from './parse-value.js';

/** The value at this place of a body, in embedded objects too; undefined where it says nothing. */
export function valueAt(values: FieldValues, [name = '', ...rest]: readonly string[]): unknown {
  const value = values.get(name);
  return rest.length === 0 ? value : valueAt(membersOf(value), rest);
}

export function withoutValue(values: FieldValues, [name = '', ...rest]: readonly string[]): FieldValues {
  const left = new Map(values);
  if (rest.length === 0) left.delete(name);
  else left.set(name, Object.fromEntries(withoutValue(membersOf(values.get(name)), rest)));
  return left;
}

function membersOf(value: unknown): FieldValues {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

/** Whether a value of the plain column is this key of the related model. Its type may be another than that of the key. */
export function isKeyOf([key]: readonly Json[], value: Json, { on: [pair] }: ToOneRelation): boolean {
  const outcome = pair && parseValue(value, pair.far.type);
  return outcome?.errors === undefined && outcome?.value === key;
}

/** Both names are wrong: nobody knows which one is meant. */
export function contradiction({ byRelation, byColumn }: NamedTwice): FieldErrors {
  const errors = emptyFieldErrors();
  for (const [one, other] of [
    [byRelation.path, byColumn.path],
    [byColumn.path, byRelation.path],
  ] as const)
    addErrors(errors, errorAt(one, `This field and "${other.at(-1) ?? ''}" name different objects.`));
  return errors;
}
