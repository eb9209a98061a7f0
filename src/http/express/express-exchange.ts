import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { MERGE_PATCH_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import { BODY_BYTES, MOST_OF_QUERY } from '../../core/schema/limits.js';
import { QUERY_METHOD } from '../../core/schema/operation.js';
import { isJsonLike } from '../../request/application-body.js';
import type { ReceivedBody } from '../../request/http-exchange.js';
import { isJsonType } from '../../request/request-input.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import {
  parseContentCoding,
  findUnsupportedCoding,
  hasBody,
  NOT_UTF8,
  readDecodedBody,
  decodeText,
} from '../read-body.js';
import { getHeader, hasClientCertificate, removeOrigin } from '../server-exchange.js';
import type { ServerExchange } from '../server-exchange.js';
import { isAborted, writeResponse, setContractHeaders } from '../write-response.js';
import { hasInvalidText, readQueryBytes, takeBodyText } from './express-body-text.js';

/** The properties of Express's request that are used, in addition to Node's. */
interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string;
  readonly baseUrl: string;
  readonly protocol: string;
  readonly host?: string;
  readonly ip?: string;
  readonly body?: unknown;
  [EXPRESS_EXCHANGE]?: ExpressExchange;
}

/** An error of Express's body parser. */
interface BodyError {
  readonly type?: string;
  readonly body?: unknown;
  readonly message: string;
}

/** The code of this package's own body error. */
const INVALID_TEXT = 'restify.text.broken';

const BODY_ERRORS = new WeakMap<IncomingMessage, BodyError>();

/** Whether an error comes from the body parser, which runs before it is known whether the operation uses the body. */
export function isBodyError(error: unknown): error is BodyError {
  const { type, code } = (error ?? {}) as { type?: unknown; code?: unknown };
  // An error of zlib, for an invalid compressed body, has no `type`.
  return (
    (typeof type === 'string' && /^(entity|encoding|charset|request|parameters|stream)\./.test(type)) ||
    (typeof code === 'string' && /^(Z_|ERR__ERROR_|ZSTD_)/.test(code))
  );
}

/** Stores a body error until the body is validated (contract 6.3). */
export function storeBodyError(request: IncomingMessage, error: BodyError): void {
  BODY_ERRORS.set(request, error);
}

const EXPRESS_EXCHANGE = Symbol('restify.exchange');

/** The exchange of one Express call, the same object each time. */
export function getExpressExchange(request: IncomingMessage, response: ServerResponse): ServerExchange {
  const express = request as ExpressRequest;
  const known = express[EXPRESS_EXCHANGE];
  if (known?.isExchangeOf(response) === true) return known;
  return (express[EXPRESS_EXCHANGE] = new ExpressExchange(express, response));
}

class ExpressExchange implements ServerExchange {
  readonly path: string;
  readonly query: string;
  readonly mountedAt: string;
  private readonly url: string;
  /** Read once: a stream cannot be read twice. */
  private unparsed: Promise<ReceivedBody> | undefined;

  constructor(
    readonly raw: ExpressRequest,
    readonly response: ServerResponse,
  ) {
    this.url = raw.originalUrl;
    this.mountedAt = raw.baseUrl;
    const url = getRelativeUrl(raw);
    const query = url.indexOf('?');
    this.path = query < 0 ? url : url.slice(0, query);
    this.query = query < 0 ? '' : url.slice(query + 1);
  }

  /** Whether the response and the path are unchanged: middleware may rewrite the path. */
  isExchangeOf(response: ServerResponse): boolean {
    return (
      response === this.response && this.raw.originalUrl === this.url && this.raw.baseUrl === this.mountedAt
    );
  }

  get request(): ExpressRequest {
    return this.raw;
  }

  get method(): string {
    return this.raw.method ?? 'GET';
  }

  get protocol(): string {
    return this.raw.protocol;
  }

  /** Express 5 includes the port in `host`, and uses `X-Forwarded-Host` if the proxy is trusted. */
  get host(): string {
    return this.raw.host ?? this.raw.headers.host ?? 'localhost';
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

  header(name: string): string | undefined {
    return getHeader(this.raw, name);
  }

  hasClientCertificate(): boolean {
    return hasClientCertificate(this.raw);
  }

  async body(): Promise<ReceivedBody> {
    if (this.method === QUERY_METHOD && hasBody(this.raw)) return (this.unparsed ??= readQueryBody(this.raw));
    const parsed = getParsedBody(this.raw);
    if (!parsed) return (this.unparsed ??= readUnparsedBody(this.raw));
    return Buffer.isBuffer(this.raw.body) ? decodeText(this.raw.body) : parsed;
  }

  parsedBody(): ReceivedBody | undefined {
    const body = getParsedBody(this.raw);
    // Express's parser keeps keys that Fastify's rejects.
    return body?.kind === 'value' && isJsonLike(this.header('content-type')) && hasPrototypeKeys(body.value)
      ? { ...body, unsafe: true }
      : body;
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

/** The path of an absolute-form request line, without the origin. */
function getRelativeUrl({ originalUrl, baseUrl }: ExpressRequest): string {
  const relative = removeOrigin(originalUrl);
  return relative.startsWith(baseUrl) ? relative.slice(baseUrl.length) : relative;
}

/** The body without reading it; undefined if no parser has read or rejected it. */
function getParsedBody(request: ExpressRequest): ReceivedBody | undefined {
  if (!hasBody(request)) return { kind: 'none' };
  const unsupported = findUnsupportedCoding(request);
  if (unsupported) return unsupported;
  const error = BODY_ERRORS.get(request);
  if (error) return describeBodyError(error, request);
  if (hasInvalidText(request)) return { kind: 'broken', reason: NOT_UTF8 };
  return request.body === undefined
    ? undefined
    : { kind: 'value', value: request.body, text: () => takeBodyText(request) };
}

async function readUnparsedBody(request: ExpressRequest): Promise<ReceivedBody> {
  if (request.readableEnded || request.destroyed) return { kind: 'unsupported' };
  const body = await readDecodedBody(request, request, BODY_BYTES);
  if (body.kind !== 'text') return body;
  const type = request.headers['content-type'];
  if (isJsonType(type)) return parseReadText(request, body.text);
  return isJsonType(type, MERGE_PATCH_MEDIA_TYPE)
    ? { kind: 'unsupported', text: body.text }
    : { kind: 'unsupported' };
}

/** The text of a QUERY, whatever a parser of the application has made of it. */
async function readQueryBody(request: ExpressRequest): Promise<ReceivedBody> {
  const bytes = await readQueryBytes(request);
  if (bytes === undefined) return { kind: 'unsupported' };
  return bytes === 'too-large'
    ? { kind: 'too-large' }
    : readDecodedBody(Readable.from([bytes], { objectMode: false }), request, MOST_OF_QUERY.bodyBytes);
}

/** Parses a body that no parser of the application has read, so that its methods get it, too. */
function parseReadText(request: ExpressRequest, text: string): ReceivedBody {
  try {
    const value = JSON.parse(text) as unknown;
    Object.assign(request, { body: value });
    return { kind: 'value', value, text: () => text };
  } catch {
    return { kind: 'text', text };
  }
}

/** Stores the error of a body that is not valid UTF-8, after the application's parser has decoded it. */
export function storeInvalidText(request: IncomingMessage): void {
  storeBodyError(request, { type: INVALID_TEXT, message: NOT_UTF8 });
  Object.assign(request, { body: undefined });
}

function describeBodyError(error: BodyError, { headers }: IncomingMessage): ReceivedBody {
  switch (error.type) {
    case 'entity.parse.failed':
      return typeof error.body === 'string'
        ? { kind: 'text', text: error.body }
        : { kind: 'broken', reason: 'no JSON' };
    case 'entity.too.large':
    case 'parameters.too.many':
      return { kind: 'too-large' };
    case 'encoding.unsupported':
      // A supported one: the parser does not decompress (`inflate: false`).
      return {
        kind: 'coded',
        coding: parseContentCoding(headers['content-encoding']),
        decoded: 'identity',
      };
    case 'charset.unsupported':
      return { kind: 'unsupported' };
    case INVALID_TEXT:
      return { kind: 'broken', reason: NOT_UTF8 };
    default:
      return { kind: 'broken', reason: 'the body could not be read' };
  }
}

/**
 * Whether parsed JSON has a key `__proto__`, or a `constructor` with a `prototype`, at any depth: code that copies such an
 * object may replace a prototype. Iterative, so that a deep body cannot overflow the stack.
 */
export function hasPrototypeKeys(value: unknown): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const each = pending.pop();
    if (typeof each !== 'object' || each === null || ArrayBuffer.isView(each) || seen.has(each)) continue;
    if (Object.hasOwn(each, '__proto__') || hasPrototype(each)) return true;
    seen.add(each);
    for (const inner of Object.values(each)) if (typeof inner === 'object') pending.push(inner);
  }
  return false;
}

function hasPrototype(each: object): boolean {
  const own = Object.hasOwn(each, 'constructor') ? each.constructor : undefined;
  return typeof own === 'object' && (own as object | null) !== null && Object.hasOwn(own, 'prototype');
}
