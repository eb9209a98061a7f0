import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { ServerResponse } from 'node:http';
import { FIXED_HEADERS, mergedVary } from './default-headers.js';
import { JSON_MEDIA_TYPE } from '../core/media-type.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { RestResponse } from '../request/response/rest-response.js';

/**
 * Writes a response. What the application has set itself is kept. Done when all is handed over, or when the client has
 * gone; a stream that fails breaks the connection off, so that nobody takes a part for the whole.
 */
export function sendResponse(
  target: ServerResponse,
  response: RestResponse,
  allow: string,
): MaybePromise<void> {
  if (target.headersSent) return;
  target.statusCode = response.status;
  setResponseHeaders(target, response, allow);
  endConnection(target, target);
  const { body } = response;
  if (!body) target.end();
  else if (body.kind === 'text') {
    target.setHeader('Content-Length', Buffer.byteLength(body.text));
    target.end(body.text);
  } else return sendPieces(target, body.pieces);
}

/**
 * Why a response cannot be sent: a header of an author's that is none. Asked before anything of it is handed over, because
 * behind that nobody can answer any more, and the client would wait for ever.
 */
export function unsendable({ headers }: RestResponse): Error | undefined {
  if (!headers) return undefined;
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** Where headers are set: Node's response, or what an HTTP library has in its place. Asked for by names in lower case. */
export interface HeaderTarget {
  getHeader(name: string): string | readonly string[] | number | undefined;
  hasHeader(name: string): boolean;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
}

/** The headers of contract 7.1. Set early too, for what the application answers itself on one of our URLs. */
export function setContractHeaders(target: HeaderTarget, allow: string): void {
  if (target.hasHeader('x-powered-by')) target.removeHeader('X-Powered-By');
  if (target.getHeader('allow') !== allow) target.setHeader('Allow', allow);
  const before = target.getHeader('vary');
  const vary = mergedVary(before);
  if (before !== vary) target.setHeader('Vary', vary);
  for (const [name, value, key] of FIXED) if (!target.hasHeader(key)) target.setHeader(name, value);
}

/** Looked up by names that need not be made lower for it: most stand there since the request began. */
const FIXED = FIXED_HEADERS.map(([name, value]) => [name, value, name.toLowerCase()] as const);

/** All headers of a response but those that say how long it is. */
export function setResponseHeaders(target: HeaderTarget, response: RestResponse, allow: string): void {
  setContractHeaders(target, allow);
  const { headers } = response;
  if (headers)
    for (const [name, value] of Object.entries(headers))
      if (name !== 'Cache-Control' || !target.hasHeader('cache-control')) target.setHeader(name, value);
  if (response.body && !target.hasHeader('content-type')) target.setHeader('Content-Type', JSON_MEDIA_TYPE);
}

/** Servers that are about to close, and still take connections. */
const CLOSING = new WeakSet<object>();

/** From now on, all answers over its connections end these. */
export function markClosing(server: object): void {
  CLOSING.add(server);
}

/** A server that closes waits for its connections: one that is kept would be used, and waited for, again. */
export function endConnection(response: ServerResponse, target: HeaderTarget): void {
  const { server } = response.req.socket as { readonly server?: { readonly listening?: boolean } };
  if (server && (server.listening === false || CLOSING.has(server))) target.setHeader('Connection', 'close');
}

async function sendPieces(target: ServerResponse, pieces: AsyncIterable<string>): Promise<void> {
  // HEAD has no body: the first page has told that there is no error.
  if (target.req.method === 'HEAD') {
    await pieces[Symbol.asyncIterator]().return?.();
    target.end();
    return;
  }
  try {
    for await (const piece of pieces) {
      if (target.destroyed || target.writableEnded) return;
      if (!target.write(piece)) await drained(target);
    }
    target.end();
  } catch (error) {
    target.destroy();
    throw error;
  }
}

/** Until the client has taken what was written, or has gone. */
function drained(target: ServerResponse): Promise<void> {
  if (target.destroyed) return Promise.resolve();
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
