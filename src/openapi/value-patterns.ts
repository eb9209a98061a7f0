import type { Key } from '../core/schema/resource-schema.js';
import type { TypeOf } from '../core/schema/data-type.js';
import type { Schema } from './open-api-types.js';

/** The maximum number of digits that every integer of 64 bits can have. */
const SURE_DIGITS = 18;

/** A duration of ISO 8601 with at least one part, and at least one after a `T`. */
export const INTERVAL =
  '^P(?!$)(-?\\d+Y)?(-?\\d+M)?(-?\\d+D)?(T(?=[-\\d])(-?\\d+H)?(-?\\d+M)?(-?\\d+(\\.\\d+)?S)?)?$';

/** A decimal of a response. Databases with limited digits represent a longer number with an exponent, which is not described for bodies. */
export function shownDecimal({ unsigned, exact }: TypeOf<'decimal'>): string {
  const exponent = exact === undefined ? '' : '(e[+-]\\d+)?';
  return `^${signOf(unsigned)}\\d+(\\.\\d+)?${exponent}$`;
}

/** A decimal of a body: a text with the digits of the column, or a number that JSON represents exactly. */
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

/** The length of base64: four characters for three bytes, padded with `=`. */
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
export function compositeKey({ columns }: Pick<Key, 'columns'>): string {
  const parts = columns.map(({ type }) => (type.kind === 'integer' ? '-?\\d+' : '([^,%]|%[0-9A-Fa-f]{2})+'));
  return `^${parts.join(',')}$`;
}
