import type { DataType } from './data-type.js';

/** The names of value types in the `type` of a field of `@Restify`. */
const VALUE_NAMES = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'uuid', 'json'] as const;

export type ValueName = (typeof VALUE_NAMES)[number];

/** The declared type of a field: one value, or with `[]` a list of them. */
export type FieldType = ValueName | `${ValueName}[]`;

export const FIELD_TYPES: readonly string[] = VALUE_NAMES.flatMap((name) => [name, `${name}[]`]);

const FIELD_DATA_TYPES: Readonly<Record<ValueName, DataType>> = {
  string: { kind: 'string', trim: true },
  number: { kind: 'float' },
  integer: { kind: 'integer', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
  boolean: { kind: 'boolean' },
  date: { kind: 'date' },
  datetime: { kind: 'datetime', digits: 3, zoned: true },
  uuid: { kind: 'uuid' },
  json: { kind: 'json' },
};

/** The data type of a declared field type. Items of a list are not trimmed, as in a simple-array. */
export function typeOfField(type: FieldType): DataType {
  const one = VALUE_NAMES.find((name) => name === type);
  if (one) return FIELD_DATA_TYPES[one];
  const item = VALUE_NAMES.find((name) => `${name}[]` === type) ?? 'json';
  const of: DataType = item === 'string' ? { kind: 'string', trim: false } : FIELD_DATA_TYPES[item];
  return { kind: 'list', of, storage: 'array' };
}
