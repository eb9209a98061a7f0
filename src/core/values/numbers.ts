import { NUMBER_TEXT } from '../schema/limits.js';
import type { TypeOf } from '../schema/data-type.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';

const PLAIN_INTEGER = /^(?:0|[1-9]\d{0,14})$/;
const INTEGER_TEXT = /^[+-]?\d{1,1000}(?:\.0{1,20})?$/;

const TOO_LONG = 'String value too large.';
const DECIMAL_TEXT = /^([+-]?)(\d{0,400})(?:\.(\d{0,400}))?$/;
const SCIENTIFIC_TEXT = /^([+-]?)(?=\.?\d)(\d{0,400})(?:\.(\d{0,400}))?[eE]([+-]?\d{1,3})$/;
const FLOAT_TEXT = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?$/;

/** Decimal digits that a JSON number is guaranteed to preserve (contract 5.6). */
const SAFE_DIGITS = 15;
const NEGATIVE = 'Ensure this value is greater than or equal to 0.';
const SEND_AS_STRING = 'Send this number as a string.';

export function parseInteger(input: unknown, type: TypeOf<'integer'>): Outcome<number> {
  // Fast path for keys and most filters.
  if (typeof input === 'string' && PLAIN_INTEGER.test(input)) return bounded(Number(input), type);
  if (isTooLong(input)) return invalid(TOO_LONG);
  const whole = toBigInt(input);
  if (whole === undefined) return invalid('A valid integer is required.');
  return bounded(whole, type);
}

function bounded(whole: number | bigint, { min, max, orZero }: TypeOf<'integer'>): Outcome<number> {
  if (orZero === true && Number(whole) === 0) return valid(0);
  if (whole > max) return invalid(`Ensure this value is less than or equal to ${max}.`);
  if (whole < min) return invalid(`Ensure this value is greater than or equal to ${min}.`);
  return valid(Number(whole));
}

export function parseBigint(input: unknown, type: TypeOf<'bigint'>): Outcome<string> {
  if (typeof input === 'number' && Number.isInteger(input) && !Number.isSafeInteger(input))
    return invalid(SEND_AS_STRING);
  if (isTooLong(input)) return invalid(TOO_LONG);
  const whole = toBigInt(input);
  if (whole === undefined) return invalid('A valid integer is required.');
  if (whole > type.max) return invalid(`Ensure this value is less than or equal to ${type.max}.`);
  if (whole < type.min) return invalid(`Ensure this value is greater than or equal to ${type.min}.`);
  return valid(whole.toString());
}

function isTooLong(input: unknown): boolean {
  return typeof input === 'string' && input.length > NUMBER_TEXT;
}

function toBigInt(input: unknown): bigint | undefined {
  if (typeof input === 'number') return Number.isInteger(input) ? BigInt(input) : undefined;
  if (typeof input !== 'string') return undefined;
  const text = input.trim();
  if (!INTEGER_TEXT.test(text)) return undefined;
  const digits = text.replace(/\.0+$/, '').replace(/^\+/, '');
  return BigInt(digits);
}

export function parseDecimal(input: unknown, type: TypeOf<'decimal'>): Outcome<string> {
  if (isTooLong(input)) return invalid(TOO_LONG);
  const text = toDecimalText(input);
  if (text === undefined) return invalid('A valid number is required.');
  if (text === SEND_AS_STRING) return invalid(SEND_AS_STRING);
  const parts = decimalParts(withoutExponent(text));
  if (!parts) return invalid('A valid number is required.');
  const { sign, whole, fraction } = parts;
  const wholeDigits = whole.replace(/^0+/, '');
  const fractionDigits = fraction.replace(/0+$/, '');
  const tooLong = decimalLimits(wholeDigits, fractionDigits, type);
  if (tooLong !== undefined) return invalid(tooLong);
  if (type.unsigned === true && sign === '-' && wholeDigits + fractionDigits !== '') return invalid(NEGATIVE);
  return valid(decimalForm(sign, wholeDigits, fractionDigits.padEnd(type.scale ?? 0, '0')));
}

/** Moves the point by the exponent: `-1.25e+1` is `-12.5`. Its three digits and `DECIMAL_TEXT` limit the zeros. */
function withoutExponent(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = ''] = SCIENTIFIC_TEXT.exec(text) ?? [];
  if (exponent === '') return text;
  const power = Number(exponent);
  const digits = '0'.repeat(Math.max(0, -power - whole.length)) + whole + fraction;
  const point = Math.max(0, whole.length + power);
  const moved = digits.padEnd(point, '0');
  return `${sign}${moved.slice(0, point)}.${moved.slice(point)}`;
}

/** The sign, whole and fractional digits of a decimal; undefined without any digit. */
function decimalParts(text: string): { sign: string; whole: string; fraction: string } | undefined {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL_TEXT.exec(text) ?? [];
  return whole + fraction === '' ? undefined : { sign, whole, fraction };
}

function toDecimalText(input: unknown): string | undefined {
  if (typeof input === 'string') return input.trim();
  if (typeof input !== 'number' || !Number.isFinite(input)) return undefined;
  const text = plainNumberText(input);
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '');
  return digits.length > SAFE_DIGITS || Math.abs(input) > Number.MAX_SAFE_INTEGER ? SEND_AS_STRING : text;
}

/** Formats a number without an exponent: 1e-7 is 0.0000001. */
export function plainNumberText(input: number): string {
  const text = String(input);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [sign, digits, exponent] = [match[1] ?? '', (match[2] ?? '') + (match[3] ?? ''), Number(match[4])];
  return exponent < 0 ? `${sign}0.${'0'.repeat(-exponent - 1)}${digits}` : BigInt(input).toString();
}

/** Whether JavaScript writes a number with the same value, possibly in another form. */
export function isDoubleText(text: string): boolean {
  return scientificForm(text) === scientificForm(String(Number(text)));
}

/** The digits without zeros at their ends, and the power of ten of the last one. */
function scientificForm(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const ended = digits.replace(/0+$/, '');
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - ended.length);
  return ended === '' ? '0' : `${sign}${ended}e${power}`;
}

/** The message for too many digits, if there are too many. */
function decimalLimits(whole: string, fraction: string, type: TypeOf<'decimal'>): string | undefined {
  const { precision, scale, exact } = type;
  const digits = whole.length + fraction.length;
  // Integers of 64 bits are stored exactly regardless of their digits.
  const isExact = exact === undefined || digits <= exact || (fraction === '' && BigInt(whole) < 2n ** 63n);
  if (!isExact) return tooManyDigits(exact);
  if (precision === undefined) {
    return scale !== undefined && fraction.length > scale ? tooManyPlaces(scale) : undefined;
  }
  const places = scale ?? 0;
  if (digits > precision) return tooManyDigits(precision);
  if (fraction.length > places) return tooManyPlaces(places);
  if (whole.length <= precision - places) return undefined;
  return `Ensure that there are no more than ${precision - places} digits before the decimal point.`;
}

function tooManyDigits(most: number): string {
  return `Ensure that there are no more than ${most} digits in total.`;
}

function tooManyPlaces(most: number): string {
  return `Ensure that there are no more than ${most} decimal places.`;
}

function decimalForm(sign: string, whole: string, places: string): string {
  const digits = (whole === '' ? '0' : whole) + (places === '' ? '' : `.${places}`);
  return sign === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

/** The largest 32-bit floating-point number. */
const MAX_SINGLE = 3.4028234663852886e38;

export function parseFloatingPoint(
  input: unknown,
  type: TypeOf<'float'> = { kind: 'float' },
): Outcome<number> {
  if (isTooLong(input)) return invalid(TOO_LONG);
  const number = floatingPoint(input);
  if (number === undefined) return invalid('A valid number is required.');
  if (type.unsigned === true && number < 0) return invalid(NEGATIVE);
  return type.single === true ? singleOf(number) : valid(number);
}

/** Rounds to 32 bits only if the result is the largest number or 0, because some databases reject such values. */
function singleOf(number: number): Outcome<number> {
  const rounded = Math.fround(number);
  if (rounded === Infinity) return invalid(`Ensure this value is less than or equal to ${MAX_SINGLE}.`);
  if (rounded === -Infinity) return invalid(`Ensure this value is greater than or equal to -${MAX_SINGLE}.`);
  return valid(rounded === 0 || Math.abs(rounded) === MAX_SINGLE ? rounded : number);
}

/** The shortest number with the same 32-bit value: 0.1 for 0.10000000149011612. */
export function shortestSingle(number: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const shorter = Number(number.toPrecision(digits));
    if (Math.fround(shorter) === number) return shorter;
  }
  return number;
}

function floatingPoint(input: unknown): number | undefined {
  if (typeof input === 'string' && !FLOAT_TEXT.test(input.trim())) return undefined;
  if (typeof input !== 'number' && typeof input !== 'string') return undefined;
  const number = Number(input);
  return Number.isFinite(number) ? number : undefined;
}
