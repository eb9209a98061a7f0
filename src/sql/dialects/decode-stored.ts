import type { Json } from '../../core/errors/rest-exception.js';
import type { TypeOf, DataType } from '../../core/schema/data-type.js';

/** Decodes values that TypeORM stores in the same form on every database. */
export function decodeStored(raw: unknown, type: DataType): Json {
  switch (type.kind) {
    case 'time':
      return decodeTime(raw);
    case 'json':
      // Every dialect reads JSON as text, so that it is parsed once.
      return JSON.parse(String(raw)) as Json;
    case 'list':
      return decodeItems(raw, type.of);
    case 'set':
      return decodeItems(raw);
    case 'binary':
      return Buffer.from(raw as Uint8Array).toString('base64');
    case 'enum':
      return decodeEnum(raw, type);
    default:
      return raw as Json;
  }
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
  return type.values.find((each) => String(each) === String(raw)) ?? (raw as Json);
}

/** NaN and infinity become strings: JSON has no such numbers, and a client could write a `null` back. */
export function decodeFloat(raw: unknown): Json {
  const number = Number(raw);
  return Number.isFinite(number) ? number : String(number);
}

/** `09:23:28[.ffffff]` without trailing zeros. */
function decodeTime(raw: unknown): string {
  return String(raw)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}
