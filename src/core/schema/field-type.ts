/** The names of value types in the `type` of a field of `@Restify`. */
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

/** The declared type of a field: one value, or with `[]` a list of them. */
export type FieldType = ValueName | `${ValueName}[]`;

export const FIELD_TYPES: readonly string[] = VALUE_NAMES.flatMap((name) => [name, `${name}[]`]);
