import type { RenderedRows, Renderer } from '../../core/contracts/renderer.js';
import type { ResponseBody, RestResponse } from '../../request/response/rest-response.js';

/** Renders the rows. An error before the second chunk is thrown, so that it becomes an ordinary error response. */
export async function renderRows(
  renderer: Renderer,
  rows: RenderedRows,
  headers: Readonly<Record<string, string>> = {},
): Promise<RestResponse> {
  const body = await readRenderedBody(renderer.render(rows));
  return {
    status: 200,
    body,
    headers: {
      ...headers,
      ...renderer.headers?.(rows),
      'Content-Type': renderer.contentType ?? renderer.mediaType,
    },
  };
}

async function readRenderedBody(pieces: AsyncIterable<string>): Promise<ResponseBody> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return { kind: 'text', text: '' };
  assertText(first.value);
  const second = await iterator.next();
  return second.done === true
    ? { kind: 'text', text: first.value }
    : { kind: 'stream', pieces: remainingPieces([first.value, second.value], iterator) };
}

/** A chunk that is not text would fail only while the response is written, too late for an error response. */
function assertText(piece: unknown): void {
  if (typeof piece !== 'string' && !Buffer.isBuffer(piece))
    throw new TypeError(`A renderer returned a piece that is not text but ${typeof piece}.`);
}

async function* remainingPieces(
  readPieces: readonly string[],
  rest: AsyncIterator<string>,
): AsyncGenerator<string> {
  try {
    yield* readPieces;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
