import type { Json } from '../errors/rest-exception.js';
import { outwardType } from '../schema/column.js';
import type { Column } from '../schema/column.js';
import type { TypeOf, DataKind, DataType } from '../schema/data-type.js';
import { parseDatetime } from './dates.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';
import { parseBoolean, parseValue } from './parse-value.js';
import { unstorableText } from './texts.js';

/**
 * Splits a comma-separated list in a URL. A value in double quotes may contain commas; in quotes `\"` is a quote and `\\` a
 * backslash. One pass, so that the time is linear for any input.
 */
export function splitValues(text: string): Outcome<readonly string[]> {
  const values: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = text[at] === '"' ? readQuoted(text, at) : undefined;
    if (text[at] === '"' && !quoted) return invalid('A quote is not closed.');
    const comma = text.indexOf(',', at);
    const end = quoted?.end ?? (comma < 0 ? text.length : comma);
    values.push(quoted?.value ?? text.slice(at, end));
    if (end === text.length) return valid(values);
    if (text[end] !== ',') return invalid('Write a comma behind a quoted value.');
    at = end + 1;
  }
}

/** Reads the quoted text that begins here; `end` is the index after the closing quote. Undefined without one. */
export function readQuoted(
  text: string,
  begin: number,
): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  for (let at = begin + 1; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (letter === '"') return { value, end: at + 1 };
    const next = text[at + 1];
    if (letter === '\\' && (next === '"' || next === '\\')) {
      value += next;
      at++;
    } else value += letter;
  }
  return undefined;
}

function withoutExactness({ exact: _, ...type }: TypeOf<'decimal'>): TypeOf<'decimal'> {
  return type;
}

/** Parses an instant for a comparison without truncation: digits beyond the column's are kept unless they are 0. */
function parseInstant(text: string, type: TypeOf<'datetime'>): Outcome<string> {
  const outcome = parseDatetime(text, { kind: 'datetime', zoned: type.zoned, digits: 6 });
  if (outcome.errors) return outcome;
  const cut = new RegExp(`(\\.\\d{${type.digits}})0*Z$`);
  return valid(outcome.value.replace(cut, '$1Z'));
}

const FORM_MESSAGES: Partial<Record<DataKind, string>> = {
  integer: 'Enter a number.',
  bigint: 'Enter a number.',
  decimal: 'Enter a number.',
  float: 'Enter a number.',
  date: 'Enter a valid date.',
  time: 'Enter a valid time.',
  datetime: 'Enter a valid date/time.',
  interval: 'Enter a valid duration.',
};

function parseByType(text: string, type: DataType): Outcome<Json> {
  switch (type.kind) {
    case 'datetime':
      return parseInstant(text, type);
    case 'boolean':
      return parseBoolean(text.toLowerCase());
    case 'decimal':
      // A number with more digits than the database stores is valid in a comparison.
      return parseValue(text, withoutExactness(type));
    default:
      return parseValue(text, type);
  }
}

/**
 * Parses a value of a filter in a URL; errors are django-filter's messages (contract 4.4). Strings are not trimmed, because
 * `=` is exact.
 */
export function parseText(text: string, type: DataType): Outcome<Json> {
  const unstorable = unstorableText(text);
  if (unstorable !== undefined) return invalid(unstorable);
  if (type.kind === 'string') return valid(text);
  const outcome = parseByType(text, type);
  if (!outcome.errors) return outcome;
  const message = FORM_MESSAGES[type.kind];
  return message === undefined || outcome.errors[0]?.startsWith('Ensure') ? outcome : invalid(message);
}

/** Parses a value of a URL that is compared with a column, to the canonical stored form (contract 4.14). */
export function parseCompared(text: string, column: Column): Outcome<Json> {
  const type = outwardType(column);
  if (!column.transform?.outward) return parseText(text, type);
  const outcome = isJson(type) ? parseJsonText(text, type) : parseText(text, type);
  return outcome.errors ? outcome : column.transform.stored(outcome.value);
}

/** As `parseCompared`, for a JSON value of a row filter, which may be null. */
export function parseStored(value: Json, column: Column): Outcome<Json> {
  if (!column.transform) return valid(value);
  const outcome = value === null ? valid(value) : parseValue(value, outwardType(column));
  return outcome.errors ? outcome : column.transform.stored(outcome.value);
}

/** Splits a list in a URL into the texts of its items. Items in JSON may contain commas and quotes. */
export function comparedParts(text: string, column: Column): Outcome<readonly string[]> {
  const outward = column.transform?.outward;
  const items = outward && isJson(outward) ? tryParseJson(`[${text}]`) : undefined;
  return Array.isArray(items) ? valid(items.map((item) => JSON.stringify(item))) : splitValues(text);
}

function isJson({ kind }: DataType): boolean {
  return kind === 'list' || kind === 'json';
}

/** Parses JSON; for a column of type `json`, a text that is not valid JSON is a string. */
function parseJsonText(text: string, type: DataType): Outcome<Json> {
  const value = tryParseJson(text);
  if (value === undefined && type.kind !== 'json') return invalid('Value must be valid JSON.');
  return value === null ? valid(value) : parseValue(value ?? text, type);
}

function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
