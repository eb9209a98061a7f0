import type { IncomingMessage } from 'node:http';
import { MERGE_PATCH_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import { MOST_OF_QUERY } from '../../core/schema/limits.js';
import { isSupportedMethod, QUERY_METHOD } from '../../core/schema/operation.js';
import type { ReceivedBody } from '../../request/http-exchange.js';
import { isJsonType } from '../../request/request-input.js';
import { hasUnannouncedBody, readDecodedBody } from '../read-body.js';
import { reopenReply } from './fastify-reply.js';
import type { FastifyInstance, FastifyParser, FastifyRoute, FastifyHandler } from './fastify-types.js';

const RECEIVED_BODY = Symbol('restify.body');
const HIDDEN_CONTENT_TYPE = Symbol('restify.contentType');

/** A request with the state of its body. */
interface ParsedRequest extends IncomingMessage {
  [RECEIVED_BODY]?: ReceivedBody;
  [HIDDEN_CONTENT_TYPE]?: string;
}

/** The received body, which has not been rejected yet. */
export function getReceivedBody(request: ParsedRequest): ReceivedBody | undefined {
  return request[RECEIVED_BODY];
}

/** Stores the error of another parser. */
export function storeReceivedBody(request: ParsedRequest, body: ReceivedBody): void {
  request[RECEIVED_BODY] = body;
}

/** Parses the text of a JSON body. */
type ParseText = (text: string) => ReceivedBody;

/**
 * A parser that never fails: a body error is stored until the body is used (contract 6.3), and the application's hooks
 * after the parser still run.
 */
export function createDeferringParser(
  { initialConfig }: FastifyInstance,
  parseText: ParseText = parseAnyText,
): FastifyParser {
  const limit = initialConfig.bodyLimit ?? 1024 * 1024;
  return (request, payload, done) => {
    const raw: ParsedRequest = request.raw;
    restoreContentType(raw);
    const isQuery = raw.method === QUERY_METHOD;
    void readDecodedBody(payload, raw, isQuery ? MOST_OF_QUERY.bodyBytes : limit).then((received) => {
      let body: ReceivedBody = received;
      if (received.kind === 'text' && !isQuery) {
        const type = raw.headers['content-type'];
        if (isJsonType(type)) body = parseText(received.text);
        else if (isJsonType(type, MERGE_PATCH_MEDIA_TYPE))
          body = { kind: 'unsupported', text: received.text };
        else body = { kind: 'unsupported' };
      }
      raw[RECEIVED_BODY] = body;
      done(null, body.kind === 'value' ? body.value : undefined);
    });
  };
}

/**
 * A parser for methods of the application: as Fastify's own, it rejects or removes keys that could replace a prototype.
 */
export function createActionParser(instance: FastifyInstance): FastifyParser {
  const { onProtoPoisoning = 'error', onConstructorPoisoning = 'error' } = instance.initialConfig;
  const parse = instance.getDefaultJsonParser(onProtoPoisoning, onConstructorPoisoning);
  return createDeferringParser(instance, (text) => {
    let body: ReceivedBody = { kind: 'text', text };
    parse(undefined, text, (error, value) => {
      // Generated operations, which ignore such keys, parse the text by themselves.
      body = error
        ? { kind: 'text', text, unsafe: parseAnyText(text).kind === 'value' }
        : { kind: 'value', value, text: () => text };
    });
    return body;
  });
}

function parseAnyText(text: string): ReceivedBody {
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown, text: () => text };
  } catch {
    return { kind: 'text', text };
  }
}

/** Hooks of a route before and after the parsers. */
type ParsingHooks = Pick<FastifyRoute, 'preParsing' | 'preValidation'>;

/** Hooks for routes without parsers of the application: every body reaches the parser of this package. */
export function createParsingHooks(instance: FastifyInstance): ParsingHooks {
  const parseUnannounced = createUnannouncedParser(instance);
  return {
    preParsing: (request, reply, payload, done) => {
      hideContentType(request.raw);
      parseUnannounced(request, reply, payload, done);
    },
    preValidation: ({ raw }, _reply, done) => {
      restoreContentType(raw);
      done();
    },
  };
}

/**
 * A hook that parses a body over HTTP/2 that no header announces: Fastify calls a parser only for a media type, a length or
 * chunks.
 */
export function createUnannouncedParser(instance: FastifyInstance): NonNullable<ParsingHooks['preParsing']> {
  const parse = createDeferringParser(instance);
  return (request, _reply, payload, done) => {
    const raw: ParsedRequest = request.raw;
    if (raw.headers['content-type'] !== undefined || !hasUnannouncedBody(raw)) done();
    else
      parse(request, payload, (_error, body) => {
        request.body = body;
        // By its type, Fastify would have the body parsed again.
        if (raw[HIDDEN_CONTENT_TYPE] !== undefined) hideContentType(raw);
        done();
      });
  };
}

/** Fastify rejects an unsupported media type before any parser. */
function hideContentType(request: ParsedRequest): void {
  const type = request.headers['content-type'];
  // Fastify rejects a QUERY without a media type.
  if (type === undefined || request.method === QUERY_METHOD) return;
  request[HIDDEN_CONTENT_TYPE] = type;
  // Not deleted: V8 keeps an object from which a property was deleted in a slower form.
  request.headers['content-type'] = undefined;
}

function restoreContentType(request: ParsedRequest): void {
  const type = request[HIDDEN_CONTENT_TYPE];
  if (type !== undefined) request.headers['content-type'] = type;
}

type HandleError = NonNullable<FastifyRoute['errorHandler']>;

/**
 * Handles a request whose method is not served although Fastify rejects its body, and a QUERY, whose errors are those of this
 * package: 401, 403, 404 and 405 have precedence. Passes other errors on.
 */
export function ignoreBodiesOfUnserved(handle: FastifyHandler, handleError: HandleError): HandleError {
  return (error, request, reply) => {
    const { code } = error as { code?: unknown };
    const isOfBody = typeof code === 'string' && /^FST_ERR_(ROUTE|CTP)_/.test(code);
    if (!isOfBody || isSupportedMethod(request.raw.method ?? '')) handleError(error, request, reply);
    else {
      reopenReply(reply);
      void handle(request, reply);
    }
  };
}

/** The body for the code of an error of Fastify's parsers. */
export function describeParserError(code: string): ReceivedBody {
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { kind: 'too-large' };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { kind: 'unsupported' };
    default:
      return { kind: 'broken', reason: 'the body could not be read' };
  }
}
