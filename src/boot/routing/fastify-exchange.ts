import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { mergedVary } from '../../request/responses/contract-headers.js';
import type { HttpExchange } from '../../request/parsing/http-exchange.js';
import type { ReceivedBody } from '../../request/parsing/json-body.js';
import { untilGone } from '../../request/parsing/until-gone.js';
import type { RestResponse } from '../../request/responses/rest-response.js';
import { endConnection, sendResponse, setContractHeaders, setResponseHeaders } from '../../request/responses/send-response.js';
import type { HeaderTarget } from '../../request/responses/send-response.js';
import { keptBody } from './fastify-body.js';
import { writtenUrl } from './fastify-legible.js';
import type { FastifyReply, FastifyRequest } from './fastify-types.js';
import type { AnswerableExchange } from './answerable-exchange.js';
import { hasBody } from './request-body.js';

/** Node's request, as Fastify gives it to middleware. */
interface MiddlewareRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly protocol?: string;
  readonly ip?: string;
  readonly user?: unknown;
}

/** Answers on their way through the application's hooks: Fastify does not count them as sent. */
const HANDED_OVER = new WeakSet<FastifyReply>();

/** Notices when somebody else answers, such as a guard or an action: two answers to one call would be sent. */
export function watchReply(reply: FastifyReply): void {
  const send = reply.send.bind(reply);
  reply.send = (...payload) => {
    HANDED_OVER.add(reply);
    return send(...payload);
  };
}

/** Fastify has not sent what it was given, and asks for an answer in its place. */
export function reopenReply(reply: FastifyReply): void {
  HANDED_OVER.delete(reply);
}

/** One call through Fastify, as its handlers see it. */
export function fastifyExchange(request: FastifyRequest & { user?: unknown }, reply: FastifyReply): AnswerableExchange {
  const raw: MiddlewareRequest = request.raw;
  // Middleware puts the actor on Node's request; guards, and Passport's own, on Fastify's.
  if (raw.user !== undefined) request.user ??= raw.user;
  return {
    ...commonOf(raw),
    protocol: request.protocol ?? 'http',
    host: request.host === '' ? 'localhost' : request.host,
    address: request.ip ?? '',
    request,
    get answered() {
      return isAnswered(reply);
    },
    body: () => Promise.resolve(receivedBody(request)),
    gone: () => untilGone(reply.raw),
    setContractHeaders: (allow) => {
      setContractHeaders(headersOf(reply), allow);
    },
    setHeader: (name, value) => {
      reply.header(name, value);
    },
    send: (response, allow) => sendReply(reply, response, allow),
  };
}

/** One call through Fastify, as middleware sees it, and whoever is asked before Fastify has made a request of it. */
export function middlewareExchange(request: MiddlewareRequest, response: ServerResponse): AnswerableExchange {
  return {
    ...commonOf(request),
    protocol: request.protocol ?? 'http',
    host: request.headers.host ?? 'localhost',
    address: request.ip ?? request.socket.remoteAddress ?? '',
    request,
    get answered() {
      return response.headersSent;
    },
    body: () => Promise.resolve(hasBody(request) ? { kind: 'unsupported' } : { kind: 'none' }),
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

function commonOf(raw: MiddlewareRequest): Pick<HttpExchange, 'method' | 'path' | 'query' | 'mountedAt' | 'header'> {
  const url = writtenUrl(raw) ?? raw.originalUrl ?? raw.url ?? '/';
  const [path = '', ...query] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return {
    method: raw.method ?? 'GET',
    path,
    query: query.join('?'),
    mountedAt: '',
    header: (name) => {
      const value = raw.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
  };
}

function receivedBody({ raw, body }: FastifyRequest): ReceivedBody {
  const kept = keptBody(raw);
  if (kept) return kept;
  if (!hasBody(raw)) return { kind: 'none' };
  return body === undefined ? { kind: 'unsupported' } : { kind: 'value', value: body };
}

function isAnswered(reply: FastifyReply): boolean {
  return HANDED_OVER.has(reply) || reply.sent || reply.raw.headersSent;
}

/** `Vary` can stand on Node's response and on Fastify's reply, which would hide the other. */
export function varyOf(reply: FastifyReply): string {
  const both = [reply.raw.getHeader('vary'), reply.getHeader('vary')];
  return mergedVary([...new Set(both.flatMap((each) => String(each ?? '').split(',').map((name) => name.trim())))]);
}

function headersOf(reply: FastifyReply): HeaderTarget {
  return {
    getHeader: (name) => (name === 'Vary' ? varyOf(reply) : reply.getHeader(name)),
    hasHeader: (name) => reply.hasHeader(name),
    setHeader: (name, value) => reply.header(name, value),
    removeHeader: (name) => reply.removeHeader(name),
  };
}

/** Through Fastify's own way, so that the application's `onSend` hooks see it. Of a text it would name the charset, of bytes it does not. */
async function sendReply(reply: FastifyReply, response: RestResponse, allow: string): Promise<void> {
  if (isAnswered(reply)) return;
  HANDED_OVER.add(reply);
  reply.code(response.status);
  setResponseHeaders(headersOf(reply), response, allow);
  endConnection(reply.raw, headersOf(reply));
  const { body } = response;
  if (body?.kind === 'text') reply.send(Buffer.from(body.text));
  else if (body && reply.raw.req.method !== 'HEAD') await sendPieces(reply, body.pieces);
  else {
    // HEAD has no body: the first page has told that there is no error.
    await body?.pieces[Symbol.asyncIterator]().return?.();
    reply.send();
  }
}

/** Until all is handed over, or the client has gone. Rejects where the pieces fail: Fastify has broken the connection off. */
function sendPieces(reply: FastifyReply, pieces: AsyncIterable<string>): Promise<void> {
  const stream = Readable.from(pieces);
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.once('close', resolve);
    reply.send(stream);
  });
}
