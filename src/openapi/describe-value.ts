import type { DataKind, DataType, TypeOf } from '../core/schema/data-type.js';
import type { Key } from '../core/schema/resource-schema.js';
import type { Schema } from './open-api-types.js';

/** The maximum number of digits that every integer of 64 bits can have. */
const SURE_DIGITS = 18;

/** A duration of ISO 8601 with at least one part, and at least one after a `T`. */
const INTERVAL =
  '^P(?!$)(-?\\d+Y)?(-?\\d+M)?(-?\\d+D)?(T(?=[-\\d])(-?\\d+H)?(-?\\d+M)?(-?\\d+(\\.\\d+)?S)?)?$';

/** A decimal of a response. Databases with limited digits represent a longer number with an exponent, which is not described for bodies. */
function shownDecimal({ unsigned, exact }: TypeOf<'decimal'>): string {
  const exponent = exact === undefined ? '' : '(e[+-]\\d+)?';
  return `^${signOf(unsigned)}\\d+(\\.\\d+)?${exponent}$`;
}

/** A decimal of a body: a text with the digits of the column, or a number that JSON represents exactly. */
function decimalBody(type: TypeOf<'decimal'>): Schema {
  const { precision, scale, unsigned } = type;
  const places = decimalPlaces(type);
  const largest =
    precision === undefined || places === undefined
      ? Number.MAX_SAFE_INTEGER
      : Math.min(Number(`${'9'.repeat(precision - places)}.${'9'.repeat(places)}`), Number.MAX_SAFE_INTEGER);
  return {
    type: ['string', (scale ?? places) === 0 ? 'integer' : 'number'],
    pattern: `^${signOf(unsigned)}${digitsOf(type, places)}$`,
    minimum: unsigned === true ? 0 : -largest,
    maximum: largest,
  };
}

function decimalPlaces({ precision, scale }: TypeOf<'decimal'>): number | undefined {
  return scale ?? (precision === undefined ? undefined : 0);
}

function digitsOf({ precision, exact }: TypeOf<'decimal'>, places: number | undefined): string {
  const whole = precision === undefined || places === undefined ? Infinity : precision - places;
  const fraction = places === 0 ? '' : `\\.\\d${places === undefined ? '+' : `{1,${places}}`}`;
  if (exact === undefined) return wholeDigits(whole) + (fraction === '' ? '' : `(${fraction})?`);
  const integer = wholeDigits(Math.min(whole, SURE_DIGITS));
  // The total digits that the database stores of a number with a fraction.
  return fraction === ''
    ? integer
    : `(${integer}|(?!(\\D*\\d){${exact + 1}})${wholeDigits(Math.min(whole, exact))}${fraction})`;
}

function wholeDigits(most: number): string {
  if (most === Infinity) return '\\d+';
  return most === 0 ? '0' : `\\d{1,${most}}`;
}

/** An integer of 64 bits in a body: a text, or a number that JSON represents exactly. */
function bigintBody({ min, max }: TypeOf<'bigint'>): Schema {
  const digits = Math.max(String(max).length, String(-min).length);
  return {
    type: ['string', 'integer'],
    pattern: `^${signOf(min >= 0n)}\\d{1,${digits}}$`,
    minimum: Math.max(Number(min), Number.MIN_SAFE_INTEGER),
    maximum: Math.min(Number(max), Number.MAX_SAFE_INTEGER),
  };
}

function signOf(unsigned: boolean | undefined): string {
  return unsigned === true ? '' : '-?';
}

/** The length of base64: four characters for three bytes, padded with `=`. */
function base64Length({ minLength, maxLength }: TypeOf<'binary'>): Schema {
  const rules = [
    ...(minLength === undefined ? [] : [tooFew(minLength)]),
    ...(maxLength === undefined ? [] : [tooMany(maxLength)]),
  ].filter((rule) => rule !== '');
  return {
    ...(minLength === undefined ? {} : { minLength: base64Characters(minLength) }),
    ...(maxLength === undefined ? {} : { maxLength: base64Characters(maxLength) }),
    ...(rules.length === 0 ? {} : { pattern: `^${rules.join('')}` }),
  };
}

function base64Characters(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Base64 of the same length can have one or two bytes less. */
function tooFew(bytes: number): string {
  if (bytes === 0 || bytes % 3 === 1) return '';
  const padding = bytes % 3 === 0 ? '=' : '==';
  return `(?!.{${base64Characters(bytes) - padding.length}}${padding}$)`;
}

/** Base64 of the same length can have one or two bytes more. */
function tooMany(bytes: number): string {
  const free = (3 - (bytes % 3)) % 3;
  return free === 0 ? '' : `(?!.{${base64Characters(bytes) - free}}[^=])`;
}

/** A composite key: percent-encoded values, separated by commas (contract 1.4). */
function compositeKey({ columns }: Pick<Key, 'columns'>): string {
  const parts = columns.map(({ type }) => (type.kind === 'integer' ? '-?\\d+' : '([^,%]|%[0-9A-Fa-f]{2})+'));
  return `^${parts.join(',')}$`;
}

type ByKind<Result> = { readonly [Kind in DataKind]: (type: TypeOf<Kind>) => Result };

const SCHEMAS: ByKind<Schema> = {
  integer: (type) => ({ type: 'integer', ...integerBounds(type) }),
  bigint: () => ({ type: 'string', format: 'int64', pattern: '^-?\\d+$' }),
  decimal: (type) => ({ type: 'string', format: 'decimal', pattern: shownDecimal(type) }),
  float: ({ single, unsigned }) => ({
    type: 'number',
    format: single === true ? 'float' : 'double',
    ...(unsigned === true ? { minimum: 0 } : {}),
  }),
  boolean: () => ({ type: 'boolean' }),
  string: ({ maxLength }) => ({ type: 'string', ...(maxLength === undefined ? {} : { maxLength }) }),
  date: () => ({ type: 'string', format: 'date' }),
  time: () => ({ type: 'string', format: 'time-local', pattern: '^\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,6})?$' }),
  datetime: () => ({ type: 'string', format: 'date-time' }),
  interval: () => ({ type: 'string', pattern: INTERVAL, description: 'A duration of ISO 8601.' }),
  uuid: () => ({ type: 'string', format: 'uuid' }),
  enum: ({ values }) => ({ ...typeOfAll(values), enum: values }),
  set: ({ values }) => ({ type: 'array', items: { type: 'string', enum: values }, uniqueItems: true }),
  json: () => ({ description: 'Any JSON value.' }),
  list: ({ of }) => ({ type: 'array', items: valueSchema(of) }),
  binary: (type) => ({ type: 'string', contentEncoding: 'base64', ...base64Length(type) }),
};

/** A value in its canonical form (contract 2.4), which responses contain and requests should send. */
export function valueSchema(type: DataType): Schema {
  return (SCHEMAS[type.kind] as (type: DataType) => Schema)(type);
}

/** A value of a body: the canonical form, or a number for a value that is stored as text; not blank unless that is allowed (contract 5.6). */
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

/** A number that is represented as text, in a query parameter: with the digits that a body may have. */
export function textSchema(type: TypeOf<'decimal' | 'bigint'>): Schema {
  const { pattern } = bodySchema(type, false);
  return { ...valueSchema(type), pattern };
}

/** A list that is stored as one text: items have no comma, and a single item is not blank. */
function listBody({ of, storage }: TypeOf<'list'>): Schema {
  const items = bodySchema(of, true);
  if (storage !== 'text' || of.kind !== 'string') return { items };
  const blank = { maxItems: 1, minItems: 1, items: { pattern: of.trim ? '^\\s*$' : '^$' } };
  return { items: { ...items, pattern: '^[^,]*$' }, not: blank };
}

export function nullableSchema(schema: Schema): Schema {
  const { type, enum: values } = schema;
  if (type === undefined && values === undefined) return schema;
  const types = Array.isArray(type) ? (type as readonly unknown[]) : [type];
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [...types, 'null'] }),
    ...(Array.isArray(values) ? { enum: [...(values as readonly unknown[]), null] } : {}),
  };
}

/** A key in a body or a response: a composite key is one text (contract 1.4). */
export function keySchema(key: Pick<Key, 'columns'>): Schema {
  const [first, ...others] = key.columns;
  return first && others.length === 0
    ? valueSchema(first.type)
    : { type: 'string', pattern: compositeKey(key) };
}

/** A related key in a body: not blank. */
export function givenKeySchema(key: Pick<Key, 'columns'>): Schema {
  const schema = keySchema(key);
  return schema.type === 'string' && schema.format === undefined ? { ...schema, minLength: 1 } : schema;
}

/** A key in a URL, before percent-encoding. */
export function pathKeySchema(key: Pick<Key, 'columns'>): Schema {
  return key.columns.length === 1 ? keySchema(key) : { type: 'string' };
}

/** Example values; a text is its own name. */
const EXAMPLES: { readonly [Kind in DataKind]: (type: TypeOf<Kind>, name: string) => unknown } = {
  integer: ({ min, max }) => Math.max(min, Math.min(1, max)),
  bigint: () => '1',
  decimal: ({ scale, precision }) =>
    scale === 0 || (scale === undefined && precision !== undefined)
      ? '1'
      : (1.5).toFixed(Math.min(scale ?? 1, 20)),
  float: () => 1.5,
  boolean: () => true,
  string: ({ maxLength }, name) => name.slice(0, maxLength ?? name.length),
  date: () => '2022-10-02',
  time: () => '09:23:28',
  datetime: ({ digits }) => `2022-10-02T09:23:28.${'297000'.slice(0, digits)}Z`,
  interval: () => 'P1DT2H',
  uuid: () => '6f1f1d3c-3c5a-4a0c-9a63-7f5f0f8f2c11',
  enum: ({ values }) => values[0],
  set: ({ values }) => values.slice(0, 1),
  json: () => ({}),
  list: ({ of }, name) => [exampleValue(of, name)],
  binary: ({ maxLength }, name) => Buffer.from(name).subarray(0, maxLength).toString('base64'),
};

/** A value that is valid by the schema, as an example. `name` is the value of texts. */
export function exampleValue(type: DataType, name: string): unknown {
  return (EXAMPLES[type.kind] as (type: DataType, name: string) => unknown)(type, name);
}

export function exampleKey({ columns }: Pick<Key, 'columns'>): unknown {
  const values = columns.map(({ type }) => exampleValue(type, 'key'));
  return values.length === 1 ? values[0] : values.map((value) => encodeURIComponent(String(value))).join(',');
}

/** The bounds of an integer, unless they are those of exact integers in JSON. */
function integerBounds({ min, max, orZero }: TypeOf<'integer'>): Schema {
  if (min === Number.MIN_SAFE_INTEGER && max === Number.MAX_SAFE_INTEGER) return { format: 'int64' };
  return {
    format: min >= -(2 ** 31) && max < 2 ** 31 ? 'int32' : 'int64',
    minimum: orZero === true ? 0 : min,
    maximum: max,
  };
}

function typeOfAll(values: readonly (string | number)[]): Schema {
  if (values.every((value) => typeof value === 'string')) return { type: 'string' };
  return values.every((value) => typeof value === 'number')
    ? { type: values.every(Number.isInteger) ? 'integer' : 'number' }
    : {};
}
