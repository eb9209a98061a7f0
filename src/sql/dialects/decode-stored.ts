import type { Json } from '../../core/errors/rest-exception.js';
import { parseJson } from '../../core/values/exact-numbers.js';
import { storedBoolean } from '../../core/values/stored-booleans.js';
import type { DataKind, DataType, TypeOf } from '../../core/schema/data-type.js';

type Decoders = { readonly [Kind in DataKind]?: (raw: unknown, type: TypeOf<Kind>) => Json };

const DECODERS: Decoders = {
  integer: (raw) => decodeFloat(raw),
  float: (raw) => decodeFloat(raw),
  boolean: decodeBoolean,
  string: (raw) => (typeof raw === 'string' ? raw : String(raw)),
  time: decodeTime,
  // Every dialect reads JSON as text, so that it is parsed once.
  json: (raw) => decodeJson(String(raw)),
  list: (raw, { of }) => decodeItems(raw, of),
  set: (raw) => decodeItems(raw),
  binary: (raw) => Buffer.from(raw instanceof Uint8Array ? raw : String(raw)).toString('base64'),
  enum: decodeEnum,
};

/**
 * Decodes values that TypeORM stores in the same form on every database. A value that is not of the type, which a column of another
 * type and SQLite hold, is returned as it is stored.
 */
export function decodeStored(raw: unknown, type: DataType): Json {
  const decode = DECODERS[type.kind] as ((raw: unknown, type: DataType) => Json) | undefined;
  return decode ? decode(raw, type) : asStored(raw);
}

function decodeJson(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Bytes are shown as the text that they are, as those of a text column. */
function asStored(raw: unknown): Json {
  return raw instanceof Uint8Array ? Buffer.from(raw).toString() : (raw as Json);
}

const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Whether it is the text of a number, as drivers return those of some types. */
function isNumeric(raw: unknown): raw is string {
  return typeof raw === 'string' && NUMERIC.test(raw);
}

const TRUTHS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function decodeBoolean(raw: unknown): Json {
  if (typeof raw === 'boolean') return raw;
  return storedBoolean(raw) ?? TRUTHS.get(raw) ?? asStored(raw);
}

/** TypeORM's `simple-array`: a comma-separated string; an empty one is an empty array. */
function decodeItems(raw: unknown, of?: DataType): Json {
  if (Array.isArray(raw)) return raw as Json;
  const text = String(raw);
  const items = text === '' ? [] : text.split(',');
  return of?.kind === 'enum' ? items.map((item) => decodeEnum(item, of)) : items;
}

/** The declared value of an enum: text columns return numbers as strings. */
function decodeEnum(raw: unknown, type: TypeOf<'enum'>): Json {
  return type.values.find((each) => String(each) === String(raw)) ?? asStored(raw);
}

/** NaN and infinity become strings: JSON has no such numbers, and a client could write a `null` back. */
export function decodeFloat(raw: unknown, round = (number: number): number => number): Json {
  if (typeof raw !== 'number' && !isNumeric(raw)) return asStored(raw);
  const number = round(Number(raw));
  return Number.isFinite(number) ? number : String(number);
}

/** `09:23:28[.ffffff]` without trailing zeros. */
function decodeTime(raw: unknown): string {
  return String(raw)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}
