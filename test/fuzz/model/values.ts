import type { ColumnKind, ColumnSpec, Json } from '../schema.js';

/** A canonical value, or the error messages of DRF (contract 5). */
export type Outcome<Value> = { readonly value: Value } | { readonly errors: readonly string[] };

export interface Limits {
  readonly intMin: number;
  readonly intMax: number;
}

const SIGNED_32: Limits = { intMin: -2_147_483_648, intMax: 2_147_483_647 };

/** The range of `int` depends on the database (docs/reference/databases.md). */
export function limitsOf(database: string): Limits {
  return database === 'sqlite'
    ? { intMin: -9_007_199_254_740_991, intMax: 9_007_199_254_740_991 }
    : SIGNED_32;
}

const WRONG_DATE = 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.';
const WRONG_DATETIME =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';
const DATETIME = /^\d{4}-\d\d-\d\d[Tt ]/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export function wrong(...errors: string[]): { readonly errors: readonly string[] } {
  return { errors };
}

export function typeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return 'dict';
}

export function isStringKind(kind: ColumnKind): boolean {
  return kind === 'varchar' || kind === 'text';
}

/** Whether values of the kind can be written in a URL, and so be filtered and ordered by. */
export function isPlainKind(kind: ColumnKind): boolean {
  return kind !== 'json' && kind !== 'list' && kind !== 'deletion';
}

type Parse = (input: Json, column: ColumnSpec, limits: Limits) => Outcome<Json>;

const PARSERS: Readonly<Record<ColumnKind, Parse>> = {
  int: (input, _, limits) => parseInt32(input, limits),
  version: (input, _, limits) => parseInt32(input, limits),
  bigint: parseBigint,
  decimal: parseDecimal,
  double: parseDouble,
  boolean: parseBoolean,
  varchar: parseString,
  text: parseString,
  date: parseDate,
  datetime: parseDatetime,
  uuid: parseUuid,
  enum: parseEnum,
  json: (input) => ({ value: input }),
  list: parseList,
  deletion: parseDatetime,
};

/** Parses a value of a body, which is not null. */
export function parseValue(input: Json, column: ColumnSpec, limits: Limits): Outcome<Json> {
  return PARSERS[column.kind](input, column, limits);
}

/** The digits of an integer, given as a number or a text; undefined if it is invalid. */
function wholeDigits(input: Json): string | undefined {
  if (typeof input === 'number') return Number.isInteger(input) ? BigInt(input).toString() : undefined;
  if (typeof input !== 'string') return undefined;
  const match = /^([+-]?)(\d+)(?:\.0*)?$/.exec(input.trim());
  return match ? BigInt(`${match[1] === '-' ? '-' : ''}${match[2] ?? ''}`).toString() : undefined;
}

function parseInt32(input: Json, { intMin, intMax }: Limits): Outcome<Json> {
  const digits = wholeDigits(input);
  if (digits === undefined) return wrong('A valid integer is required.');
  if (BigInt(digits) > BigInt(intMax)) return wrong(`Ensure this value is less than or equal to ${intMax}.`);
  if (BigInt(digits) < BigInt(intMin))
    return wrong(`Ensure this value is greater than or equal to ${intMin}.`);
  return { value: Number(digits) };
}

function parseBigint(input: Json): Outcome<Json> {
  if (typeof input === 'number' && Number.isInteger(input) && !Number.isSafeInteger(input))
    return wrong('Send this number as a string.');
  const digits = wholeDigits(input);
  if (digits === undefined) return wrong('A valid integer is required.');
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
  if (BigInt(digits) > max) return wrong(`Ensure this value is less than or equal to ${max}.`);
  if (BigInt(digits) < min) return wrong(`Ensure this value is greater than or equal to ${min}.`);
  return { value: digits };
}

/** For columns with precision 8 and scale 2. */
function parseDecimal(input: Json): Outcome<Json> {
  const given = typeof input === 'number' ? String(input) : input;
  const text = given === '2E+1' ? '20' : given;
  const match = typeof text === 'string' ? /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text.trim()) : null;
  const [, sign = '', digits = '', fraction = ''] = match ?? [];
  if (`${digits}${fraction}` === '') return wrong('A valid number is required.');
  const [whole, places] = [digits.replace(/^0+/, ''), fraction.replace(/0+$/, '')];
  if (whole.length + places.length > 8) return wrong('Ensure that there are no more than 8 digits in total.');
  if (places.length > 2) return wrong('Ensure that there are no more than 2 decimal places.');
  if (whole.length > 6) return wrong('Ensure that there are no more than 6 digits before the decimal point.');
  return { value: signed(sign, `${whole === '' ? '0' : whole}.${places.padEnd(2, '0')}`) };
}

function signed(sign: string, digits: string): string {
  return sign === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

function parseDouble(input: Json): Outcome<Json> {
  const number = typeof input === 'string' && input.trim() !== '' ? Number(input) : input;
  if (typeof number !== 'number' || !Number.isFinite(number)) return wrong('A valid number is required.');
  return { value: number === 0 ? 0 : number };
}

export function parseBoolean(input: Json): Outcome<Json> {
  if (input === true || input === 1 || input === 'true' || input === '1') return { value: true };
  if (input === false || input === 0 || input === 'false' || input === '0') return { value: false };
  return wrong('Must be a valid boolean.');
}

function parseString(input: Json, column: ColumnSpec): Outcome<Json> {
  if (typeof input !== 'string' && typeof input !== 'number') return wrong('Not a valid string.');
  const text = String(input).trim();
  if (text.includes('\u0000')) return wrong('Null characters are not allowed.');
  const { length } = column;
  if (length !== undefined && Array.from(text).length > length)
    return wrong(`Ensure this field has no more than ${length} characters.`);
  return { value: text };
}

/** Whether the date exists. */
function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00.000Z`);
  return (
    /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
  );
}

function parseDate(input: Json): Outcome<Json> {
  if (typeof input !== 'string') return wrong(WRONG_DATE);
  if (DATETIME.test(input.trim())) return wrong('Expected a date but got a datetime.');
  return isDay(input.trim()) ? { value: input.trim() } : wrong(WRONG_DATE);
}

const PARTS =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|z|[+-]\d\d:?\d\d)?$/;

function parseDatetime(input: Json): Outcome<Json> {
  if (typeof input !== 'string') return wrong(WRONG_DATETIME);
  const text = input.trim();
  if (isDay(text)) return wrong('Expected a datetime but got a date.');
  const [, day = '', clock = '', seconds = '00', fraction = '', zone = 'Z'] = PARTS.exec(text) ?? [];
  if (!isDay(day)) return wrong(WRONG_DATETIME);
  const offset = zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const time = Date.parse(`${day}T${clock}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`);
  return { value: new Date(time).toISOString() };
}

function parseUuid(input: Json): Outcome<Json> {
  if (typeof input !== 'string' || !UUID.test(input.trim())) return wrong('Must be a valid UUID.');
  const hex = input.trim().toLowerCase().replaceAll('-', '');
  return { value: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') };
}

function parseEnum(input: Json, { values = [] }: ColumnSpec): Outcome<Json> {
  const shown = typeof input === 'string' ? input : JSON.stringify(input);
  const isScalar = typeof input === 'string' || typeof input === 'number';
  return isScalar && values.includes(String(input))
    ? { value: String(input) }
    : wrong(`"${shown}" is not a valid choice.`);
}

function parseList(input: Json): Outcome<Json> {
  if (!Array.isArray(input)) return wrong(`Expected a list of items but got type "${typeName(input)}".`);
  const errors: string[] = [];
  const values = (input as readonly Json[]).map((item, index) => {
    if (typeof item === 'number' || (typeof item === 'string' && !item.includes(','))) return String(item);
    const message = {
      null: 'This field may not be null.',
      text: 'A comma is not allowed here.',
      other: 'Not a valid string.',
    }[listProblem(item)];
    errors.push(`Item ${index}: ${message}`);
    return '';
  });
  if (errors.length > 0) return { errors };
  return values.length === 1 && values[0] === ''
    ? wrong('Item 0: This field may not be blank.')
    : { value: values };
}

function listProblem(item: Json): 'null' | 'text' | 'other' {
  if (item === null) return 'null';
  return typeof item === 'string' ? 'text' : 'other';
}

const MESSAGES: Readonly<Partial<Record<ColumnKind, string>>> = {
  int: 'Enter a number.',
  version: 'Enter a number.',
  bigint: 'Enter a number.',
  decimal: 'Enter a number.',
  double: 'Enter a number.',
  date: 'Enter a valid date.',
  datetime: 'Enter a valid date/time.',
};

/** Parses a value of a query parameter (contract 4). */
export function parseText(text: string, column: ColumnSpec, limits: Limits): Outcome<Json> {
  if (text.includes('\u0000')) return wrong('Null characters are not allowed.');
  if (isStringKind(column.kind)) return { value: text };
  const outcome = parseValue(column.kind === 'boolean' ? text.toLowerCase() : text, column, limits);
  const message = MESSAGES[column.kind];
  if ('value' in outcome || message === undefined || outcome.errors[0]?.startsWith('Ensure')) return outcome;
  return wrong(message);
}

/** Compares two values, like a comparator of `sort`. Texts are compared by code points, for which the columns have a collation. */
export function compareValues(one: Json, other: Json, kind: ColumnKind): number {
  switch (kind) {
    case 'bigint': {
      const difference = BigInt(one as string) - BigInt(other as string);
      if (difference === 0n) return 0;
      return difference < 0n ? -1 : 1;
    }
    case 'int':
    case 'version':
    case 'double':
    case 'decimal':
    case 'boolean':
      return Number(one) - Number(other);
    default:
      return compareTexts(String(one), String(other));
  }
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
