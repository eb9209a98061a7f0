import type { Json } from '../errors/rest-exception.js';
import type { Key } from '../schema/resource-schema.js';
import type { DataType } from '../schema/data-type.js';
import type { Outcome } from './parse-result.js';
import { invalid, valid } from './parse-result.js';
import { parseValue } from './parse-value.js';
import { pythonTypeName, unstorableText } from './texts.js';

/** The JSON form of a key in a body: its value, or for a composite key its text in a URL. */
export function keyRepresentation(values: readonly Json[]): Json {
  return values.length === 1 ? (values[0] ?? null) : keyText(values);
}

/** The text of a key in a URL (contract 1.4): each value percent-encoded, joined by commas. */
export function keyText(values: readonly Json[]): string {
  const [value] = values;
  // Most keys are one number, which needs no encoding.
  if (values.length === 1 && typeof value === 'number') return String(value);
  return values.map((value) => encodeURIComponent(String(value))).join(',');
}

/**
 * Parses the key in a raw, percent-encoded segment of a URL; undefined if no row can have it. Each key has a single text:
 * `01` and `1.0` are invalid.
 */
export function parseKeySegment(segment: string, key: Key): readonly Json[] | undefined {
  const parts = key.columns.length === 1 ? [segment] : segment.split(',');
  if (parts.length !== key.columns.length) return undefined;
  const values: Json[] = [];
  for (const [index, part] of parts.entries()) {
    const text = decodedSegment(part);
    const column = key.columns[index];
    const value = text === undefined || !column ? undefined : parseKeyPart(text, column.type);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** Percent-decodes a segment; undefined for malformed escapes. */
export function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function parseKeyPart(text: string, type: DataType): Json | undefined {
  if (text === '' || unstorableText(text) !== undefined) return undefined;
  if (type.kind === 'string') return text;
  if (type.kind === 'decimal' && /e/i.test(text)) return undefined;
  const outcome = parseValue(text, type);
  if (outcome.errors) return undefined;
  const oneForm =
    type.kind === 'integer' || type.kind === 'bigint' || type.kind === 'boolean' || type.kind === 'enum';
  return oneForm && String(outcome.value) !== text ? undefined : outcome.value;
}

/** Parses a related key in a body (contract 5.9); the error is DRF's message for a value of a wrong type. */
export function parseKeyValue(input: unknown, key: Key): Outcome<readonly Json[]> {
  const wrongType = invalid(`Incorrect type. Expected pk value, received ${pythonTypeName(input)}.`);
  if (typeof input !== 'string' && !(typeof input === 'number' && Number.isFinite(input))) return wrongType;
  if (typeof input === 'string' && unstorableText(input) !== undefined) return invalid(noSuchKey(input));
  if (key.columns.length > 1) {
    const values = parseKeySegment(String(input), key);
    return values ? valid(values) : wrongType;
  }
  const type = key.columns[0]?.type;
  return type ? parseSingleKey(input, type, wrongType) : wrongType;
}

type WrongType = ReturnType<typeof invalid>;

function parseSingleKey(
  input: string | number,
  type: DataType,
  wrongType: WrongType,
): Outcome<readonly Json[]> {
  if (type.kind === 'string') return valid([String(input)]);
  const outcome = parseValue(input, type);
  if (!outcome.errors) return valid([outcome.value]);
  // An out-of-range number is a key that does not exist; any other invalid value has a wrong type.
  const outOfRange = outcome.errors[0]?.startsWith('Ensure') === true;
  if (type.kind === 'uuid' && typeof input === 'string') return outcome;
  return outOfRange ? invalid(noSuchKey(String(input))) : wrongType;
}

/** DRF's message for a key that does not exist, or whose row the caller may not see. */
export function noSuchKey(text: string): string {
  return `Invalid pk "${text.slice(0, 200)}" - object does not exist.`;
}

/** The same for a key in a body. */
export function noSuchObject(key: readonly Json[]): string {
  return noSuchKey(String(keyRepresentation(key)));
}
