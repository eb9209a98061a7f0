import { emptyFieldErrors } from '../errors/rest-exception.js';
import type { FieldErrors } from '../errors/rest-exception.js';
import type { FieldValues } from '../query/plan.js';
import { isJson, isNested } from '../schema/field.js';
import type { Field } from '../schema/field.js';
import { toFieldValues } from './duplicate-references.js';
import { copyOf, exactMember, ExactNumber, setMember } from './exact-numbers.js';

type Members = Readonly<Record<string, unknown>>;

/**
 * The values of a merge patch, in which objects for JSON columns are merged into the stored ones.
 * @param stored the JSON of columns by their ids; others are replaced.
 */
export function mergeIntoStored(
  values: FieldValues,
  fields: readonly Field[],
  stored: ReadonlyMap<string, unknown>,
): FieldValues {
  const merged = new Map(values);
  for (const field of fields) {
    const { name } = field;
    if (!values.has(name)) continue;
    const value = values.get(name);
    if (field.kind === 'embedded' && isObject(value)) {
      const copy = copyOf(value, { ...value });
      for (const [inner, each] of mergeIntoStored(toFieldValues(value), field.fields, stored))
        setMember(copy, inner, each);
      merged.set(name, copy);
    } else if (field.kind === 'column' && isJson(field) && stored.has(field.column.id))
      merged.set(name, mergePatch(stored.get(field.column.id), value));
  }
  return merged;
}

const UNMERGEABLE = 'This field cannot be merged. Send its whole value in a PATCH of application/json.';

/** An error for each object for a JSON column with a transformer: what is stored is not what clients see. */
export function unmergeableErrors(values: FieldValues, fields: readonly Field[]): FieldErrors {
  const errors = emptyFieldErrors();
  for (const field of fields) {
    const value = values.get(field.name);
    if (!isObject(value)) continue;
    if (field.kind === 'embedded') {
      const inner = unmergeableErrors(toFieldValues(value), field.fields);
      if (Object.keys(inner).length > 0) errors[field.name] = inner;
    } else if (
      field.kind === 'keys' ||
      isNested(field) ||
      (field.kind === 'column' && field.column.type.kind === 'json' && !isJson(field))
    )
      errors[field.name] = [UNMERGEABLE];
  }
  return errors;
}

/** RFC 7396. Numbers keep their texts. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: object = isObject(target) ? copyOf(target, { ...target }) : {};
  for (const name of Object.keys(patch)) {
    const value = exactMember(patch, name);
    if (value === null) Reflect.deleteProperty(merged, name);
    else
      setOwnMember(
        merged,
        name,
        mergePatch(Object.hasOwn(merged, name) ? exactMember(merged, name) : undefined, value),
      );
  }
  return merged;
}

/** An assignment to `__proto__` would replace the prototype. */
function setOwnMember(holder: object, name: string, value: unknown): void {
  if (!Object.hasOwn(holder, name))
    Object.defineProperty(holder, name, {
      value: null,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  if (name === '__proto__') Object.defineProperty(holder, name, { value });
  else setMember(holder, name, value);
}

function isObject(value: unknown): value is Members {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}
