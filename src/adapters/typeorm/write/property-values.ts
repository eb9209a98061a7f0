import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { designType } from '../metadata/column-data-type.js';
import { plainValue } from '../../../core/values/exact-numbers.js';
import { plainNumberText } from '../../../core/values/numbers.js';
import { storedBoolean } from '../../../core/values/stored-booleans.js';
import type { TypeOf, DataType } from '../../../core/schema/data-type.js';

/** Converts a canonical value to the value of an entity's property, as TypeORM itself would load it. */
export function toProperty(value: Json, type: DataType, metadata: ColumnMetadata): unknown {
  if (value === null) return null;
  const design = designType(metadata);
  switch (type.kind) {
    case 'datetime':
      return design === String ? value : new Date(String(value));
    case 'date':
      return design === Date ? dateIfExact(String(value), type) : value;
    case 'decimal':
    case 'bigint':
      return toNumeric(value, type, design);
    case 'binary':
      return Buffer.from(String(value), 'base64');
    case 'json':
      return plainValue(value);
    case 'list':
      return type.storage === 'array' ? toItems(value as readonly Json[], type) : value;
    default:
      return value;
  }
}

/** As `toProperty` for the value of a key: TypeORM loads the text of a day, and does not find a row by a Date. */
export function toKeyProperty(value: Json, type: DataType, metadata: ColumnMetadata): unknown {
  return type.kind === 'date' ? value : toProperty(value, type, metadata);
}

function toNumeric(value: Json, type: DataType, design: unknown): unknown {
  if (design === BigInt && type.kind === 'bigint') return BigInt(String(value));
  return design === Number ? numberIfExact(String(value)) : value;
}

/** A number if it represents the value exactly, otherwise the text. */
function numberIfExact(value: string): unknown {
  const number = Number(value);
  const plain = (text: string): string =>
    text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
  return plain(plainNumberText(number)) === plain(value) ? number : value;
}

function toItems(values: readonly Json[], { of }: TypeOf<'list'>): unknown {
  switch (of.kind) {
    case 'datetime':
      return values.map((value) => new Date(String(value)));
    case 'binary':
      return values.map((value) => Buffer.from(String(value), 'base64'));
    default:
      return values;
  }
}

/**
 * Converts the value of an entity's property, possibly replaced by a transformer or a listener, to the canonical value.
 */
export function fromProperty(property: unknown, type: DataType): unknown {
  if (property === null || property === undefined) return null;
  if (type.kind === 'boolean') return storedBoolean(property) ?? property;
  if (property instanceof Date) return fromDate(property, type);
  if (property instanceof Uint8Array) return Buffer.from(property).toString('base64');
  switch (type.kind) {
    case 'list':
      return type.storage === 'array' && Array.isArray(property)
        ? property.map((item) => fromProperty(item, type.of))
        : property;
    case 'string':
      return withoutPadding(property, type);
    case 'bigint':
    case 'decimal':
      return typeof property === 'object' ? property : decimalText(property, type);
    default:
      return typeof property === 'bigint' ? property.toString() : property;
  }
}

function withoutPadding(property: unknown, { padded }: TypeOf<'string'>): unknown {
  if (typeof property !== 'string') return typeof property === 'bigint' ? property.toString() : property;
  if (!padded) return property;
  let end = property.length;
  while (property.charAt(end - 1) === ' ') end--;
  return property.slice(0, end);
}

function decimalText(property: unknown, type: DataType): string {
  const scale = type.kind === 'decimal' ? type.scale : undefined;
  return typeof property === 'number' && scale !== undefined ? property.toFixed(scale) : String(property);
}

function fromDate(date: Date, type: DataType): string | null {
  if (Number.isNaN(date.getTime())) return null;
  if (type.kind === 'date') {
    const [year, month, day] =
      type.utc === true
        ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
        : [date.getFullYear(), date.getMonth(), date.getDate()];
    const two = (value: number): string => String(value).padStart(2, '0');
    return `${String(year).padStart(4, '0')}-${two(month + 1)}-${two(day)}`;
  }
  const digits = type.kind === 'datetime' ? type.digits : 3;
  return `${date
    .toISOString()
    .slice(0, -1)
    .padEnd(20 + digits, '0')}Z`;
}

/** The Date from which TypeORM derives the same day; the text of a day that the time zone of the process has skipped. */
function dateIfExact(text: string, type: TypeOf<'date'>): Date | string {
  const [year = 1, month = 1, day = 1] = text.split('-').map(Number);
  const date = type.utc === true ? new Date(0) : new Date(2000, 0, 1);
  if (type.utc === true) date.setUTCFullYear(year, month - 1, day);
  else date.setFullYear(year, month - 1, day);
  return fromDate(date, type) === text ? date : text;
}
