import type { Json } from '../../../errors/rest-error.js';
import type { TypeOf } from '../../../model/value-type.js';

/** JSON that a dialect reads as text. */
export function decodeJson(raw: unknown): Json {
  return JSON.parse(String(raw)) as Json;
}

/** TypeORM's simple-array: one text, commas between; an empty text is an empty array. */
export function decodeList(raw: unknown, type: TypeOf<'list'>): Json {
  if (type.storage === 'array') return raw as Json;
  const text = String(raw);
  return text === '' ? [] : text.split(',');
}

export function decodeSet(raw: unknown): Json {
  if (Array.isArray(raw)) return raw as Json;
  const text = String(raw);
  return text === '' ? [] : text.split(',');
}

export function decodeBinary(raw: unknown): string {
  return Buffer.from(raw as Uint8Array).toString('base64');
}

/** The enum's own value: numbers come back from text columns as text. */
export function decodeEnum(raw: unknown, type: TypeOf<'enum'>): Json {
  return type.values.find((each) => String(each) === String(raw)) ?? (raw as Json);
}

/** `09:23:28[.ffffff]` without zeros behind it. */
export function decodeTime(raw: unknown): string {
  return String(raw).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}
