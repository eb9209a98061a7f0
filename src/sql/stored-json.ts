import { parseJson, writeJson } from '../core/values/exact-numbers.js';
import { JsonScanner, TEXT_SEPARATOR } from '../core/values/json-scanner.js';
import type { Scope } from './query-scope.js';

/** What the database writes in place of a stored JSON value. Rows hold no other arrays. */
export const STORED_JSON = '[]';

const SEPARATOR = String.fromCharCode(TEXT_SEPARATOR);

/** A member of a row whose value is stored as JSON, which the process writes. */
export interface StoredJson {
  readonly name: string;
  /** SQL of the stored text; `null` for NULL. */
  readonly sql: (scope: Scope) => string;
}

/** The stored values of one member in comma-separated rows. */
export interface StoredTexts {
  /** For each member, separated by `TEXT_SEPARATOR`. */
  readonly texts: readonly unknown[];
  /** The number of values in each text. */
  readonly total: number;
  /** The number of rows, of which each has one of the values. */
  readonly count: number;
  /** The number of values before those of the first row. */
  readonly skipped: number;
}

/**
 * Puts stored JSON into rows, as `writeJson` writes what `parseJson` reads. Undefined if a stored text is not valid JSON.
 */
export function insertStoredJson(
  rows: string,
  members: readonly StoredJson[],
  { texts, total, count, skipped }: StoredTexts,
): string | undefined {
  if (members.length === 0 || total === 0) return rows;
  const columns = members.map(({ name }, index) => ({
    marker: `"${name}":${STORED_JSON}`,
    values: valuesIn(String(texts[index] ?? '')),
  }));
  if (!columns.every(({ values }) => values !== undefined && values.length === total)) return undefined;
  let [text, from] = ['', 0];
  for (let row = skipped; row < skipped + count; row++) {
    for (const { marker, values } of columns) {
      // A quotation mark after a letter ends a name, because inside a string it is escaped.
      const at = rows.indexOf(marker, from) + marker.length;
      text += rows.slice(from, at - STORED_JSON.length) + (values?.[row] ?? '');
      from = at;
    }
  }
  return text + rows.slice(from);
}

function valuesIn(text: string): readonly string[] | undefined {
  const scanner = new JsonScanner(text);
  const values: string[] = [];
  while (!scanner.isAtEnd) {
    const value = scanner.next();
    if (value === undefined) return parsedValues(text);
    values.push(value);
  }
  return values;
}

function parsedValues(text: string): readonly string[] | undefined {
  try {
    return text.split(SEPARATOR).map((value) => writeJson(parseJson(value)));
  } catch {
    return undefined;
  }
}
