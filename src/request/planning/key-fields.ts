import { InvalidInput } from '../../errors/request-errors.js';
import { emptyFieldErrors } from '../../errors/rest-error.js';
import type { Json } from '../../errors/rest-error.js';
import type { Field } from '../../model/field.js';
import type { Key, Resource } from '../../model/resource.js';
import { parseKeyValue } from '../../values/keys.js';

/** A field by which an object of a list says which one it is. */
export interface KeyField {
  readonly name: string;
  readonly key: Key;
}

/** The fields that hold the key: `id`, or one for each of its columns. Empty where they are not shown. */
export function keyFieldsOf({ key, fields }: Resource): readonly KeyField[] {
  const whole = fields.find((field) => field.name === 'id' && isWhole(field, key));
  if (whole) return [{ name: whole.name, key }];
  const found = key.columns.flatMap((column): readonly KeyField[] => {
    const field = fields.find((each) => each.readable && isOf(each, column.id));
    return field ? [{ name: field.name, key: { columns: [column] } }] : [];
  });
  return found.length === key.columns.length ? found : [];
}

/** Of a pair, whose key is its other side. */
function isWhole(field: Field, key: Key): boolean {
  if (!field.readable) return false;
  if (field.kind === 'to-one') return key.via !== undefined || (key.columns.length > 1 && field.relation.on.every(({ near }) => key.columns.some(({ id }) => id === near.id)));
  return field.kind === 'column' && key.columns.length === 1 && field.column.id === key.columns[0]?.id;
}

function isOf(field: Field, columnId: string): boolean {
  if (field.kind === 'column') return field.column.id === columnId;
  return field.kind === 'to-one' && field.relation.on.length === 1 && field.relation.on[0]?.near.id === columnId;
}

/** Throws 400 where it names none. */
export function keyOfItem(item: Readonly<Record<string, unknown>>, fields: readonly KeyField[], { label }: Resource): readonly Json[] {
  if (fields.length === 0) throw InvalidInput.ofNoField(`Objects of ${label} cannot be named in a list.`);
  const errors = emptyFieldErrors();
  const values: Json[] = [];
  for (const { name, key } of fields) {
    const given = Object.hasOwn(item, name) ? item[name] : undefined;
    const outcome = given === undefined ? undefined : parseKeyValue(given, key);
    if (outcome === undefined) errors[name] = ['This field is required.'];
    else if (outcome.errors) errors[name] = [...outcome.errors];
    else values.push(...outcome.value);
  }
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
  return values;
}
