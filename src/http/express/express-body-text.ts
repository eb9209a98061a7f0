import { isUtf8 } from 'node:buffer';
import { IncomingMessage } from 'node:http';
import { parseContentCoding } from '../read-body.js';
import { Utf8Check } from '../utf8-check.js';

const UTF8_CHECK = Symbol('restify.utf8');

/**
 * A request whose body is checked, created at the first chunk that is not valid UTF-8 by itself; most bodies have none.
 */
interface CheckedRequest extends IncomingMessage {
  readonly body?: unknown;
  [UTF8_CHECK]?: Utf8Check;
}

/** The stream into which a compressed body is piped. */
interface PushTarget {
  push(chunk: unknown, encoding?: BufferEncoding): boolean;
}

/**
 * Checks that bodies are valid UTF-8. The application's parser replaces invalid bytes by U+FFFD before any handler
 * runs, so the bytes are checked as the request receives them, or as the decoder of a compressed body returns them.
 * None are buffered.
 */
export function checkBodyText(application: unknown): void {
  const request = (application as { readonly request?: unknown } | null)?.request;
  if (!(request instanceof IncomingMessage)) return;
  // Express's request prototype inherits both methods from Node.
  const node = IncomingMessage.prototype;
  defineMethod(
    request,
    'push',
    function (this: CheckedRequest, chunk: unknown, encoding?: BufferEncoding): boolean {
      if (
        Buffer.isBuffer(chunk) &&
        isJsonText(this) &&
        parseContentCoding(this.headers['content-encoding']) === 'identity'
      )
        checkChunk(this, chunk);
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
        checkDecodedChunks(this, destination);
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

function checkChunk(request: CheckedRequest, chunk: Buffer): void {
  if (!request[UTF8_CHECK] && isUtf8(chunk)) return;
  (request[UTF8_CHECK] ??= new Utf8Check()).add(chunk);
}

function isPushTarget(destination: unknown): destination is PushTarget {
  return typeof (destination as Partial<PushTarget>).push === 'function';
}

function checkDecodedChunks(request: CheckedRequest, decoder: PushTarget): void {
  const push = decoder.push.bind(decoder);
  decoder.push = (chunk, encoding) => {
    if (Buffer.isBuffer(chunk)) checkChunk(request, chunk);
    return push(chunk, encoding);
  };
}
