import type { ServerResponse } from 'node:http';
import { mergeVary } from '../default-headers.js';
import type { ReceivedBody } from '../../request/parse/parse-body.js';
import { JSON_MEDIA_TYPE } from '../../core/media-type.js';
import { isAborted } from '../../request/is-aborted.js';
import { ChunkStream } from '../chunk-stream.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import {
  setConnectionHeader,
  sendResponse,
  setContractHeaders,
  setResponseHeaders,
} from '../send-response.js';
import type { HeaderTarget } from '../send-response.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { keptBody } from './fastify-content-type-parser.js';
import type { FastifyReply, FastifyRequest } from './fastify-types.js';
import type { ServerExchange } from '../server-exchange.js';
import { hasBody } from '../read-body.js';
import { readUrl, urlOf } from './fastify-url.js';
import type { MiddlewareRequest } from './fastify-url.js';
import { getHeader } from '../request-line.js';

/**
 * Marks a response that is passing through the application's hooks, which Fastify does not count as sent. Stored on the
 * reply: a weak collection with an entry for each request would slow down every garbage collection of the young
 * generation.
 */
const HANDED_OVER = Symbol('restify.handedOver');

/** The original `send` of a watched reply. */
const SEND = Symbol('restify.send');

/** Marks a JSON text as the payload: Fastify adds a charset to its media type. */
const IS_TEXT = Symbol('restify.isText');

interface MarkedReply extends FastifyReply {
  [HANDED_OVER]?: boolean;
  [SEND]?: FastifyReply['send'];
  [IS_TEXT]?: boolean;
}

/** Removes the charset in an `onSend` hook (contract 7.1). */
export function restoreMediaType(reply: MarkedReply): void {
  if (reply[IS_TEXT] !== true) return;
  reply[IS_TEXT] = false;
  if (reply.getHeader('content-type') === JSON_WITH_CHARSET) reply.header('content-type', JSON_MEDIA_TYPE);
}

/** Detects a response by other code, such as a guard or an action: a second response would be sent otherwise. */
export function watchReply(reply: MarkedReply): void {
  reply[SEND] = reply.send;
  reply.send = sendWatched;
}

/**
 * One function for all replies: a closure for each would keep its request alive through a young-generation collection.
 */
function sendWatched(this: MarkedReply, ...payload: Parameters<FastifyReply['send']>): unknown {
  this[HANDED_OVER] = true;
  return this[SEND]?.call(this, ...payload);
}

/** Resets the mark after Fastify has failed to send a response, and requests an error response. */
export function reopenReply(reply: MarkedReply): void {
  reply[HANDED_OVER] = false;
}

/** The exchange of one Fastify call, for its handlers. */
export function fastifyExchange(
  request: FastifyRequest & { user?: unknown },
  reply: FastifyReply,
): ServerExchange {
  // Middleware sets the user on Node's request; guards, including Passport's, on Fastify's.
  const { user } = request.raw as MiddlewareRequest;
  if (user !== undefined) request.user ??= user;
  const holder = request as Held<FastifyExchange>;
  const known = holder[EXCHANGE];
  if (known?.isStill(reply) === true) return known;
  return (holder[EXCHANGE] = new FastifyExchange(request, reply));
}

/** The exchange of one Fastify call for middleware, and for code that runs before Fastify has created its request. */
export function middlewareExchange(request: MiddlewareRequest, response: ServerResponse): ServerExchange {
  return new MiddlewareExchange(request, response);
}

let serializer: symbol | undefined;

/**
 * Whether a text is sent unchanged: a serializer that the application has set for this reply would receive it. False if
 * Fastify's internals differ.
 */
function takesTexts(reply: object): boolean {
  serializer ??= Object.getOwnPropertySymbols(reply).find(
    ({ description }) => description === 'fastify.reply.serializer',
  );
  return serializer !== undefined && (reply as { readonly [held: symbol]: unknown })[serializer] === null;
}

const JSON_WITH_CHARSET = `${JSON_MEDIA_TYPE}; charset=utf-8`;

const EXCHANGE = Symbol('restify.exchange');

/** The property under which an exchange is stored, so that one call has one exchange. */
interface Held<Exchange> {
  [EXCHANGE]?: Exchange;
}

/** The properties of a call that Node's request contains. */
abstract class NodeExchange {
  readonly path: string;
  readonly query: string;
  readonly mountedAt = '';
  private readonly url: string;

  constructor(readonly raw: MiddlewareRequest) {
    const { url, path, query } = readUrl(raw);
    this.url = url;
    this.path = path;
    this.query = query;
  }

  /** False if other code has rewritten the path. */
  protected hasItsUrl(): boolean {
    return urlOf(this.raw) === this.url;
  }

  get method(): string {
    return this.raw.method ?? 'GET';
  }

  header(name: string): string | undefined {
    return getHeader(this.raw, name);
  }
}

class FastifyExchange extends NodeExchange implements ServerExchange {
  private readonly headers: HeaderTarget;

  constructor(
    readonly request: FastifyRequest,
    readonly response: FastifyReply,
  ) {
    super(request.raw);
    this.headers = new ReplyHeaders(response);
  }

  isStill(reply: FastifyReply): boolean {
    return reply === this.response && this.hasItsUrl();
  }

  get protocol(): string {
    return this.request.protocol ?? 'http';
  }

  get host(): string {
    return this.request.host === '' ? 'localhost' : this.request.host;
  }

  get address(): string {
    return this.request.ip ?? '';
  }

  get isResponseSent(): boolean {
    return isAnswered(this.response);
  }

  body(): ReceivedBody {
    return receivedBody(this.request);
  }

  isAborted(): boolean {
    return isAborted(this.response.raw);
  }

  setContractHeaders(allow: string): void {
    setContractHeaders(this.headers, allow);
  }

  setHeader(name: string, value: string): void {
    this.response.header(name, value);
  }

  send(response: RestResponse, allow: string): MaybePromise<void> {
    return sendReply(this.response, response, { allow, headers: this.headers });
  }
}

class MiddlewareExchange extends NodeExchange implements ServerExchange {
  constructor(
    raw: MiddlewareRequest,
    readonly response: ServerResponse,
  ) {
    super(raw);
  }

  get request(): MiddlewareRequest {
    return this.raw;
  }

  get protocol(): string {
    return this.raw.protocol ?? 'http';
  }

  get host(): string {
    return this.raw.headers.host ?? 'localhost';
  }

  get address(): string {
    return this.raw.ip ?? this.raw.socket.remoteAddress ?? '';
  }

  get isResponseSent(): boolean {
    return this.response.headersSent;
  }

  body(): ReceivedBody {
    return { kind: hasBody(this.raw) ? 'unsupported' : 'none' };
  }

  isAborted(): boolean {
    return isAborted(this.response);
  }

  setContractHeaders(allow: string): void {
    setContractHeaders(this.response, allow);
  }

  setHeader(name: string, value: string): void {
    this.response.setHeader(name, value);
  }

  send(answer: RestResponse, allow: string): MaybePromise<void> {
    return sendResponse(this.response, answer, allow);
  }
}

function receivedBody({ raw, body }: FastifyRequest): ReceivedBody {
  const kept = keptBody(raw);
  if (kept) return kept;
  if (!hasBody(raw)) return { kind: 'none' };
  return body === undefined ? { kind: 'unsupported' } : { kind: 'value', value: body };
}

function isAnswered(reply: MarkedReply): boolean {
  return reply[HANDED_OVER] === true || reply.sent || reply.raw.headersSent;
}

/** Merges the `Vary` headers of Node's response and Fastify's reply, of which the latter would hide the former. */
export function varyOf(reply: FastifyReply): string {
  const below = reply.raw.getHeader('vary');
  const above = reply.getHeader('vary');
  if (above === below) return mergeVary(below);
  return mergeVary([
    ...new Set(
      [below, above].flatMap((each) =>
        String(each ?? '')
          .split(',')
          .map((name) => name.trim()),
      ),
    ),
  ]);
}

class ReplyHeaders implements HeaderTarget {
  constructor(private readonly reply: FastifyReply) {}

  getHeader(name: string): string | readonly string[] | number | undefined {
    return name === 'vary' ? varyOf(this.reply) : this.reply.getHeader(name);
  }

  /** Most headers are set on Node's response when the request begins. */
  hasHeader(name: string): boolean {
    return this.reply.raw.hasHeader(name) || this.reply.hasHeader(name);
  }

  setHeader(name: string, value: string): unknown {
    return this.reply.header(name, value);
  }

  removeHeader(name: string): unknown {
    return this.reply.removeHeader(name);
  }
}

/** Sends through Fastify's reply, so that the application's `onSend` hooks run. */
function sendReply(
  reply: MarkedReply,
  response: RestResponse,
  { allow, headers }: { readonly allow: string; readonly headers: HeaderTarget },
): MaybePromise<void> {
  if (isAnswered(reply)) return;
  reply[HANDED_OVER] = true;
  reply.code(response.status);
  setResponseHeaders(headers, response, allow);
  setConnectionHeader(reply.raw, headers);
  const { body } = response;
  if (body?.kind === 'text') {
    reply[IS_TEXT] = headers.getHeader('content-type') === JSON_MEDIA_TYPE && takesTexts(reply);
    // A text is written in one call with the headers; bytes need a second one. A custom media type of the application
    // is kept.
    reply.send(reply[IS_TEXT] ? body.text : Buffer.from(body.text));
  } else if (!body) reply.send();
  else return reply.raw.req.method === 'HEAD' ? sendNone(reply, body.pieces) : sendPieces(reply, body.pieces);
}

/** HEAD has no body: the first page has shown that there is no error. */
async function sendNone(reply: FastifyReply, pieces: AsyncIterable<string>): Promise<void> {
  await pieces[Symbol.asyncIterator]().return?.();
  reply.send();
}

/**
 * Resolves when everything is written, or the client has disconnected. Rejects if a chunk fails: Fastify has closed the
 * connection then.
 */
function sendPieces(reply: FastifyReply, pieces: AsyncIterable<string>): Promise<void> {
  const stream = new ChunkStream(pieces);
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.once('close', resolve);
    reply.send(stream);
  });
}
