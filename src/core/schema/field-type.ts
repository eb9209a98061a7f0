/** One value of a field, as `type` of `@Restify` names it. */
export const VALUE_NAMES = [
  'string',
  'number',
  'integer',
  'boolean',
  'date',
  'datetime',
  'uuid',
  'json',
] as const;

export type ValueName = (typeof VALUE_NAMES)[number];

/** What the values of a field are: one, or with `[]` a list of them. */
export type FieldType = ValueName | `${ValueName}[]`;

export const FIELD_TYPES: readonly string[] = VALUE_NAMES.flatMap((name) => [name, `${name}[]`]);
