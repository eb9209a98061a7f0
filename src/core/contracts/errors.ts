import type { Actor } from '../schema/caller.js';

/** The format of error bodies: that of Django REST Framework, or of RFC 9457 (`application/problem+json`). */
export type ErrorFormat = 'drf' | 'problem';

/** The request in which an error occurred. */
export interface ErrorContext {
  /** Of the response; undefined where it had begun, or where the error does not change it. */
  readonly status: number | undefined;
  readonly method: string;
  /** The path as the client sent it, without the query; undefined in calls without HTTP, as the rest of the request. */
  readonly path: string | undefined;
  /** The pattern of the URL, without its keys: `/rest/v1/blog/article/:pk`. Undefined for an unknown path. */
  readonly route: string | undefined;
  /** `blog.article`; of a nested URL the model of its rows. */
  readonly model: string | undefined;
  /** The operation, as `list` or `partialUpdate`, or the name of the method that serves an action. */
  readonly operation: string | undefined;
  /** Null for an anonymous caller, and before the caller is known. */
  readonly actor: Actor;
  /** The `id` of the HTTP library's request (Fastify; pino-http on Express), else the header `X-Request-Id`. */
  readonly requestId: string | undefined;
  /** The request of the HTTP library. */
  readonly request: object | undefined;
}

/**
 * Gets each error that the log gets, once: of every response with a status from 500, of lists that break off, and of errors that
 * change no response. Not of clients that disconnect, and of attempts that are repeated.
 */
export interface ErrorListener {
  /**
   * Called in the asynchronous context of the request after its response is decided. The result is not awaited; what it throws
   * or rejects with is logged.
   */
  onError(error: unknown, context: ErrorContext): void | Promise<void>;
}
