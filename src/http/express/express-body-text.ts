import { isUtf8 } from 'node:buffer';
import { IncomingMessage } from 'node:http';
import { codingOf } from '../read-body.js';
import { Utf8Check } from '../utf8-check.js';

const CHECK = Symbol('restify.utf8');

/** Made when a piece is not UTF-8 by itself: of most bodies there is none. */
interface CheckedRequest extends IncomingMessage {
  readonly body?: unknown;
  [CHECK]?: Utf8Check;
}

/** What a compressed body is piped into. */
interface Pushing {
  push(chunk: unknown, encoding?: BufferEncoding): boolean;
}

/**
 * The application's parser puts U+FFFD in the place of bytes that are no UTF-8 before anybody sees them. So the bytes are looked at
 * on their way: as the request gets them, and as the decoder gives them that a compressed body is piped into. None are kept.
 */
export function watchBodyText(application: unknown): void {
  const request = (application as { readonly request?: unknown } | null)?.request;
  if (!(request instanceof IncomingMessage)) return;
  // Inherited from Node: Express's requests have none of their own.
  const node = IncomingMessage.prototype;
  define(
    request,
    'push',
    function (this: CheckedRequest, chunk: unknown, encoding?: BufferEncoding): boolean {
      if (Buffer.isBuffer(chunk) && isText(this) && codingOf(this.headers['content-encoding']) === 'identity')
        look(this, chunk);
      return node.push.call(this, chunk, encoding);
    },
  );
  define(
    request,
    'pipe',
    function (
      this: CheckedRequest,
      destination: NodeJS.WritableStream,
      options?: { end?: boolean },
    ): NodeJS.WritableStream {
      if (isText(this) && codingOf(this.headers['content-encoding']) !== 'identity' && isPushing(destination))
        watchDecoder(this, destination);
      return node.pipe.call(this, destination, options);
    },
  );
}

/** Whether somebody has read all of a body whose bytes are no UTF-8. Of one that nobody has read, more may come. */
export function isBrokenText(request: CheckedRequest): boolean {
  return request[CHECK]?.isWhole === false && (request.readableEnded || request.body !== undefined);
}

function define(request: object, name: 'push' | 'pipe', value: unknown): void {
  Object.defineProperty(request, name, { value, writable: true, configurable: true });
}

/** JSON that says nothing of its charset, or that it is UTF-8. */
function isText({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'] ?? '';
  return (
    /^\s*application\/json\s*(;|$)/i.test(type) &&
    (!/;\s*charset/i.test(type) || /;\s*charset\s*=\s*"?utf-?8"?\s*(;|$)/i.test(type))
  );
}

function look(request: CheckedRequest, chunk: Buffer): void {
  if (!request[CHECK] && isUtf8(chunk)) return;
  (request[CHECK] ??= new Utf8Check()).add(chunk);
}

function isPushing(destination: unknown): destination is Pushing {
  return typeof (destination as Partial<Pushing>).push === 'function';
}

function watchDecoder(request: CheckedRequest, decoder: Pushing): void {
  const push = decoder.push.bind(decoder);
  decoder.push = (chunk, encoding) => {
    if (Buffer.isBuffer(chunk)) look(request, chunk);
    return push(chunk, encoding);
  };
}
