import { STATUS_CODES } from 'node:http';
import { PermissionDenied, ServerError } from '../../core/errors/http-exceptions.js';
import { isRestException } from '../../core/errors/rest-exception.js';
import type { RestErrorResponse } from '../../core/errors/rest-exception.js';
import type { ErrorFormat } from '../../core/contracts/errors.js';
import { jsonResponse } from './rest-response.js';
import type { RestResponse } from './rest-response.js';
import { PROBLEM_MEDIA_TYPE } from '../../core/contracts/renderer.js';

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

/** Where an error comes from. */
export interface ErrorOrigin {
  readonly format: ErrorFormat;
  /** Thrown by a hook of Fastify or by middleware, before any code of this package or of the application's model. */
  readonly isBeforePipeline: boolean;
}

/**
 * Converts any error into a JSON body of contract 6.1, or into problem details of RFC 9457 with the same messages. An
 * HttpException of the application, and an error of the HTTP library or its plugins, keep their status and message; details of
 * unforeseen errors are not disclosed.
 */
export function errorResponse(error: unknown, { format, isBeforePipeline }: ErrorOrigin): ErrorResponse {
  const response = findKnownAnswer(error, isBeforePipeline) ?? new ServerError().response;
  return {
    response:
      format === 'problem'
        ? problemResponse(response)
        : jsonResponse(response.status, response.body, response.headers),
    logged: response.status >= 500 && !(isRestException(error) && error.isExpected),
  };
}

/** Undefined for an unforeseen error. */
function findKnownAnswer(error: unknown, isBeforePipeline: boolean): RestErrorResponse | undefined {
  if (isRestException(error)) return error.response;
  return isHttpException(error) ? fromHttpException(error) : fromLibraryError(error, isBeforePipeline);
}

/** Whether a response can end with the status: undefined or NaN cannot be sent, and after 1xx the client waits for another. */
function isFinalStatus(status: unknown): boolean {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599;
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

/** An error with a status in the way of Express, Fastify and http-errors. */
interface LibraryError {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly expose?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
  readonly message?: unknown;
  readonly headers?: unknown;
}

/**
 * The response to an error of the HTTP library, its plugins or http-errors. Elsewhere a status says nothing: errors of clients
 * of other services have one, too, and a text that is not meant for this caller.
 */
function fromLibraryError(error: unknown, isBeforePipeline: boolean): RestErrorResponse | undefined {
  const given = (error ?? {}) as LibraryError;
  const status = given.statusCode ?? given.status;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599)
    return undefined;
  if (!isBeforePipeline && !isFastifyError(given) && typeof given.expose !== 'boolean') return undefined;
  const headers = headersOf(given.headers);
  if (status >= 500 && (status !== 503 || given.expose === false))
    return { ...new ServerError().response, status, ...(headers && { headers }) };
  const detail = given.expose === false ? (STATUS_CODES[status] ?? 'Error') : String(given.message);
  return { status, body: { detail }, ...(headers && { headers }) };
}

function isFastifyError({ code, name }: LibraryError): boolean {
  return name === 'FastifyError' || (typeof code === 'string' && code.startsWith('FST_'));
}

/** What the response has in its own way. */
const OWN_HEADERS = /^(?:content-.*|transfer-encoding|connection)$/i;

/** Headers for the response in the way of http-errors, such as `Retry-After`. */
function headersOf(given: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const texts = Object.entries(given).flatMap(([name, value]: [string, unknown]) =>
    !OWN_HEADERS.test(name) && (typeof value === 'string' || typeof value === 'number')
      ? [[name, String(value)] as const]
      : [],
  );
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}

/** Nest's default message for a guard that returns false. */
const NEST_FORBIDDEN = 'Forbidden resource';

function fromHttpException(error: HttpExceptionLike): RestErrorResponse | undefined {
  const status = error.getStatus();
  if (!isFinalStatus(status)) return undefined;
  if (status >= 500 && status !== 503) return { ...new ServerError().response, status };
  const message = messageOf(error.getResponse());
  return status === 403 && message === NEST_FORBIDDEN
    ? new PermissionDenied().response
    : { status, body: { detail: message } };
}

function messageOf(response: unknown): string {
  if (typeof response === 'string') return response;
  const message = (response as { message?: unknown } | null)?.message;
  if (Array.isArray(message)) return message.map(String).join(' ');
  return typeof message === 'string' ? message : 'The request was refused.';
}

/**
 * An error as problem details of RFC 9457: `type` is `about:blank`, so `title` is the phrase of the status, and `detail`
 * the message. Errors of fields are under `errors`, as in a body of contract 6.1.
 */
function problemResponse({ status, body, headers }: RestErrorResponse): RestResponse {
  const detail = 'detail' in body ? body.detail : undefined;
  const details =
    typeof detail === 'string' ? { detail } : { detail: 'The request has invalid fields.', errors: body };
  return jsonResponse(
    status,
    { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...details },
    { ...headers, 'Content-Type': PROBLEM_MEDIA_TYPE },
  );
}
