import type { Key } from '../core/schema/resource-schema.js';
import type { TypeOf } from '../core/schema/data-type.js';
import type { Schema } from './open-api-types.js';

/** A whole number of 64 bits has so many digits in any case. */
const SURE_DIGITS = 18;

/** A duration of ISO 8601 with one part or more, and with one behind a `T`. */
export const INTERVAL =
  '^P(?!$)(-?\\d+Y)?(-?\\d+M)?(-?\\d+D)?(T(?=[-\\d])(-?\\d+H)?(-?\\d+M)?(-?\\d+(\\.\\d+)?S)?)?$';

/** A decimal of an answer. A database that keeps so many digits only shows a longer number with an exponent, which no body may have. */
export function shownDecimal({ unsigned, exact }: TypeOf<'decimal'>): string {
  const exponent = exact === undefined ? '' : '(e[+-]\\d+)?';
  return `^${signOf(unsigned)}\\d+(\\.\\d+)?${exponent}$`;
}

/** A decimal of a body: a text with the digits that the column has, or a number of these that JSON carries exactly. */
export function decimalBody(type: TypeOf<'decimal'>): Schema {
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
  // Of numbers with a fraction the database keeps so many digits in all.
  return fraction === ''
    ? integer
    : `(${integer}|(?!(\\D*\\d){${exact + 1}})${wholeDigits(Math.min(whole, exact))}${fraction})`;
}

function wholeDigits(most: number): string {
  if (most === Infinity) return '\\d+';
  return most === 0 ? '0' : `\\d{1,${most}}`;
}

/** A whole number of 64 bits in a body: a text, or a number that JSON carries exactly. */
export function bigintBody({ min, max }: TypeOf<'bigint'>): Schema {
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

/** The length of base64: of bytes, three are four characters, and the last ones are `=` where they are fewer. */
export function base64Length({ minLength, maxLength }: TypeOf<'binary'>): Schema {
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

/** Base64 of the same length can hold one byte or two less. */
function tooFew(bytes: number): string {
  if (bytes === 0 || bytes % 3 === 1) return '';
  const padding = bytes % 3 === 0 ? '=' : '==';
  return `(?!.{${base64Characters(bytes) - padding.length}}${padding}$)`;
}

/** Base64 of the same length can hold one byte or two more. */
function tooMany(bytes: number): string {
  const free = (3 - (bytes % 3)) % 3;
  return free === 0 ? '' : `(?!.{${base64Characters(bytes) - free}}[^=])`;
}

/** A key of several columns: each value percent-encoded, with commas between them (contract 1.4). */
export function compositeKey({ columns }: Pick<Key, 'columns'>): string {
  const parts = columns.map(({ type }) => (type.kind === 'integer' ? '-?\\d+' : '([^,%]|%[0-9A-Fa-f]{2})+'));
  return `^${parts.join(',')}$`;
}
