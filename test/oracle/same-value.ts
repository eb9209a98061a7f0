import { isDeepStrictEqual } from 'node:util';
import type { ApiDocument, Schema } from './api-document.js';

/** 32-bit floats are represented by the shortest text. */
const SINGLE = 1e-6;

/** Whether a returned value is the canonical form of the sent one. */
export function isSameValue(
  document: ApiDocument,
  given: Schema,
  values: { readonly sent: unknown; readonly shown: unknown },
): boolean {
  const { sent, shown } = values;
  if (isDeepStrictEqual(sent, shown)) return true;
  const schema = document.resolve(given);
  if (Array.isArray(schema.anyOf))
    return (schema.anyOf as Schema[]).some(
      (each) => document.fits(each, sent) && isSameValue(document, each, values),
    );
  if (Array.isArray(sent) && Array.isArray(shown)) return isSameArray(document, schema, { sent, shown });
  if (isObject(sent) && isObject(shown))
    return differingField(document, schema, { sent, shown }) === undefined;
  return isSameScalar(schema, sent, shown);
}

/** The first field of a body that is returned with another value. Fields that are not returned are not compared. */
export function differingField(
  document: ApiDocument,
  schema: Schema,
  {
    sent,
    shown,
  }: { readonly sent: Readonly<Record<string, unknown>>; readonly shown: Readonly<Record<string, unknown>> },
): string | undefined {
  const properties = (document.resolve(schema).properties ?? {}) as Readonly<Record<string, Schema>>;
  return Object.keys(sent).find((name) => {
    const property = properties[name];
    // Read-only fields depend on other fields.
    if (!property || property.readOnly === true || !(name in shown)) return false;
    return !isSameValue(document, property, { sent: sent[name], shown: shown[name] });
  });
}

function isSameArray(
  document: ApiDocument,
  schema: Schema,
  { sent, shown }: { readonly sent: readonly unknown[]; readonly shown: readonly unknown[] },
): boolean {
  if (schema.uniqueItems === true) return isDeepStrictEqual(new Set(sent), new Set(shown));
  const items = (schema.items ?? {}) as Schema;
  return (
    sent.length === shown.length &&
    sent.every((each, index) => isSameValue(document, items, { sent: each, shown: shown[index] }))
  );
}

function isSameScalar(schema: Schema, sent: unknown, shown: unknown): boolean {
  if (typeof sent === 'number' && typeof shown === 'number')
    return Math.abs(sent - shown) <= SINGLE * Math.max(Math.abs(sent), Number.MIN_VALUE);
  if (sent === null || typeof shown !== 'string') return false;
  const text = String(sent).trim();
  const isSame = SAME[String(schema.format)];
  if (isSame) return isSame(text, shown);
  // An interval may be returned in other units.
  return text === shown || String(schema.pattern).startsWith('^P(');
}

/** By format. Values are truncated to the precision of the column. */
const SAME: Readonly<Record<string, (sent: string, shown: string) => boolean>> = {
  'date-time': (sent, shown) => Math.abs(Date.parse(sent) - Date.parse(shown)) < 1000,
  'time-local': (sent, shown) => sent.slice(0, 8) === shown.slice(0, 8),
  decimal: (sent, shown) => Number(sent) === Number(shown),
  int64: (sent, shown) => /^-?\d+$/.test(sent) && BigInt(sent) === BigInt(shown),
  uuid: (sent, shown) => sent.toLowerCase() === shown,
};

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
