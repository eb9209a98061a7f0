import type { Row, Representation } from '../../model/serializer.js';
import type { ResponseBody } from './rest-response.js';

/**
 * A JSON array of any length. A list of one page is one text; a longer one is made page by page while it is sent. What
 * goes wrong before the second page is thrown here, and is still an ordinary error answer.
 */
export async function renderList(pages: AsyncIterable<readonly Row[]>, represent: (row: Row) => Representation): Promise<ResponseBody> {
  const iterator = pages[Symbol.asyncIterator]();
  const first = await iterator.next();
  const second = first.done === true ? first : await iterator.next();
  const text = (rows: readonly Row[]): string => rows.map((row) => JSON.stringify(represent(row))).join(',');
  if (first.done === true) return { kind: 'text', text: '[]' };
  if (second.done === true) return { kind: 'text', text: `[${text(first.value)}]` };
  // Both are made here, so that a row that cannot be represented is still an ordinary error answer.
  return { kind: 'stream', pieces: pieces([text(first.value), text(second.value)], iterator, text) };
}

async function* pieces(begun: readonly string[], rest: AsyncIterator<readonly Row[]>, text: (rows: readonly Row[]) => string): AsyncGenerator<string> {
  try {
    let glue = '[';
    for (const page of begun.filter((each) => each !== '')) {
      yield glue + page;
      glue = ',';
    }
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      if (next.value.length === 0) continue;
      yield glue + text(next.value);
      glue = ',';
    }
    yield glue === '[' ? '[]' : ']';
  } finally {
    await rest.return?.();
  }
}
