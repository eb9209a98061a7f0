import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedBody } from '../../request/parsing/json-body.js';
import { untilGone } from '../../request/parsing/until-gone.js';
import { sendResponse, setContractHeaders } from '../../request/responses/send-response.js';
import type { AnswerableExchange } from './answerable-exchange.js';
import { hasBody, readBody } from './request-body.js';

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
export function expressExchange(request: IncomingMessage, response: ServerResponse): AnswerableExchange {
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
    get answered() {
      return response.headersSent;
    },
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: () => receivedBody(express),
    gone: () => untilGone(response),
    setContractHeaders: (allow) => {
      setContractHeaders(response, allow);
    },
    setHeader: (name, value) => {
      response.setHeader(name, value);
    },
    send: (answer, allow) => sendResponse(response, answer, allow),
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
  if (request.readableEnded || request.destroyed) return { kind: 'unsupported' };
  const isJson = /^\s*application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '');
  const body = await readBody(request, MAX_BODY_BYTES);
  return body.kind === 'text' && !isJson ? { kind: 'unsupported' } : body;
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
