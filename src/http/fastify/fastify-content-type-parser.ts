import type { IncomingMessage } from 'node:http';
import type { ReceivedBody } from '../../request/http-exchange.js';
import type { FastifyInstance, FastifyParser, FastifyRoute } from './fastify-types.js';
import { isJsonType } from '../../request/request-input.js';
import { readDecodedBody } from '../read-body.js';

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
    void readDecodedBody(payload, raw, limit).then((received) => {
      const body = parseReceivedText(received, raw, parseText);
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

function parseReceivedText(
  received: ReceivedBody,
  { headers }: IncomingMessage,
  parseText: ParseText,
): ReceivedBody {
  if (received.kind !== 'text') return received;
  return isJsonType(headers['content-type']) ? parseText(received.text) : { kind: 'unsupported' };
}

function parseAnyText(text: string): ReceivedBody {
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown, text: () => text };
  } catch {
    return { kind: 'text', text };
  }
}

/** Hooks that let every body reach the parser: Fastify rejects an unsupported media type before any parser. */
export const ANY_MEDIA_TYPE: Pick<FastifyRoute, 'preParsing' | 'preValidation'> = {
  preParsing: (request, _reply, _payload, done) => {
    const raw: ParsedRequest = request.raw;
    const type = raw.headers['content-type'];
    // Fastify rejects a QUERY without a media type; the method is not served at all.
    if (type !== undefined && raw.method !== 'QUERY') {
      raw[HIDDEN_CONTENT_TYPE] = type;
      // Not deleted: V8 keeps an object from which a property was deleted in a slower form.
      raw.headers['content-type'] = undefined;
    }
    done();
  },
  preValidation: ({ raw }, _reply, done) => {
    restoreContentType(raw);
    done();
  },
};

function restoreContentType(request: ParsedRequest): void {
  const type = request[HIDDEN_CONTENT_TYPE];
  if (type !== undefined) request.headers['content-type'] = type;
}
