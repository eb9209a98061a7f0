import type { Key } from '../core/schema/resource-schema.js';
import type { TypeOf, DataType } from '../core/schema/data-type.js';
import type { Schema } from './open-api-types.js';
import {
  base64Length,
  bigintBody,
  compositeKey,
  decimalBody,
  INTERVAL,
  shownDecimal,
} from './value-patterns.js';

/** A value in its canonical form (contract 2.4): what answers hold, and what requests do best to send. */
export function valueSchema(type: DataType): Schema {
  switch (type.kind) {
    case 'integer':
      return { type: 'integer', ...integerBounds(type) };
    case 'bigint':
      return { type: 'string', format: 'int64', pattern: '^-?\\d+$' };
    case 'decimal':
      return {
        type: 'string',
        format: 'decimal',
        pattern: shownDecimal(type),
      };
    case 'float':
      return {
        type: 'number',
        format: type.single === true ? 'float' : 'double',
        ...(type.unsigned === true ? { minimum: 0 } : {}),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'string':
      return { type: 'string', ...(type.maxLength === undefined ? {} : { maxLength: type.maxLength }) };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'time':
      return { type: 'string', format: 'time-local', pattern: '^\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,6})?$' };
    case 'datetime':
      return { type: 'string', format: 'date-time' };
    case 'interval':
      return { type: 'string', pattern: INTERVAL, description: 'A duration of ISO 8601.' };
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    case 'enum':
      return { ...typeOfAll(type.values), enum: type.values };
    case 'set':
      return { type: 'array', items: { type: 'string', enum: type.values }, uniqueItems: true };
    case 'json':
      return { description: 'Any JSON value.' };
    case 'list':
      return { type: 'array', items: valueSchema(type.of) };
    case 'binary':
      return { type: 'string', contentEncoding: 'base64', ...base64Length(type) };
    default:
      return type satisfies never;
  }
}

/** A value of a body: beside the canonical form a number for what is kept as text, and no blank where none is allowed (contract 5.6). */
export function bodySchema(type: DataType, blank: boolean): Schema {
  const schema = valueSchema(type);
  switch (type.kind) {
    case 'bigint':
      return { ...schema, ...bigintBody(type) };
    case 'decimal':
      return { ...schema, ...decimalBody(type) };
    case 'json':
      return { ...schema, type: ['string', 'number', 'boolean', 'array', 'object'] };
    case 'list':
      return { ...schema, ...listBody(type) };
    case 'string':
      return blank ? schema : { ...schema, minLength: 1, ...(type.trim ? { pattern: '\\S' } : {}) };
    default:
      return schema;
  }
}

/** A number that is kept as text, as a parameter has it: with the digits that a body may have. */
export function textSchema(type: TypeOf<'decimal' | 'bigint'>): Schema {
  const { pattern } = bodySchema(type, false);
  return { ...valueSchema(type), pattern };
}

/** A list that is kept as one text: an item has no comma, and a lone one is not blank. */
function listBody({ of, storage }: TypeOf<'list'>): Schema {
  const items = bodySchema(of, true);
  if (storage !== 'text' || of.kind !== 'string') return { items };
  const blank = { maxItems: 1, minItems: 1, items: { pattern: of.trim ? '^\\s*$' : '^$' } };
  return { items: { ...items, pattern: '^[^,]*$' }, not: blank };
}

export function nullable(schema: Schema): Schema {
  const { type, enum: values } = schema;
  if (type === undefined && values === undefined) return schema;
  const types = Array.isArray(type) ? (type as readonly unknown[]) : [type];
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [...types, 'null'] }),
    ...(Array.isArray(values) ? { enum: [...(values as readonly unknown[]), null] } : {}),
  };
}

/** A key in a body or an answer: a composite one is one text (contract 1.4). */
export function keySchema(key: Pick<Key, 'columns'>): Schema {
  const [first, ...others] = key.columns;
  return first && others.length === 0
    ? valueSchema(first.type)
    : { type: 'string', pattern: compositeKey(key) };
}

/** A related key in a body: a blank one is none. */
export function givenKeySchema(key: Pick<Key, 'columns'>): Schema {
  const schema = keySchema(key);
  return schema.type === 'string' && schema.format === undefined ? { ...schema, minLength: 1 } : schema;
}

/** The same in a URL, before it is percent-encoded there. */
export function pathKeySchema(key: Pick<Key, 'columns'>): Schema {
  return key.columns.length === 1 ? keySchema(key) : { type: 'string' };
}

/** A value that the schema admits, for people to look at. `name` is what texts say. */
export function exampleValue(type: DataType, name: string): unknown {
  switch (type.kind) {
    case 'integer':
      return Math.max(type.min, Math.min(1, type.max));
    case 'bigint':
      return '1';
    case 'decimal':
      return type.scale === 0 || (type.scale === undefined && type.precision !== undefined)
        ? '1'
        : (1.5).toFixed(Math.min(type.scale ?? 1, 20));
    case 'float':
      return 1.5;
    case 'boolean':
      return true;
    case 'string':
      return name.slice(0, type.maxLength ?? name.length);
    case 'date':
      return '2022-10-02';
    case 'time':
      return '09:23:28';
    case 'datetime':
      return `2022-10-02T09:23:28.${'297000'.slice(0, type.digits)}Z`;
    case 'interval':
      return 'P1DT2H';
    case 'uuid':
      return '6f1f1d3c-3c5a-4a0c-9a63-7f5f0f8f2c11';
    case 'enum':
      return type.values[0];
    case 'set':
      return type.values.slice(0, 1);
    case 'json':
      return {};
    case 'list':
      return [exampleValue(type.of, name)];
    case 'binary':
      return Buffer.from(name).subarray(0, type.maxLength).toString('base64');
    default:
      return type satisfies never;
  }
}

export function exampleKey({ columns }: Pick<Key, 'columns'>): unknown {
  const values = columns.map(({ type }) => exampleValue(type, 'key'));
  return values.length === 1 ? values[0] : values.map((value) => encodeURIComponent(String(value))).join(',');
}

/** What JSON keeps exactly needs no word. */
function integerBounds({ min, max }: TypeOf<'integer'>): Schema {
  if (min === Number.MIN_SAFE_INTEGER && max === Number.MAX_SAFE_INTEGER) return { format: 'int64' };
  return { format: min >= -(2 ** 31) && max < 2 ** 31 ? 'int32' : 'int64', minimum: min, maximum: max };
}

function typeOfAll(values: readonly (string | number)[]): Schema {
  if (values.every((value) => typeof value === 'string')) return { type: 'string' };
  return values.every((value) => typeof value === 'number')
    ? { type: values.every(Number.isInteger) ? 'integer' : 'number' }
    : {};
}
