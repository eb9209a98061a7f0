import type { ServerResponse } from 'node:http';
import { mergedVary } from '../default-headers.js';
import type { ReceivedBody } from '../../request/parse/parse-body.js';
import { JSON_MEDIA_TYPE } from '../../core/media-type.js';
import { isAborted } from '../../request/is-aborted.js';
import { ChunkStream } from '../chunk-stream.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import { endConnection, sendResponse, setContractHeaders, setResponseHeaders } from '../send-response.js';
import type { HeaderTarget } from '../send-response.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { keptBody } from './fastify-content-type-parser.js';
import type { FastifyReply, FastifyRequest } from './fastify-types.js';
import type { ServerExchange } from '../server-exchange.js';
import { hasBody } from '../read-body.js';
import { readUrl, urlOf } from './fastify-url.js';
import type { MiddlewareRequest } from './fastify-url.js';
import { headerOf } from '../request-line.js';

/**
 * Answers on their way through the application's hooks: Fastify does not count them as sent. Kept on the reply, because a
 * weak collection that grows with every request makes each collection of young garbage look through it.
 */
const HANDED_OVER = Symbol('restify.handedOver');

/** What `send` was before somebody watched it. */
const SEND = Symbol('restify.send');

/** Set where an answer is a text of JSON: Fastify adds a charset to its media type. */
const IS_TEXT = Symbol('restify.isText');

interface MarkedReply extends FastifyReply {
  [HANDED_OVER]?: boolean;
  [SEND]?: FastifyReply['send'];
  [IS_TEXT]?: boolean;
}

/** For an `onSend` hook: takes the charset away again (contract 7.1). */
export function restoreMediaType(reply: MarkedReply): void {
  if (reply[IS_TEXT] !== true) return;
  reply[IS_TEXT] = false;
  if (reply.getHeader('content-type') === JSON_WITH_CHARSET) reply.header('content-type', JSON_MEDIA_TYPE);
}

/** Notices when somebody else answers, such as a guard or an action: two answers to one call would be sent. */
export function watchReply(reply: MarkedReply): void {
  reply[SEND] = reply.send;
  reply.send = sendWatched;
}

/** One function for all replies: a closure for each keeps its whole request from being collected while it is young. */
function sendWatched(this: MarkedReply, ...payload: Parameters<FastifyReply['send']>): unknown {
  this[HANDED_OVER] = true;
  return this[SEND]?.call(this, ...payload);
}

/** Fastify has not sent what it was given, and asks for an answer in its place. */
export function reopenReply(reply: MarkedReply): void {
  reply[HANDED_OVER] = false;
}

/** One call through Fastify, as its handlers see it. */
export function fastifyExchange(
  request: FastifyRequest & { user?: unknown },
  reply: FastifyReply,
): ServerExchange {
  // Middleware puts the actor on Node's request; guards, and Passport's own, on Fastify's.
  const { user } = request.raw as MiddlewareRequest;
  if (user !== undefined) request.user ??= user;
  const holder = request as Held<FastifyExchange>;
  const known = holder[EXCHANGE];
  if (known?.isStill(reply) === true) return known;
  return (holder[EXCHANGE] = new FastifyExchange(request, reply));
}

/** One call through Fastify, as middleware sees it, and whoever is asked before Fastify has made a request of it. */
export function middlewareExchange(request: MiddlewareRequest, response: ServerResponse): ServerExchange {
  return new MiddlewareExchange(request, response);
}

let serializer: symbol | undefined;

/** Whether a text is sent as it is: a serializer that the application has set for this reply would be given it. Where Fastify does not tell, it is not. */
function takesTexts(reply: object): boolean {
  serializer ??= Object.getOwnPropertySymbols(reply).find(
    ({ description }) => description === 'fastify.reply.serializer',
  );
  return serializer !== undefined && (reply as { readonly [held: symbol]: unknown })[serializer] === null;
}

const JSON_WITH_CHARSET = `${JSON_MEDIA_TYPE}; charset=utf-8`;

const EXCHANGE = Symbol('restify.exchange');

/** Where an exchange is kept, the same for everything that is asked about a call. */
interface Held<Exchange> {
  [EXCHANGE]?: Exchange;
}

/** What can be told of a call by Node's request alone. */
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

  /** Somebody may have given the request another path. */
  protected hasItsUrl(): boolean {
    return urlOf(this.raw) === this.url;
  }

  get method(): string {
    return this.raw.method ?? 'GET';
  }

  header(name: string): string | undefined {
    return headerOf(this.raw, name);
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

  get answered(): boolean {
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

  get answered(): boolean {
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

/** `Vary` can stand on Node's response and on Fastify's reply, which would hide the other. */
export function varyOf(reply: FastifyReply): string {
  const below = reply.raw.getHeader('vary');
  const above = reply.getHeader('vary');
  if (above === below) return mergedVary(below);
  return mergedVary([
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

  /** Most stand on Node's response since the request began. */
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

/** Through Fastify's own way, so that the application's `onSend` hooks see it. */
function sendReply(
  reply: MarkedReply,
  response: RestResponse,
  { allow, headers }: { readonly allow: string; readonly headers: HeaderTarget },
): MaybePromise<void> {
  if (isAnswered(reply)) return;
  reply[HANDED_OVER] = true;
  reply.code(response.status);
  setResponseHeaders(headers, response, allow);
  endConnection(reply.raw, headers);
  const { body } = response;
  if (body?.kind === 'text') {
    reply[IS_TEXT] = headers.getHeader('content-type') === JSON_MEDIA_TYPE && takesTexts(reply);
    // One write with the headers; bytes would be a second one. A media type of the application's own stays as it is.
    reply.send(reply[IS_TEXT] ? body.text : Buffer.from(body.text));
  } else if (!body) reply.send();
  else return reply.raw.req.method === 'HEAD' ? sendNone(reply, body.pieces) : sendPieces(reply, body.pieces);
}

/** HEAD has no body: the first page has told that there is no error. */
async function sendNone(reply: FastifyReply, pieces: AsyncIterable<string>): Promise<void> {
  await pieces[Symbol.asyncIterator]().return?.();
  reply.send();
}

/** Until all is handed over, or the client has gone. Rejects where the pieces fail: Fastify has broken the connection off. */
function sendPieces(reply: FastifyReply, pieces: AsyncIterable<string>): Promise<void> {
  const stream = new ChunkStream(pieces);
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.once('close', resolve);
    reply.send(stream);
  });
}
