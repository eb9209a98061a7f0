import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors, errorAt } from '../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../core/errors/rest-exception.js';
import type { Field } from '../../core/schema/field.js';
import type { Key, ResourceSchema } from '../../core/schema/resource-schema.js';
import { parseKeyValue } from '../../core/values/keys.js';

/** A field that identifies an object of a list. */
export interface KeyField {
  readonly name: string;
  readonly key: Key;
}

/** The fields of the key: `id`, or one for each of its columns. Empty if they are not readable. */
export function keyFieldsOf({ key, fields }: ResourceSchema): readonly KeyField[] {
  const whole = fields.find((field) => field.name === 'id' && hasWholeKey(field, key));
  if (whole) return [{ name: whole.name, key }];
  const found = key.columns.flatMap((column): readonly KeyField[] => {
    const field = fields.find((each) => each.readable && isOf(each, column.id));
    return field ? [{ name: field.name, key: { columns: [column] } }] : [];
  });
  return found.length === key.columns.length ? found : [];
}

/** True if the field contains the whole key: its only column, or a relation, as in through objects. */
function hasWholeKey(field: Field, key: Key): boolean {
  if (!field.readable) return false;
  if (field.kind === 'to-one')
    return (
      key.via !== undefined ||
      (key.columns.length > 1 &&
        field.relation.on.every(({ localColumn }) => key.columns.some(({ id }) => id === localColumn.id)))
    );
  return field.kind === 'column' && key.columns.length === 1 && field.column.id === key.columns[0]?.id;
}

function isOf(field: Field, columnId: string): boolean {
  if (field.kind === 'column') return field.column.id === columnId;
  return (
    field.kind === 'to-one' &&
    field.relation.on.length === 1 &&
    field.relation.on[0]?.localColumn.id === columnId
  );
}

/** Dot segments, which URL parsers resolve as path navigation, also percent-encoded. */
const DOTS: readonly unknown[] = ['.', '..'];

/** The error of a key chosen by the client that no URL could address. */
export function unaddressableKeyErrors(
  values: ReadonlyMap<string, unknown>,
  { key, fields }: ResourceSchema,
): FieldErrors | undefined {
  const [column, ...more] = key.columns;
  const path = column && more.length === 0 && !key.via ? pathOfDots(values, fields, column.id) : undefined;
  return path && errorAt(path, 'A key cannot be "." or "..": no URL would lead to it.');
}

function pathOfDots(
  values: ReadonlyMap<string, unknown>,
  fields: readonly Field[],
  columnId: string,
): readonly string[] | undefined {
  for (const field of fields) {
    const value = values.get(field.name);
    if (field.kind === 'column' && field.column.id === columnId)
      return DOTS.includes(value) ? [field.name] : undefined;
    if (field.kind !== 'embedded' || typeof value !== 'object' || value === null) continue;
    const inner = pathOfDots(new Map(Object.entries(value)), field.fields, columnId);
    if (inner) return [field.name, ...inner];
  }
  return undefined;
}

/** Throws 400 if the item has no key. */
export function keyOfItem(
  item: Readonly<Record<string, unknown>>,
  fields: readonly KeyField[],
  { className }: ResourceSchema,
): readonly Json[] {
  if (fields.length === 0) throw InvalidInput.ofNoField(`Objects of ${className} cannot be named in a list.`);
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
