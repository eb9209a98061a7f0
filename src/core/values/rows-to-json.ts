import type { Representation, Row } from '../contracts/serializer.js';

/** The JSON of rows, separated by commas. */
export function rowsToJson(rows: readonly Row[], represent: (row: Row) => Representation): string {
  return rows.map((row) => JSON.stringify(represent(row))).join(',');
}
