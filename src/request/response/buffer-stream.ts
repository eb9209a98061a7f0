import { rowsToJson } from '../../core/values/rows-to-json.js';
import { HELD_CHARACTERS } from '../../core/schema/limits.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';

/**
 * Buffers pages until they end or exceed the limit: an error on a later page of an ordinary list still becomes an error
 * response.
 */
export async function* bufferStream(
  pages: AsyncIterable<readonly Row[]>,
  represent: (row: Row) => Representation,
): AsyncGenerator<string> {
  const buffered: string[] = [];
  let characters = 0;
  for await (const rows of pages) {
    const text = rowsToJson(rows, { represent });
    characters += text.length;
    buffered.push(text);
    if (characters > HELD_CHARACTERS) yield* buffered.splice(0);
  }
  yield* buffered;
}
