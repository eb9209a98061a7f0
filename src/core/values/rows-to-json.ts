import { writeJson } from './exact-numbers.js';
import type { Representation, Row } from '../contracts/serializer.js';

/** The JSON of rows, separated by commas. */
export function rowsToJson(rows: readonly Row[], represent: (row: Row) => Representation): string {
  // One call for all rows takes two thirds of the time of one for each.
  return writeJson(rows.map(represent)).slice(1, -1);
}

/** The JSON of each page of rows. */
export async function* pagesToJson(
  pages: AsyncIterable<readonly Row[]>,
  represent: (row: Row) => Representation,
): AsyncGenerator<string> {
  for await (const rows of pages) yield rowsToJson(rows, represent);
}
