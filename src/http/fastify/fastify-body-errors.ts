import { isSupportedMethod } from '../../core/schema/operation.js';
import type { ReceivedBody } from '../../request/http-exchange.js';
import { reopenReply } from './fastify-reply.js';
import type { FastifyHandler, FastifyRoute } from './fastify-types.js';

type HandleError = NonNullable<FastifyRoute['errorHandler']>;

/**
 * Handles a request whose method is not served although Fastify rejects its body, such as a QUERY without content: 405 has
 * precedence. Passes other errors on.
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
