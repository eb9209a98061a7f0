import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { MOST_OF_QUERY } from '../../core/schema/limits.js';
import { QUERY_METHOD } from '../../core/schema/operation.js';
import { parseContentCoding, toText } from '../read-body.js';

const UTF8_CHECK = Symbol('restify.utf8');
const CHUNKS = Symbol('restify.chunks');
const QUERY_BYTES = Symbol('restify.queryBytes');

/**
 * A request whose body is checked, created at the first chunk that is not valid UTF-8 by itself; most bodies have none.
 */
interface CheckedRequest extends IncomingMessage {
  readonly body?: unknown;
  [UTF8_CHECK]?: Utf8Check;
  /** The chunks of the body, not copied; undefined once they are not kept. */
  [CHUNKS]?: Buffer[] | undefined;
  [QUERY_BYTES]?: number;
}

/** A stream without a reader keeps less than this: more is only consumed, after the response. */
const UNREAD_BYTES = 256 * 1024;

/** The stream into which a compressed body is piped. */
interface PushTarget extends Pick<Readable, 'listenerCount'> {
  push(chunk: unknown, encoding?: BufferEncoding): boolean;
}

/**
 * Checks that bodies are valid UTF-8, and keeps them for `takeBodyText`. The application's parser replaces invalid bytes by
 * U+FFFD, and digits of numbers by those of a double, before any handler runs, so the bytes are seen as the request receives
 * them, or as the decoder of a compressed body returns them.
 */
export function checkBodyText(application: unknown): void {
  const request = (application as { readonly request?: unknown } | null)?.request;
  if (!(request instanceof Readable)) return;
  // Express's request prototype inherits both methods from Node, of HTTP/1 or HTTP/2.
  const node = Readable.prototype;
  defineMethod(
    request,
    'push',
    function (this: CheckedRequest, chunk: unknown, encoding?: BufferEncoding): boolean {
      if (Buffer.isBuffer(chunk) && this.method === QUERY_METHOD) addQueryChunk(this, chunk);
      else if (
        Buffer.isBuffer(chunk) &&
        isJsonText(this) &&
        parseContentCoding(this.headers['content-encoding']) === 'identity'
      )
        addChunk(this, chunk, this);
      return node.push.call(this, chunk, encoding);
    },
  );
  defineMethod(
    request,
    'pipe',
    function (
      this: CheckedRequest,
      destination: NodeJS.WritableStream,
      options?: { end?: boolean },
    ): NodeJS.WritableStream {
      if (
        isJsonText(this) &&
        parseContentCoding(this.headers['content-encoding']) !== 'identity' &&
        isPushTarget(destination)
      )
        addDecodedChunks(this, destination);
      return node.pipe.call(this, destination, options);
    },
  );
}

/**
 * Whether the body has been read completely and is not valid UTF-8. More bytes may follow in a body that has not been
 * read.
 */
export function hasInvalidText(request: CheckedRequest): boolean {
  return request[UTF8_CHECK]?.isComplete === false && (request.readableEnded || request.body !== undefined);
}

function defineMethod(request: object, name: 'push' | 'pipe', value: unknown): void {
  Object.defineProperty(request, name, { value, writable: true, configurable: true });
}

/** JSON without a charset, or with UTF-8. */
function isJsonText({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'] ?? '';
  return (
    /^\s*application\/json\s*(;|$)/i.test(type) &&
    (!/;\s*charset/i.test(type) || /;\s*charset\s*=\s*"?utf-?8"?\s*(;|$)/i.test(type))
  );
}

/** Keeps the body of a QUERY, which parsers of the application reject beyond their limit, and read in their own way. */
function addQueryChunk(request: CheckedRequest, chunk: Buffer): void {
  const chunks = CHUNKS in request ? request[CHUNKS] : (request[CHUNKS] = []);
  chunks?.push(chunk);
  const bytes = (request[QUERY_BYTES] ?? 0) + chunk.length;
  request[QUERY_BYTES] = bytes;
  if (bytes > MOST_OF_QUERY.bodyBytes) request[CHUNKS] = undefined;
}

/** The bytes of a QUERY as they were sent, whoever has read it: `too-large` beyond every limit, undefined if they are not known. */
export async function readQueryBytes(request: CheckedRequest): Promise<Buffer | 'too-large' | undefined> {
  if (!request.readableEnded && !request.destroyed)
    await new Promise<void>((resolve) => {
      for (const event of ['end', 'close', 'error']) request.once(event, resolve);
      request.resume();
    });
  // Undefined for a client that has disconnected: a part of a body is not read for all of it.
  if (!(CHUNKS in request) || !request.complete) return undefined;
  const chunks = request[CHUNKS];
  request[CHUNKS] = undefined;
  return chunks ? Buffer.concat(chunks) : 'too-large';
}

/** The text of a body that a parser has read, once; undefined if it is not known. */
export function takeBodyText(request: CheckedRequest): string | undefined {
  const chunks = request[CHUNKS];
  request[CHUNKS] = undefined;
  return chunks && toText(Buffer.concat(chunks));
}

export function hasBodyText(request: CheckedRequest): boolean {
  return request[CHUNKS] !== undefined;
}

/** Forgets the body of a request that is not read by this package. */
export function dropBodyText(request: CheckedRequest): void {
  if (CHUNKS in request) request[CHUNKS] = undefined;
}

/** `stream`: what the parser reads. */
function addChunk(request: CheckedRequest, chunk: Buffer, stream: PushTarget): void {
  if (request[UTF8_CHECK] || !isUtf8(chunk)) (request[UTF8_CHECK] ??= new Utf8Check()).add(chunk);
  const chunks = CHUNKS in request ? request[CHUNKS] : (request[CHUNKS] = []);
  if (!chunks) return;
  chunks.push(chunk);
  const isUnread = stream.listenerCount('data') === 0 && stream.listenerCount('readable') === 0;
  if (isUnread && chunks.reduce((sum, { length }) => sum + length, 0) > UNREAD_BYTES)
    request[CHUNKS] = undefined;
}

function isPushTarget(destination: unknown): destination is PushTarget {
  return typeof (destination as Partial<PushTarget>).push === 'function';
}

function addDecodedChunks(request: CheckedRequest, decoder: PushTarget): void {
  const push = decoder.push.bind(decoder);
  decoder.push = (chunk, encoding) => {
    if (Buffer.isBuffer(chunk)) addChunk(request, chunk, decoder);
    return push(chunk, encoding);
  };
}

const EMPTY_BUFFER = Buffer.alloc(0);

/** Validates UTF-8 in chunks that may end inside a character, and buffers only the start of that character. */
export class Utf8Check {
  private incomplete: Buffer = EMPTY_BUFFER;
  private valid = true;

  /** False after invalid UTF-8, or inside an incomplete character. */
  get isComplete(): boolean {
    return this.valid && this.incomplete.length === 0;
  }

  add(chunk: Buffer): void {
    if (!this.valid) return;
    const [first] = this.incomplete;
    const missing = first === undefined ? 0 : getCharacterLength(first) - this.incomplete.length;
    const sequence = Buffer.concat([this.incomplete, chunk.subarray(0, missing)]);
    if (chunk.length < missing) {
      this.incomplete = sequence;
      return;
    }
    const end = findIncompleteEnd(chunk, missing);
    this.valid = isUtf8(sequence) && isUtf8(chunk.subarray(missing, end));
    // A copy, because a view would keep the whole chunk in memory.
    this.incomplete = Buffer.from(chunk.subarray(end));
  }
}

/** The byte length of a character with this first byte. */
function getCharacterLength(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

/** The start of an incomplete last character, or the end of the chunk. */
function findIncompleteEnd(chunk: Buffer, from: number): number {
  for (let at = chunk.length - 1; at >= Math.max(from, chunk.length - 3); at--) {
    const byte = chunk[at] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return getCharacterLength(byte) > chunk.length - at ? at : chunk.length;
  }
  return chunk.length;
}
