import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpExchange } from '../../request/parsing/http-exchange.js';
import type { ReceivedBody } from '../../request/parsing/json-body.js';

/** What Express adds to Node's request, as far as it is read here. */
interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string;
  readonly baseUrl: string;
  readonly protocol: string;
  readonly host?: string;
  readonly ip?: string;
  readonly body?: unknown;
}

/** An error of Express's body parser. */
interface BodyError {
  readonly type?: string;
  readonly body?: unknown;
  readonly message: string;
}

/** Bodies that nobody has parsed are read here, up to this many bytes. */
const MAX_BODY_BYTES = 100 * 1024;

const BODY_ERRORS = new WeakMap<IncomingMessage, BodyError>();

/** Whether an error comes from the body parser, which runs before anybody knows whether the body is wanted. */
export function isBodyError(error: unknown): error is BodyError {
  const { type, code } = (error ?? {}) as { type?: unknown; code?: unknown };
  // Without a type, what zlib says of a compressed body that is none.
  return (typeof type === 'string' && /^(entity|encoding|charset|request|parameters|stream)\./.test(type)) || (typeof code === 'string' && /^(Z_|ERR__ERROR_)/.test(code));
}

/** Keeps a body's error until its turn (contract 6). */
export function keepBodyError(request: IncomingMessage, error: BodyError): void {
  BODY_ERRORS.set(request, error);
}

/** One call through Express. */
export function expressExchange(request: IncomingMessage, response: ServerResponse): HttpExchange {
  const express = request as ExpressRequest;
  const [path = '', ...query] = pathOf(express).split('?');
  return {
    method: request.method ?? 'GET',
    path,
    query: query.join('?'),
    protocol: express.protocol,
    host: hostOf(express),
    address: express.ip ?? request.socket.remoteAddress ?? '',
    mountedAt: express.baseUrl,
    request,
    response,
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: () => receivedBody(express),
  };
}

/** Of an absolute-form request line the path alone. */
function pathOf({ originalUrl, baseUrl }: ExpressRequest): string {
  const relative = originalUrl.replace(/^https?:\/\/[^/?]*/i, '');
  return relative.startsWith(baseUrl) ? relative.slice(baseUrl.length) : relative;
}

/** Express 5 gives `host` with its port, and by `X-Forwarded-Host` where the proxy is trusted. */
function hostOf(request: ExpressRequest): string {
  return request.host ?? request.headers.host ?? 'localhost';
}

async function receivedBody(request: ExpressRequest): Promise<ReceivedBody> {
  const error = BODY_ERRORS.get(request);
  if (error) return brokenBody(error);
  if (!hasBody(request)) return { kind: 'none' };
  if (request.body !== undefined) return Buffer.isBuffer(request.body) ? { kind: 'text', text: request.body.toString('utf8') } : { kind: 'value', value: request.body };
  return readBody(request);
}

/** RFC 9112, 6.3: a length, or chunks. */
function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function brokenBody(error: BodyError): ReceivedBody {
  switch (error.type) {
    case 'entity.parse.failed':
      return typeof error.body === 'string' ? { kind: 'text', text: error.body } : { kind: 'broken', reason: 'no JSON' };
    case 'entity.too.large':
    case 'parameters.too.many':
      return { kind: 'too-large' };
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return { kind: 'unsupported' };
    default:
      return { kind: 'broken', reason: 'the body could not be read' };
  }
}

function readBody(request: IncomingMessage): Promise<ReceivedBody> {
  if (request.readableEnded || request.destroyed) return Promise.resolve({ kind: 'unsupported' });
  const isJson = /^\s*application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      // The rest is still taken off the line, so that the answer can be sent on it.
      else resolve({ kind: 'too-large' });
    });
    request.on('end', () => {
      if (size === 0) resolve({ kind: 'none' });
      else resolve(isJson ? { kind: 'text', text: Buffer.concat(chunks).toString('utf8') } : { kind: 'unsupported' });
    });
    request.on('error', () => {
      resolve({ kind: 'broken', reason: 'the body could not be read' });
    });
  });
}
