import type { MaybePromise } from '../../core/maybe-promise.js';
import type { ResponseBody } from './rest-response.js';

/**
 * Joins texts of pages into a JSON array of any length. An empty text is a page without rows. A list of one page is one
 * text; a longer one is streamed. An error before the second page is thrown, so that it becomes an ordinary error
 * response.
 */
export function renderTexts(texts: string | AsyncIterable<string>): MaybePromise<ResponseBody> {
  return typeof texts === 'string' ? { kind: 'text', text: `[${texts}]` } : renderPages(texts);
}

async function renderPages(texts: AsyncIterable<string>): Promise<ResponseBody> {
  const iterator = texts[Symbol.asyncIterator]();
  const first = await iterator.next();
  const second = first.done === true ? first : await iterator.next();
  if (first.done === true) return { kind: 'text', text: '[]' };
  if (second.done === true) return { kind: 'text', text: `[${first.value}]` };
  // Both are read here, so that an error of serialization becomes an ordinary error response.
  return { kind: 'stream', pieces: pieces([first.value, second.value], iterator) };
}

async function* pieces(readPages: readonly string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    let separator = '[';
    for (const page of readPages.filter((each) => each !== '')) {
      yield separator + page;
      separator = ',';
    }
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      if (next.value === '') continue;
      yield separator + next.value;
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } finally {
    await rest.return?.();
  }
}
