import { InvalidInput } from '../../core/errors/http-exceptions.js';

/** Digits only: forms that JavaScript or Python also parse, such as `1e3`, ` 2` or `+2`, are invalid. */
const DIGITS = /^\d{1,100}$/;

/** Undefined for invalid text. Greater values are clamped to `Number.MAX_SAFE_INTEGER`. */
export function parseDigits(text: string): number | undefined {
  return DIGITS.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}

/** Parses an integer parameter; undefined if it is absent or empty. Throws 400, with DRF's messages. */
export function parseIntegerParameter(
  name: string,
  parameters: ReadonlyMap<string, string>,
  { min, max = Infinity }: { min: number; max?: number },
): number | undefined {
  const text = parameters.get(name) ?? '';
  if (text === '') return undefined;
  const value = parseDigits(text.replace(/^-(?=\d)/, ''));
  if (value === undefined) throw InvalidInput.of(name, 'A valid integer is required.');
  if (text.startsWith('-') || value < min)
    throw InvalidInput.of(name, `Ensure this value is greater than or equal to ${min}.`);
  if (value > max) throw InvalidInput.of(name, `Ensure this value is less than or equal to ${max}.`);
  return value;
}
