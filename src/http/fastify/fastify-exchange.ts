import type { ServerResponse, IncomingMessage } from 'node:http';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { ReceivedBody } from '../../request/http-exchange.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import { hasBody } from '../read-body.js';
import { getHeader, hasClientCertificate, removeOrigin } from '../server-exchange.js';
import type { ServerExchange } from '../server-exchange.js';
import { isAborted, writeResponse, setContractHeaders } from '../write-response.js';
import { getReceivedBody } from './fastify-content-type-parser.js';
import { isReplySent, ReplyHeaders, sendReply } from './fastify-reply.js';
import type { FastifyReply, FastifyRequest } from './fastify-types.js';

/** The exchange of one Fastify call for its handlers, the same object each time. */
export function getFastifyExchange(
  request: FastifyRequest & { user?: unknown },
  reply: FastifyReply,
): ServerExchange {
  // Middleware sets the user on Node's request; guards, including Passport's, on Fastify's.
  const { user } = request.raw as MiddlewareRequest;
  if (user !== undefined) request.user ??= user;
  const holder = request as ExchangeHolder;
  const known = holder[FASTIFY_EXCHANGE];
  if (known?.isExchangeOf(reply) === true) return known;
  return (holder[FASTIFY_EXCHANGE] = new FastifyExchange(request, reply));
}

/** The exchange of one Fastify call for middleware, and for code that runs before Fastify has created its request. */
export function createMiddlewareExchange(
  request: MiddlewareRequest,
  response: ServerResponse,
): ServerExchange {
  return new MiddlewareExchange(request, response);
}

const FASTIFY_EXCHANGE = Symbol('restify.exchange');

/** A request with its exchange. */
interface ExchangeHolder {
  [FASTIFY_EXCHANGE]?: FastifyExchange;
}

/** The properties of a call that are read from Node's request. */
abstract class NodeExchange {
  readonly path: string;
  readonly query: string;
  readonly mountedAt = '';
  private readonly url: string;

  constructor(readonly raw: MiddlewareRequest) {
    const { url, path, query } = parseUrl(raw);
    this.url = url;
    this.path = path;
    this.query = query;
  }

  /** False if other code has rewritten the path. */
  protected hasSameUrl(): boolean {
    return getClientUrl(this.raw) === this.url;
  }

  get method(): string {
    return this.raw.method ?? 'GET';
  }

  header(name: string): string | undefined {
    return getHeader(this.raw, name);
  }

  hasClientCertificate(): boolean {
    return hasClientCertificate(this.raw);
  }
}

class FastifyExchange extends NodeExchange implements ServerExchange {
  private readonly headers: ReplyHeaders;

  constructor(
    readonly request: FastifyRequest,
    readonly response: FastifyReply,
  ) {
    super(request.raw);
    this.headers = new ReplyHeaders(response);
  }

  /** Whether the reply and the path are unchanged: other code may rewrite the path. */
  isExchangeOf(reply: FastifyReply): boolean {
    return reply === this.response && this.hasSameUrl();
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
    return isReplySent(this.response);
  }

  get responseStatus(): number {
    return this.response.statusCode;
  }

  body(): ReceivedBody {
    return getParsedBody(this.request) ?? { kind: 'unsupported' };
  }

  parsedBody(): ReceivedBody | undefined {
    return getParsedBody(this.request);
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
    return sendReply(this.headers, response, allow);
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

  get responseStatus(): number {
    return this.response.statusCode;
  }

  body(): ReceivedBody {
    return { kind: hasBody(this.raw) ? 'unsupported' : 'none' };
  }

  parsedBody(): ReceivedBody | undefined {
    return hasBody(this.raw) ? undefined : { kind: 'none' };
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

  send(response: RestResponse, allow: string): MaybePromise<void> {
    return writeResponse(this.response, response, allow);
  }
}

/** The body; undefined if no parser has returned a value. */
function getParsedBody({ raw, body }: FastifyRequest): ReceivedBody | undefined {
  const received = getReceivedBody(raw);
  if (received) return received;
  if (!hasBody(raw)) return { kind: 'none' };
  return body === undefined ? undefined : { kind: 'value', value: body };
}

/** Node's request, as Fastify passes it to middleware. */
interface MiddlewareRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly protocol?: string;
  readonly ip?: string;
  readonly user?: unknown;
}

/** The parts of a request's URL. */
interface ParsedUrl {
  readonly url: string;
  readonly path: string;
  readonly query: string;
}

const PARSED_URL = Symbol('restify.url');

/** Parses the URL, and caches the result until the URL changes. */
function parseUrl(raw: MiddlewareRequest & { [PARSED_URL]?: ParsedUrl }): ParsedUrl {
  const url = getClientUrl(raw);
  const known = raw[PARSED_URL];
  if (known?.url === url) return known;
  const own = removeOrigin(url);
  const at = own.indexOf('?');
  return (raw[PARSED_URL] = {
    url,
    path: at < 0 ? own : own.slice(0, at),
    query: at < 0 ? '' : own.slice(at + 1),
  });
}

/** The URL as the client sent it. */
function getClientUrl(raw: MiddlewareRequest): string {
  return getUnescapedUrl(raw) ?? raw.originalUrl ?? raw.url ?? '/';
}

const UNESCAPED_URLS = new WeakMap<IncomingMessage, string>();

/**
 * Replaces a path with malformed escapes by one that Fastify's router can decode, and stores the original. The router
 * would otherwise respond before any hook, and such a path below a prefix has to be a 404.
 */
export function escapeMalformedUrls(request: IncomingMessage): void {
  const url = request.url ?? '/';
  if (!url.includes('%')) return;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  if (isDecodable(path)) return;
  UNESCAPED_URLS.set(request, url);
  request.url = path.replaceAll('%', '%25') + url.slice(path.length);
}

/** The original URL, if it was replaced. */
export function getUnescapedUrl(request: IncomingMessage): string | undefined {
  return UNESCAPED_URLS.get(request);
}

function isDecodable(path: string): boolean {
  try {
    decodeURI(path.replaceAll('%25', '%2525'));
    return true;
  } catch {
    return false;
  }
}
