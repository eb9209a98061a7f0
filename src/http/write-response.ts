import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { MaybePromise } from '../core/maybe-promise.js';
import { JSON_MEDIA_TYPE } from '../core/contracts/renderer.js';
import { QUERY_MEDIA_TYPE, QUERY_METHOD } from '../core/schema/operation.js';
import { connectionBelow } from '../internals/node.js';
import type { RestResponse } from '../request/response/rest-response.js';

/**
 * Writes a response. Headers that the application has set are kept. Resolves when everything is written, or the client
 * has disconnected; a stream that fails breaks the response off.
 */
export function writeResponse(
  target: ServerResponse,
  response: RestResponse,
  allow: string,
): MaybePromise<void> {
  if (target.headersSent) return;
  target.statusCode = response.status;
  setResponseHeaders(target, response, allow);
  setConnectionHeader(target, target);
  const { body } = response;
  if (!body) target.end();
  else if (body.kind === 'text') {
    target.setHeader('Content-Length', Buffer.byteLength(body.text));
    target.end(body.text);
  } else return sendPieces(target, body.pieces);
}

/** The target of headers: Node's response, or the HTTP library's replacement. Looked up by lower-case names. */
export interface HeaderTarget {
  getHeader(name: string): string | readonly string[] | number | undefined;
  hasHeader(name: string): boolean;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
}

/** The headers of every response, errors included (contract 7.1), in addition to `Allow`, `Content-Type` and `Vary`. */
export const FIXED_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Referrer-Policy', 'same-origin'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
];

/** With lower-case names for the lookup: most headers are set when the request begins. */
const FIXED = FIXED_HEADERS.map(([name, value]) => [name, value, name.toLowerCase()] as const);

const VARY_NAMES = ['Accept', 'Cookie'] as const;
const DEFAULT_VARY = VARY_NAMES.join(', ');

/** Sets the headers of contract 7.1. Also set early, for responses of the application on a generated URL. */
export function setContractHeaders(target: HeaderTarget, allow: string): void {
  if (target.hasHeader('x-powered-by')) target.removeHeader('X-Powered-By');
  if (target.getHeader('allow') !== allow) {
    target.setHeader('Allow', allow);
    if (allow.endsWith(QUERY_METHOD)) target.setHeader('Accept-Query', QUERY_MEDIA_TYPE);
  }
  const before = target.getHeader('vary');
  const vary = mergeVary(before);
  if (before !== vary) target.setHeader('Vary', vary);
  for (const [name, value, key] of FIXED) if (!target.hasHeader(key)) target.setHeader(name, value);
}

/** Merges the `Vary` header with the one that is already set. */
export function mergeVary(before: string | readonly string[] | number | undefined): string {
  if (before === undefined || before === DEFAULT_VARY) return DEFAULT_VARY;
  const names = (Array.isArray(before) ? before.join(',') : String(before))
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.includes('*')) return '*';
  const lower = new Set(names.map((name) => name.toLowerCase()));
  return [...names, ...VARY_NAMES.filter((name) => !lower.has(name.toLowerCase()))].join(', ');
}

/** Sets all headers of a response except its length. */
export function setResponseHeaders(target: HeaderTarget, response: RestResponse, allow: string): void {
  setContractHeaders(target, allow);
  const { headers } = response;
  if (headers)
    for (const [name, value] of Object.entries(headers))
      if (name !== 'Cache-Control' || !target.hasHeader('cache-control')) target.setHeader(name, value);
  if (response.body && !target.hasHeader('content-type')) target.setHeader('Content-Type', JSON_MEDIA_TYPE);
}

/** True if the connection closed before the response was complete. */
export function isAborted(response: ServerResponse): boolean {
  return isClosed(response) && !response.writableFinished;
}

/** Servers that are closing, but still accept connections. */
const CLOSING_SERVERS = new WeakSet<object>();

/** Every later response on the server's connections closes its connection. */
export function markClosing(server: object): void {
  CLOSING_SERVERS.add(server);
}

/**
 * Adds `Connection: close` while the server closes: a kept connection would be reused, and would delay the shutdown.
 */
export function setConnectionHeader(response: ServerResponse, target: HeaderTarget): void {
  const { server } = response.req.socket as { readonly server?: { readonly listening?: boolean } };
  if (server && (server.listening === false || CLOSING_SERVERS.has(server)))
    target.setHeader('Connection', 'close');
}

async function sendPieces(target: ServerResponse, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]();
  // HEAD has no body: the first page has shown that there is no error.
  if (target.req.method === 'HEAD') {
    await iterator.return?.();
    target.end();
    return;
  }
  try {
    while (await writePiece(target, iterator));
  } catch (error) {
    await breakOff(target);
    throw error;
  }
}

/**
 * Writes the next piece. False after the last one, and if the client has disconnected. A function of its own, because the
 * frame of a loop would keep each piece until the next one has been read.
 */
async function writePiece(
  target: ServerResponse,
  iterator: AsyncIterator<string | Uint8Array>,
): Promise<boolean> {
  const piece = await iterator.next();
  if (piece.done === true) {
    target.end();
    return false;
  }
  if (isClosed(target) || target.writableEnded) {
    await iterator.return?.();
    return false;
  }
  try {
    // Responses that adapters of serverless platforms make return nothing, and emit no `drain`.
    const isTaken: unknown = target.write(piece.value);
    if (isTaken === false) await waitForDrain(target);
  } catch (error) {
    // Node does not take the piece. The iterator releases what it holds; its own error would hide the first one.
    await Promise.resolve(iterator.return?.()).catch(() => undefined);
    throw error;
  }
  return true;
}

/** Resolves when the client has received what was written, or has disconnected. */
function waitForDrain(target: ServerResponse): Promise<void> {
  if (isClosed(target)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      target.off('drain', done);
      target.off('close', done);
      resolve();
    };
    target.once('drain', done);
    target.once('close', done);
  });
}

/** The error code INTERNAL_ERROR of HTTP/2 (RFC 9113, section 7). */
const INTERNAL_ERROR = 2;

/** The response of HTTP/1.x, or that of HTTP/2, which has a stream in the place of a connection. */
interface AnyResponse {
  readonly stream?: ServerHttp2Stream;
  readonly socket: Socket | null;
}

/**
 * How long a client may read what was sent before the reset, in milliseconds. One that gets both at once may see the end of
 * the connection in the place of an error, as libuv does, or nothing of the response.
 */
const READ_TIME = 100;

/**
 * Breaks off a response whose body cannot be completed, so that no client takes a part for the whole (contract 4.12): the
 * stream of HTTP/2 ends with an error, the connection of HTTP/1.x is reset. The end of a connection would not do: a body of
 * HTTP/1.0 without a length ends with it.
 */
export async function breakOff(response: ServerResponse): Promise<void> {
  const { stream }: AnyResponse = response;
  if (stream) {
    stream.close(INTERNAL_ERROR);
    return;
  }
  await pause(READ_TIME);
  const { socket }: AnyResponse = response;
  if (socket) reset(socket);
  // A pipelined request: the responses before this one are sent first.
  else response.once('socket', reset);
  response.destroy();
}

/** Resets a connection, below its encryption. One that cannot be reset, such as a Unix socket, is closed. */
function reset(socket: Socket): void {
  try {
    connectionBelow(socket).resetAndDestroy();
  } catch {
    socket.destroy();
  }
}

/** Whether the client has disconnected, or has cancelled the stream of HTTP/2. */
function isClosed(response: ServerResponse): boolean {
  const { stream }: AnyResponse = response;
  return stream ? stream.closed || stream.destroyed : response.destroyed;
}
