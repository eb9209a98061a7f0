import { VALUE_NAMES } from '../schema/field-type.js';
import type { FieldType, ValueName } from '../schema/field-type.js';
import type { DataType } from '../schema/data-type.js';

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
