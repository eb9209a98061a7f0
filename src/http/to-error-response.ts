import type { ErrorFormat } from '../core/contracts/error-format.js';
import { errorResponse } from '../request/response/error-response.js';
import type { ErrorResponse } from '../request/response/error-response.js';

const NOW = Promise.resolve();

function nothing(): void {
  // Lets one turn pass.
}

/**
 * When whoever has called a handler is done: middleware may have something to do behind its `next()`, awaited or not, and
 * finds no answer sent yet. Nest's own way to a handler takes as many turns, and no other work of the process comes between.
 */
export function yieldToMiddleware(): Promise<void> {
  return NOW.then(nothing).then(nothing).then(nothing);
}

/** As `errorResponse`; for what an author has thrown that no body can be made of, that of an unforeseen error. */
export function responseTo(error: unknown, format: ErrorFormat): ErrorResponse {
  try {
    return errorResponse(error, format);
  } catch (broken) {
    return errorResponse(broken, format);
  }
}

/** The stack of an error, or of its cause; of anything else its text, if it has one. */
export function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error) return cause.stack ?? cause.message;
  try {
    return String(cause);
  } catch {
    return 'something without a text was thrown';
  }
}
