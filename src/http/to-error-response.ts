import type { ErrorFormat } from '../core/contracts/error-format.js';
import { errorResponse } from '../request/response/error-response.js';
import type { ErrorResponse } from '../request/response/error-response.js';

const RESOLVED = Promise.resolve();

function doNothing(): void {
  // A microtask turn without work.
}

/**
 * Resolves when the caller of a handler has completed: middleware may run code after its `next()`, awaited or not,
 * which must find no response sent yet. Nest's own path to a handler takes as many microtask turns, and no other work
 * of the process runs between them.
 */
export function yieldToMiddleware(): Promise<void> {
  return RESOLVED.then(doNothing).then(doNothing).then(doNothing);
}

/**
 * As `errorResponse`; if the application has thrown something that cannot be serialized, the response of an unexpected
 * error.
 */
export function createErrorResponse(error: unknown, format: ErrorFormat): ErrorResponse {
  try {
    return errorResponse(error, format);
  } catch (broken) {
    return errorResponse(broken, format);
  }
}

/** The stack of an error or of its cause; the text of any other value, if it has one. */
export function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error) return cause.stack ?? cause.message;
  try {
    return String(cause);
  } catch {
    return 'something without a text was thrown';
  }
}
