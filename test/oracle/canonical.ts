import type { ApiDocument, Schema } from './api-document.js';
import { typesOf } from './make-value.js';

/**
 * The accepted forms of a body that the document does not describe: "Requests hold the canonical form: that
 * "3" is taken for a number is not said" (docs/reference/openapi.md). They are specified in contract 5.6, contract 5.7 and docs/reference/bodies-and-errors.md.
 */
export const EXCEPTIONS = [
  'a text that holds a number, for a number',
  'a number, for a text',
  '1, 0 and texts, for a boolean',
  'blanks around a value',
  'a date-time without a zone or seconds, or with a blank for the T',
  'a time without seconds, or with more digits',
  'a UUID without hyphens',
  'an interval in seconds, or as days and a time',
  'a member of an enum, as a text or a number',
  'a member of a set twice',
  'a blank text, for no related object',
  'a number with a sign or an exponent, or without digits before or behind its point',
] as const;

export type Exception = (typeof EXCEPTIONS)[number];

const NUMBER_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const INTEGER_TEXT = /^[+-]?\d+(\.0+)?$/;
const DATETIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;
const TIME = /^(\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?$/;
const INTERVAL = /^(\d+ )?(\d{1,2}:)?(\d{1,2}:)?\d+(\.\d+)?$/;

/** Converts a body to its canonical form, and records the exceptions that apply. If the result is valid, the body may be accepted. */
export class Canonical {
  readonly used = new Set<Exception>();

  constructor(private readonly document: ApiDocument) {}

  of(given: Schema, value: unknown): unknown {
    const schema = this.document.resolve(given);
    if (this.document.fits(schema, value)) return value;
    if (Array.isArray(schema.anyOf)) return this.ofAny(schema.anyOf as Schema[], value);
    if (Array.isArray(schema.enum)) return this.ofEnum(schema.enum as unknown[], value);
    const types = typesOf(schema);
    if (types.includes('object')) return this.ofObject(schema, value);
    if (types.includes('array')) return this.ofArray(schema, value);
    if (types.includes('boolean')) return this.ofBoolean(value);
    // Before numbers: a text may also be sent as a number.
    if (types.includes('string')) return this.ofText(schema, value);
    return types.includes('integer') || types.includes('number') ? this.ofNumber(schema, value) : value;
  }

  private ofAny(schemas: readonly Schema[], value: unknown): unknown {
    for (const schema of schemas) {
      const meant = this.of(schema, value);
      if (this.document.fits(schema, meant)) return meant;
    }
    return value;
  }

  private ofEnum(values: readonly unknown[], value: unknown): unknown {
    if (typeof value !== 'string' && typeof value !== 'number') return value;
    const found = values.find((each) => each !== null && String(each) === String(value));
    return found === undefined ? value : this.by('a member of an enum, as a text or a number', found);
  }

  private ofObject(schema: Schema, value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        properties[name] ? this.of(properties[name], each) : each,
      ]),
    );
  }

  private ofArray(schema: Schema, value: unknown): unknown {
    if (!Array.isArray(value)) return value;
    const items = value.map((each) => this.of((schema.items ?? {}) as Schema, each));
    if (schema.uniqueItems !== true || new Set(items).size === items.length) return items;
    return this.by('a member of a set twice', [...new Set(items)]);
  }

  private ofBoolean(value: unknown): unknown {
    if (value === 1 || value === '1' || value === 'true')
      return this.by('1, 0 and texts, for a boolean', true);
    if (value === 0 || value === '0' || value === 'false')
      return this.by('1, 0 and texts, for a boolean', false);
    return value;
  }

  private ofNumber(schema: Schema, value: unknown): unknown {
    if (typeof value !== 'string') return value;
    if (value === '' && typesOf(schema).includes('null'))
      return this.by('a blank text, for no related object', null);
    const text = value.trim();
    const pattern = typesOf(schema).includes('number') ? NUMBER_TEXT : INTEGER_TEXT;
    return pattern.test(text) ? this.by('a text that holds a number, for a number', Number(text)) : value;
  }

  private ofText(schema: Schema, value: unknown): unknown {
    if (value === '' && typesOf(schema).includes('null'))
      return this.by('a blank text, for no related object', null);
    if (typeof value === 'number') return this.ofNumberAsText(schema, value);
    if (typeof value !== 'string') return value;
    const text = value.trim();
    if (text !== value) this.used.add('blanks around a value');
    if (this.document.fits(schema, text)) return text;
    return this.formed(schema, text);
  }

  private ofNumberAsText(schema: Schema, value: number): unknown {
    if (isInterval(schema)) return this.by('an interval in seconds, or as days and a time', `PT${value}S`);
    const isExact = Math.abs(value) <= Number.MAX_SAFE_INTEGER;
    if (schema.format !== undefined && !isExact) return value;
    return this.by('a number, for a text', String(value));
  }

  private formed(schema: Schema, text: string): unknown {
    if (schema.format === 'date-time') return this.datetime(text);
    if (schema.format === 'time-local') return this.time(text);
    if (schema.format === 'uuid') return this.uuid(text);
    if (isInterval(schema) && INTERVAL.test(text))
      return this.by('an interval in seconds, or as days and a time', 'PT1S');
    if (
      (schema.format === 'decimal' || schema.format === 'int64') &&
      NUMBER_TEXT.test(text) &&
      (schema.format === 'decimal' || !/e/i.test(text))
    )
      return this.by(
        'a number with a sign or an exponent, or without digits before or behind its point',
        plain(text, schema),
      );
    return text;
  }

  private datetime(text: string): string {
    const [, day = '', clock = '', seconds = ':00', zone = 'Z'] = DATETIME.exec(text) ?? [];
    if (day === '') return text;
    const offset = /^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
    const form = `${day}T${clock}${seconds}${offset.toUpperCase()}`;
    return this.by('a date-time without a zone or seconds, or with a blank for the T', form);
  }

  private time(text: string): string {
    const [, clock = '', seconds = ':00', fraction = ''] = TIME.exec(text) ?? [];
    return clock === ''
      ? text
      : this.by('a time without seconds, or with more digits', clock + seconds + fraction.slice(0, 7));
  }

  private uuid(text: string): string {
    const hex = text.replaceAll('-', '').toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(hex)) return text;
    const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
    return this.by('a UUID without hyphens', parts.join('-'));
  }

  private by<Value>(exception: Exception, value: Value): Value {
    this.used.add(exception);
    return value;
  }
}

function isInterval({ pattern }: Schema): boolean {
  return typeof pattern === 'string' && pattern.startsWith('^P(');
}

function plain(text: string, { format }: Schema): string {
  if (/e/i.test(text))
    return Number(text).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 });
  const unsigned = text
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.$/, '');
  return format === 'int64' ? unsigned.replace(/\.0*$/, '') : unsigned;
}
