import type { Json } from '../../core/errors/rest-exception.js';
import type { TypeOf, DataType } from '../../core/schema/data-type.js';

/** What TypeORM keeps in the same form on every database, and what needs no form of its own. */
export function decodeStored(raw: unknown, type: DataType): Json {
  switch (type.kind) {
    case 'time':
      return decodeTime(raw);
    case 'json':
      // Read as text by every dialect, and parsed once.
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

/** TypeORM's simple-array: one text, commas between; an empty text is an empty array. */
function decodeItems(raw: unknown, of?: DataType): Json {
  if (Array.isArray(raw)) return raw as Json;
  const text = String(raw);
  const items = text === '' ? [] : text.split(',');
  return of?.kind === 'enum' ? items.map((item) => decodeEnum(item, of)) : items;
}

/** The enum's own value: numbers come back from text columns as text. */
function decodeEnum(raw: unknown, type: TypeOf<'enum'>): Json {
  return type.values.find((each) => String(each) === String(raw)) ?? (raw as Json);
}

/** JSON has no such number: its name, which no body may have, is better than a `null` that may be written back. */
export function decodeFloat(raw: unknown): Json {
  const number = Number(raw);
  return Number.isFinite(number) ? number : String(number);
}

/** `09:23:28[.ffffff]` without zeros behind it. */
function decodeTime(raw: unknown): string {
  return String(raw)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}
