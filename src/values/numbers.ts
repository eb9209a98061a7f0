import type { TypeOf } from '../model/value-type.js';
import { invalid, valid } from './outcome.js';
import type { Outcome } from './outcome.js';

const INTEGER_TEXT = /^[+-]?\d{1,400}(?:\.0{1,20})?$/;
const DECIMAL_TEXT = /^([+-]?)(\d{0,400})(?:\.(\d{0,400}))?$/;
const FLOAT_TEXT = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?$/;

/** A number that JSON gave us carries at most 15 digits for certain (contract 2). */
const SAFE_DIGITS = 15;
const SEND_AS_STRING = 'Send this number as a string.';

export function parseInteger(input: unknown, type: TypeOf<'integer'>): Outcome<number> {
  const whole = wholeNumber(input);
  if (whole === undefined) return invalid('A valid integer is required.');
  if (whole > BigInt(type.max)) return invalid(`Ensure this value is less than or equal to ${type.max}.`);
  if (whole < BigInt(type.min)) return invalid(`Ensure this value is greater than or equal to ${type.min}.`);
  return valid(Number(whole));
}

export function parseBigint(input: unknown, type: TypeOf<'bigint'>): Outcome<string> {
  if (typeof input === 'number' && Number.isInteger(input) && !Number.isSafeInteger(input)) return invalid(SEND_AS_STRING);
  const whole = wholeNumber(input);
  if (whole === undefined) return invalid('A valid integer is required.');
  if (whole > type.max) return invalid(`Ensure this value is less than or equal to ${type.max}.`);
  if (whole < type.min) return invalid(`Ensure this value is greater than or equal to ${type.min}.`);
  return valid(whole.toString());
}

function wholeNumber(input: unknown): bigint | undefined {
  if (typeof input === 'number') return Number.isInteger(input) ? BigInt(input) : undefined;
  if (typeof input !== 'string') return undefined;
  const text = input.trim();
  if (!INTEGER_TEXT.test(text)) return undefined;
  const digits = text.replace(/\.0+$/, '').replace(/^\+/, '');
  return BigInt(digits);
}

export function parseDecimal(input: unknown, type: TypeOf<'decimal'>): Outcome<string> {
  const text = decimalText(input);
  if (text === undefined) return invalid('A valid number is required.');
  if (text === SEND_AS_STRING) return invalid(SEND_AS_STRING);
  const match = DECIMAL_TEXT.exec(text);
  const [sign, whole, fraction] = [match?.[1] ?? '', match?.[2] ?? '', match?.[3] ?? ''];
  if (!match || whole + fraction === '') return invalid('A valid number is required.');
  const wholeDigits = whole.replace(/^0+/, '');
  const fractionDigits = fraction.replace(/0+$/, '');
  const tooLong = decimalLimits(wholeDigits, fractionDigits, type);
  if (tooLong !== undefined) return invalid(tooLong);
  return valid(decimalForm(sign, wholeDigits, fractionDigits, type.scale));
}

function decimalText(input: unknown): string | undefined {
  if (typeof input === 'string') return input.trim();
  if (typeof input !== 'number' || !Number.isFinite(input)) return undefined;
  const text = plainNumberText(input);
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '');
  return digits.length > SAFE_DIGITS || Math.abs(input) > Number.MAX_SAFE_INTEGER ? SEND_AS_STRING : text;
}

/** The number's text without an exponent: 1e-7 is 0.0000001. */
function plainNumberText(input: number): string {
  const text = String(input);
  if (!/e/i.test(text)) return text;
  return Math.abs(input) >= 1 ? BigInt(input).toString() : input.toFixed(20).replace(/0+$/, '');
}

function decimalLimits(whole: string, fraction: string, type: TypeOf<'decimal'>): string | undefined {
  const { precision, scale } = type;
  const placesAllowed = scale ?? (precision === undefined ? undefined : 0);
  if (precision !== undefined && whole.length + fraction.length > precision) {
    return `Ensure that there are no more than ${precision} digits in total.`;
  }
  if (placesAllowed !== undefined && fraction.length > placesAllowed) {
    return `Ensure that there are no more than ${placesAllowed} decimal places.`;
  }
  if (precision !== undefined && whole.length > precision - (placesAllowed ?? 0)) {
    return `Ensure that there are no more than ${precision - (placesAllowed ?? 0)} digits before the decimal point.`;
  }
  return undefined;
}

function decimalForm(sign: string, whole: string, fraction: string, scale: number | undefined): string {
  const places = scale === undefined ? fraction : fraction.padEnd(scale, '0');
  const digits = (whole === '' ? '0' : whole) + (places === '' ? '' : `.${places}`);
  return sign === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

export function parseFloatingPoint(input: unknown): Outcome<number> {
  const number = floatingPoint(input);
  return number === undefined ? invalid('A valid number is required.') : valid(number);
}

function floatingPoint(input: unknown): number | undefined {
  if (typeof input === 'string' && !FLOAT_TEXT.test(input.trim())) return undefined;
  if (typeof input !== 'number' && typeof input !== 'string') return undefined;
  const number = Number(input);
  return Number.isFinite(number) ? number : undefined;
}
