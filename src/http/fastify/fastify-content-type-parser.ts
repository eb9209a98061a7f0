import type { IncomingMessage } from 'node:http';
import type { ReceivedBody } from '../../request/parse/parse-body.js';
import type { FastifyInstance, FastifyParser, FastifyRoute } from './fastify-types.js';
import { readDecoded } from '../read-body.js';

const KEPT = Symbol('restify.body');
const CONTENT_TYPE = Symbol('restify.contentType');

/** What is known of a request stands on it. */
interface MarkedRequest extends IncomingMessage {
  [KEPT]?: ReceivedBody;
  [CONTENT_TYPE]?: string;
}

/** What became of a body that nobody has refused yet. */
export function keptBody(request: MarkedRequest): ReceivedBody | undefined {
  return request[KEPT];
}

/**
 * Parses without ever failing: a body's error waits for its turn (contract 6.3), and the application's hooks behind the
 * parser run all the same.
 */
export function deferredErrorParser({ initialConfig }: FastifyInstance): FastifyParser {
  const limit = initialConfig.bodyLimit ?? 1024 * 1024;
  return (request, payload, done) => {
    const raw: MarkedRequest = request.raw;
    showContentType(raw);
    void readDecoded(payload, raw.headers['content-encoding'], limit).then((received) => {
      const body = judged(received, raw);
      raw[KEPT] = body;
      done(null, body.kind === 'value' ? body.value : undefined);
    });
  };
}

function judged(received: ReceivedBody, { headers }: IncomingMessage): ReceivedBody {
  if (received.kind !== 'text') return received;
  if (!/^\s*application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return { kind: 'unsupported' };
  try {
    return { kind: 'value', value: JSON.parse(received.text) as unknown };
  } catch {
    return received;
  }
}

/** Hooks that let every body reach the parser: Fastify refuses a media type that it does not understand before one is asked. */
export const ANY_MEDIA_TYPE: Pick<FastifyRoute, 'preParsing' | 'preValidation'> = {
  preParsing: (request, _reply, _payload, done) => {
    const raw: MarkedRequest = request.raw;
    const type = raw.headers['content-type'];
    // A QUERY without a type is refused, and is no method of ours.
    if (type !== undefined && raw.method !== 'QUERY') {
      raw[CONTENT_TYPE] = type;
      delete raw.headers['content-type'];
    }
    done();
  },
  preValidation: ({ raw }, _reply, done) => {
    showContentType(raw);
    done();
  },
};

function showContentType(request: MarkedRequest): void {
  const type = request[CONTENT_TYPE];
  if (type !== undefined) request.headers['content-type'] = type;
}
