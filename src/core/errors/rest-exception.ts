/** A JSON value, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Messages by field (contract 6.1). A nested object holds the messages of an embedded one.
 * It is made with a null prototype, so that a field called `__proto__` is a field like any other.
 */
export interface FieldErrors {
  [field: string]: string[] | FieldErrors;
}

/** The key under which errors of no single field stand. */
export const NON_FIELD_ERRORS = 'non_field_errors';

/** What the client is told about a request that failed: a status, a JSON body, and headers of its own. */
export interface RestErrorResponse {
  readonly status: number;
  readonly body: { readonly detail: string } | FieldErrors | readonly FieldErrors[];
  readonly headers?: Readonly<Record<string, string>>;
}

const REST_EXCEPTION = Symbol.for('nestjs-restify.RestException');

/**
 * A request that ends with an error of contract 6.1. Thrown by any step; the responses room writes it.
 * Recognise it with {@link isRestException}: `instanceof` fails where an application loads the package twice.
 */
export abstract class RestException extends Error {
  abstract readonly answer: RestErrorResponse;
  readonly [REST_EXCEPTION] = true;
}

export function isRestException(error: unknown): error is RestException {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as { [REST_EXCEPTION]?: unknown })[REST_EXCEPTION] === true
  );
}

/** Field errors with no prototype, ready to be filled. */
export function emptyFieldErrors(): FieldErrors {
  return Object.create(null) as FieldErrors;
}

/** What is wrong with a field already says enough; of an embedded object each field counts for itself. */
export function addErrors(errors: FieldErrors, more: FieldErrors): void {
  for (const [field, messages] of Object.entries(more)) {
    const known = errors[field];
    if (known === undefined) errors[field] = Array.isArray(messages) ? messages : copyOf(messages);
    else if (!Array.isArray(known) && !Array.isArray(messages)) addErrors(known, messages);
  }
}

function copyOf(errors: FieldErrors): FieldErrors {
  const copy = emptyFieldErrors();
  addErrors(copy, errors);
  return copy;
}

/** One message, at a field of an embedded object maybe. */
export function errorAt(path: readonly string[], message: string): FieldErrors {
  const [name = '', ...rest] = path;
  const errors = emptyFieldErrors();
  errors[name] = rest.length === 0 ? [message] : errorAt(rest, message);
  return errors;
}
