import { writeJson } from '../../core/values/exact-numbers.js';
import { TextPieces } from '../../core/values/text-pieces.js';
import type { Frame } from '../../core/values/text-pieces.js';

/**
 * The response to one request, independent of the HTTP library. The headers of contract 7.1 are added when it is sent.
 */
export interface RestResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ResponseBody;
}

/** A complete text, or chunks generated while they are sent. */
export type ResponseBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'stream'; readonly pieces: AsyncIterable<string | Uint8Array> };

/** The response for the value of an operation or of a method of the application: undefined is 204. */
export function valueResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): RestResponse {
  return value === undefined ? { status: 204, headers } : jsonResponse(status, value, headers);
}

/** A value that JSON cannot represent, such as a function, becomes null. */
export function jsonResponse(
  status: number,
  value: unknown,
  headers?: Readonly<Record<string, string>>,
): RestResponse {
  const text = writeJson(value) as string | undefined;
  const body = { kind: 'text', text: text ?? 'null' } as const;
  return headers ? { status, body, headers } : { status, body };
}

/**
 * Reads two pieces, and more until they have `hold` characters: an error of theirs is thrown, so that it becomes an ordinary
 * error response. A body of one piece is one text; a longer one is streamed.
 */
export async function readBody(
  pieces: AsyncIterable<string>,
  { frame, hold = 0 }: { readonly frame?: Frame; readonly hold?: number },
): Promise<ResponseBody> {
  const rest = pieces[Symbol.asyncIterator]();
  const held: string[] = [];
  let characters = 0;
  while (held.length < 2 || characters < hold) {
    const next = await rest.next();
    if (next.done === true) break;
    if (!isText(next.value)) {
      // It would fail only while the response is written, too late for an error response.
      await rest.return?.();
      throw new TypeError(`A renderer returned a piece that is not text but ${typeof next.value}.`);
    }
    held.push(next.value);
    characters += next.value.length;
  }
  if (held.length > 1) return { kind: 'stream', pieces: new TextPieces(held, rest, frame) };
  const [text = ''] = held;
  return { kind: 'text', text: frame ? frame.first + text + frame.end : text };
}

function isText(piece: unknown): boolean {
  return typeof piece === 'string' || Buffer.isBuffer(piece);
}
