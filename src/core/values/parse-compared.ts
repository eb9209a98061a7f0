import type { Json } from '../errors/rest-exception.js';
import { outwardType } from '../schema/column.js';
import type { Column } from '../schema/column.js';
import type { DataType } from '../schema/data-type.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';
import { parseText } from './parse-text.js';
import { parseValue } from './parse-value.js';
import { splitValues } from './split-values.js';

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
