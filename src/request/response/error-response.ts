import { PermissionDenied, ServerError } from '../../core/errors/http-exceptions.js';
import { isRestException } from '../../core/errors/rest-exception.js';
import type { RestErrorResponse } from '../../core/errors/rest-exception.js';
import type { ErrorFormat } from '../../core/contracts/error-format.js';
import { problemResponse } from './problem-details.js';
import { jsonResponse } from './rest-response.js';
import type { RestResponse } from './rest-response.js';

/** The shape of an error of Nest or of the application. */
interface HttpExceptionLike {
  getStatus(): number;
  getResponse(): unknown;
}

/** The response to a failed request, and whether its cause is logged. */
export interface ErrorResponse {
  readonly response: RestResponse;
  readonly logged: boolean;
}

/**
 * Converts any error into a JSON body of contract 6.1, or into problem details of RFC 9457 with the same messages. An
 * HttpException of the application keeps its status and message; details of unforeseen errors are not disclosed.
 */
export function errorResponse(error: unknown, format: ErrorFormat): ErrorResponse {
  const { answer, logged } = classifyError(error);
  return {
    response:
      format === 'problem'
        ? problemResponse(answer)
        : jsonResponse(answer.status, answer.body, answer.headers),
    logged,
  };
}

function classifyError(error: unknown): { readonly answer: RestErrorResponse; readonly logged: boolean } {
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

/** An error of middleware that is intended for the client, in the format of Express and its libraries. */
function exposedError(error: unknown): RestErrorResponse | undefined {
  const { status, expose, message } = (error ?? {}) as {
    status?: unknown;
    expose?: unknown;
    message?: unknown;
  };
  if (expose !== true || typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  return { status, body: { detail: String(message) } };
}

/** Nest's default message for a guard that returns false. */
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
