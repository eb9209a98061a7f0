import type { Json } from '../errors/rest-exception.js';
import type { TypeOf, DataKind, DataType } from '../schema/data-type.js';
import { parseDate, parseDatetime, parseTime } from './dates.js';
import { parseInterval } from './intervals.js';
import { ExactNumber, exactMember, listOf } from './exact-numbers.js';
import { isDoubleText, parseBigint, parseDecimal, parseFloatingPoint, parseInteger } from './numbers.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';
import { codePoints, pythonTypeName, unstorableText } from './texts.js';

/** Maximum number of messages for one field, so that a long list does not inflate the response. */
const MAX_MESSAGES = 20;

const UUID = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})$/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

type Parsers = { readonly [Kind in DataKind]: (input: unknown, type: TypeOf<Kind>) => Outcome<Json> };

const PARSERS: Parsers = {
  integer: parseInteger,
  bigint: parseBigint,
  decimal: parseDecimal,
  float: parseFloatingPoint,
  boolean: parseBoolean,
  string: parseString,
  date: parseDate,
  time: parseTime,
  datetime: parseDatetime,
  interval: parseInterval,
  uuid: parseUuid,
  enum: parseEnum,
  set: parseSet,
  json: validateJson,
  list: parseList,
  binary: parseBinary,
};

/**
 * Parses a value of a body other than null to its canonical form; errors are DRF's messages (contract 2.4 and contract 5.6).
 * Blank strings are validated by the caller, because they depend on the field.
 */
export function parseValue(input: unknown, type: DataType): Outcome<Json> {
  const parse = PARSERS[type.kind] as (input: unknown, type: DataType) => Outcome<Json>;
  return parse(input, type);
}

export function parseBoolean(input: unknown): Outcome<boolean> {
  if (input === true || input === 1 || input === 'true' || input === '1') return valid(true);
  if (input === false || input === 0 || input === 'false' || input === '0') return valid(false);
  return invalid('Must be a valid boolean.');
}

function parseString(input: unknown, type: TypeOf<'string'>): Outcome<string> {
  if (typeof input !== 'string' && !(typeof input === 'number' && Number.isFinite(input)))
    return invalid('Not a valid string.');
  const text = type.trim ? String(input).trim() : String(input);
  const unstorable = unstorableText(text);
  if (unstorable !== undefined) return invalid(unstorable);
  if (type.maxLength !== undefined && text.length > type.maxLength && codePoints(text) > type.maxLength) {
    return invalid(`Ensure this field has no more than ${type.maxLength} characters.`);
  }
  if (type.maxBytes !== undefined && Buffer.byteLength(text) > type.maxBytes)
    return invalid(`Ensure this field has no more than ${type.maxBytes} bytes.`);
  return valid(text);
}

export function parseUuid(input: unknown): Outcome<string> {
  if (typeof input !== 'string' || !UUID.test(input.trim())) return invalid('Must be a valid UUID.');
  const hex = input.trim().toLowerCase().replaceAll('-', '');
  return valid(
    [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-'),
  );
}

function parseEnum(input: unknown, type: TypeOf<'enum'>): Outcome<string | number> {
  const found =
    typeof input === 'string' || typeof input === 'number'
      ? type.values.find((each) => String(each) === String(input))
      : undefined;
  return found === undefined ? invalid(`"${excerpt(input)}" is not a valid choice.`) : valid(found);
}

function parseSet(input: unknown, type: TypeOf<'set'>): Outcome<readonly string[]> {
  if (!Array.isArray(input))
    return invalid(`Expected a list of items but got type "${pythonTypeName(input)}".`);
  const wrong = input.filter((each) => !type.values.includes(each as string));
  if (wrong.length > 0)
    return {
      errors: wrong.slice(0, MAX_MESSAGES).map((each) => `"${excerpt(each)}" is not a valid choice.`),
    };
  return valid(type.values.filter((each) => input.includes(each)));
}

function excerpt(input: unknown): string {
  return (typeof input === 'string' ? input : JSON.stringify(input)).slice(0, 100);
}

function validateJson(input: unknown, type: TypeOf<'json'>): Outcome<Json> {
  if (type.numeric === true && input instanceof ExactNumber && !isDoubleText(input.text))
    return invalid('The database cannot hold this value.');
  const texts = [input];
  while (texts.length > 0) {
    const each = texts.pop();
    const wrong = each instanceof ExactNumber ? outOfRange(each) : unstorableJson(each);
    if (wrong !== undefined) return invalid(wrong);
    if (typeof each === 'object' && each !== null && !(each instanceof ExactNumber))
      for (const key of Object.keys(each)) texts.push(key, exactMember(each, key));
  }
  return valid(input as Json);
}

function unstorableJson(value: unknown): string | undefined {
  if (typeof value === 'string') return unstorableText(value);
  return typeof value === 'number' && !Number.isFinite(value) ? 'Value must be valid JSON.' : undefined;
}

/** Code of the application, and clients in JavaScript, would see infinity, or 0. Some databases would write all digits. */
function outOfRange(number: ExactNumber): string | undefined {
  if (!Number.isFinite(number.valueOf())) return 'Value must be valid JSON.';
  return number.valueOf() === 0 && /[1-9]/.test(number.text.replace(/e.*/i, ''))
    ? 'Ensure that no number is closer to 0 than 5e-324.'
    : undefined;
}

function parseList(input: unknown, type: TypeOf<'list'>): Outcome<readonly Json[]> {
  if (!Array.isArray(input))
    return invalid(`Expected a list of items but got type "${pythonTypeName(input)}".`);
  const values: Json[] = [];
  const errors: string[] = [];
  input.forEach((given: unknown, index) => {
    const outcome = parseListItem(type.of.kind === 'json' ? exactMember(input, index) : given, type);
    if (outcome.errors && errors.length < MAX_MESSAGES)
      errors.push(...outcome.errors.map((message) => `Item ${index}: ${message}`));
    else if (!outcome.errors) values.push(outcome.value);
  });
  if (errors.length > 0) return { errors };
  // Stored as one text, a single empty item cannot be distinguished from an empty list.
  return type.storage === 'text' && values.length === 1 && values[0] === ''
    ? invalid('Item 0: This field may not be blank.')
    : valid(listOf(values));
}

function parseListItem(input: unknown, type: TypeOf<'list'>): Outcome<Json> {
  if (input === null) return invalid('This field may not be null.');
  const outcome = parseValue(input, type.of);
  // A simple-array is stored as comma-separated text: an item with a comma would be read back as two.
  if (type.storage === 'text' && !outcome.errors && String(outcome.value).includes(','))
    return invalid('A comma is not allowed here.');
  return outcome;
}

function parseBinary(input: unknown, type: TypeOf<'binary'>): Outcome<string> {
  if (typeof input !== 'string' || input.length % 4 !== 0 || !BASE64.test(input))
    return invalid('Must be valid base64.');
  const bytes = (input.length / 4) * 3 - paddingOf(input);
  if (type.maxLength !== undefined && bytes > type.maxLength)
    return invalid(`Ensure this field has no more than ${type.maxLength} bytes.`);
  if (type.minLength !== undefined && bytes < type.minLength)
    return invalid(`Ensure this field has at least ${type.minLength} bytes.`);
  return valid(input);
}

function paddingOf(base64: string): number {
  if (base64.endsWith('==')) return 2;
  return base64.endsWith('=') ? 1 : 0;
}
