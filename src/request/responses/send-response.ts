import type { ServerResponse } from 'node:http';
import { FIXED_HEADERS, mergedVary } from './contract-headers.js';
import { JSON_MEDIA_TYPE } from '../../values/media-type.js';
import type { RestResponse } from './rest-response.js';

/**
 * Writes a response. What the application has set itself is kept. Resolves when all is handed over, or when the client
 * has gone; a stream that fails breaks the connection off, so that nobody takes a part for the whole.
 */
export async function sendResponse(target: ServerResponse, response: RestResponse, allow: string): Promise<void> {
  if (target.headersSent) return;
  target.statusCode = response.status;
  setHeaders(target, response, allow);
  const { body } = response;
  if (!body) {
    target.end();
    return;
  }
  if (!target.hasHeader('Content-Type')) target.setHeader('Content-Type', JSON_MEDIA_TYPE);
  if (body.kind === 'text') {
    target.setHeader('Content-Length', Buffer.byteLength(body.text));
    target.end(body.text);
    return;
  }
  await sendPieces(target, body.pieces);
}

/** The headers of contract 7. Set early too, for what the application answers itself on one of our URLs. */
export function setContractHeaders(target: ServerResponse, allow: string): void {
  target.removeHeader('X-Powered-By');
  target.setHeader('Allow', allow);
  target.setHeader('Vary', mergedVary(target.getHeader('Vary')));
  for (const [name, value] of FIXED_HEADERS) if (!target.hasHeader(name)) target.setHeader(name, value);
}

function setHeaders(target: ServerResponse, response: RestResponse, allow: string): void {
  setContractHeaders(target, allow);
  for (const [name, value] of Object.entries(response.headers ?? {})) target.setHeader(name, value);
  if (isClosing(target)) target.setHeader('Connection', 'close');
}

/** A server that closes waits for its connections: one that is kept would be used, and waited for, again. */
function isClosing({ req }: ServerResponse): boolean {
  return (req.socket as { readonly server?: { readonly listening?: boolean } }).server?.listening === false;
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
