import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { ResponseShape } from '../../request/rest-context.js';

/** A list as pages of rows. */
export interface RowPages {
  readonly pages: AsyncIterable<readonly Row[]>;
  readonly represent: (row: Row) => Representation;
}

/** A list with its expanded objects, page by page. */
export function expandedList(read: AsyncIterable<readonly Row[]>, shape: ResponseShape): RowPages {
  return {
    pages: { [Symbol.asyncIterator]: () => expandedPages(read, shape) },
    represent: (row) => shape.represent(row),
  };
}

async function* expandedPages(
  pages: AsyncIterable<readonly Row[]>,
  shape: ResponseShape,
): AsyncGenerator<readonly Row[]> {
  for await (const rows of pages) yield shape.expanded(rows);
}
