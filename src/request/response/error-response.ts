import { PermissionDenied, ServerError } from '../../core/errors/http-exceptions.js';
import { isRestException } from '../../core/errors/rest-exception.js';
import type { RestErrorResponse } from '../../core/errors/rest-exception.js';
import type { ErrorFormat } from '../../core/contracts/error-format.js';
import { problemResponse } from './problem-details.js';
import { jsonResponse } from './rest-response.js';
import type { RestResponse } from './rest-response.js';

/** What an error of Nest's own, or of the application's, looks like from here. */
interface HttpExceptionLike {
  getStatus(): number;
  getResponse(): unknown;
}

/** The answer to a request that failed, and whether the cause belongs into the log. */
export interface ErrorResponse {
  readonly response: RestResponse;
  readonly logged: boolean;
}

/**
 * Every error as a JSON body of contract 6.1, or as a problem of RFC 9457 with the same words. An HttpException of the application keeps its status and its message; of
 * anything unforeseen nothing gets out.
 */
export function errorResponse(error: unknown, format: ErrorFormat): ErrorResponse {
  const { answer, logged } = judged(error);
  return {
    response:
      format === 'problem'
        ? problemResponse(answer)
        : jsonResponse(answer.status, answer.body, answer.headers),
    logged,
  };
}

function judged(error: unknown): { readonly answer: RestErrorResponse; readonly logged: boolean } {
  if (isRestException(error)) return { answer: error.answer, logged: error.answer.status >= 500 };
  if (isHttpException(error)) return { answer: fromHttpException(error), logged: error.getStatus() >= 500 };
  const exposed = exposedError(error);
  return exposed ? { answer: exposed, logged: false } : { answer: new ServerError().answer, logged: true };
}

function isHttpException(error: unknown): error is HttpExceptionLike {
  const like = error as Partial<HttpExceptionLike> | null;
  return (
    typeof like === 'object' &&
    like !== null &&
    typeof like.getStatus === 'function' &&
    typeof like.getResponse === 'function'
  );
}

/** An error of middleware that is meant for the client, in the form that Express and its libraries use. */
function exposedError(error: unknown): RestErrorResponse | undefined {
  const { status, expose, message } = (error ?? {}) as {
    status?: unknown;
    expose?: unknown;
    message?: unknown;
  };
  if (expose !== true || typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  return { status, body: { detail: String(message) } };
}

/** What Nest says where a guard answers false and the application has no words of its own. */
const NEST_FORBIDDEN = 'Forbidden resource';

function fromHttpException(error: HttpExceptionLike): RestErrorResponse {
  const status = error.getStatus();
  if (status >= 500 && status !== 503) return { ...new ServerError().answer, status };
  const message = messageOf(error.getResponse());
  return status === 403 && message === NEST_FORBIDDEN
    ? new PermissionDenied().answer
    : { status, body: { detail: message } };
}

function messageOf(response: unknown): string {
  if (typeof response === 'string') return response;
  const message = (response as { message?: unknown } | null)?.message;
  if (Array.isArray(message)) return message.map(String).join(' ');
  return typeof message === 'string' ? message : 'The request was refused.';
}
