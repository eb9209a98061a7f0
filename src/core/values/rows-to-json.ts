import { writeJson } from './exact-numbers.js';
import type { Representation, Row } from '../contracts/serializer.js';
import type { JsonOutput } from '../data-adapter.js';

/** The JSON of rows, with a separator between them. */
export function rowsToJson(
  rows: readonly Row[],
  { represent, separator = ',' }: Pick<JsonOutput, 'represent' | 'separator'>,
): string {
  if (separator !== ',') return rows.map((row) => writeJson(represent(row))).join(separator);
  // One call for all rows takes two thirds of the time of one for each.
  return writeJson(rows.map(represent)).slice(1, -1);
}

/** The JSON of each page of rows. */
export async function* pagesToJson(
  pages: AsyncIterable<readonly Row[]>,
  output: Pick<JsonOutput, 'represent' | 'separator'>,
): AsyncGenerator<string> {
  for await (const rows of pages) yield rowsToJson(rows, output);
}

/** The objects of each page of rows. */
export async function* pagesToObjects(
  pages: AsyncIterable<readonly Row[]>,
  { represent }: Pick<JsonOutput, 'represent'>,
): AsyncGenerator<readonly Representation[]> {
  for await (const rows of pages) yield rows.map((row) => represent(row));
}
