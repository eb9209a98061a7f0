/** A JSON value, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Messages by field (contract 6.1). A nested object holds the messages of an embedded object, a list those of each object of a list.
 * Created with a null prototype, so that a field named `__proto__` is an ordinary key.
 */
export interface FieldErrors {
  [field: string]: MessagesOfField;
}

/** The messages of a field, of the fields of an object in it, or of those of each object of a list in it: `{}` for a valid one. */
export type MessagesOfField = string[] | FieldErrors | FieldErrors[];

/** The key of errors that belong to no single field. */
export const NON_FIELD_ERRORS = 'non_field_errors';

/** The response to a failed request: a status, a JSON body, and additional headers. */
export interface RestErrorResponse {
  readonly status: number;
  readonly body: { readonly detail: string } | FieldErrors | readonly FieldErrors[];
  readonly headers?: Readonly<Record<string, string>>;
}

const REST_EXCEPTION = Symbol.for('nestjs-restify.RestException');

/**
 * The base class of errors that are sent to the client (contract 6.1). May be thrown at any stage of a request.
 * Test for it with {@link isRestException}: `instanceof` fails if an application loads the package twice.
 */
export abstract class RestException extends Error {
  abstract readonly response: RestErrorResponse;
  /** Whether it is not logged, though its status is a failure of the server. */
  readonly isExpected: boolean = false;
  readonly [REST_EXCEPTION] = true;
}

/** Whether an error is a `RestException` of any copy of this package, as ES modules or CommonJS. */
export function isRestException(error: unknown): error is RestException {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as { [REST_EXCEPTION]?: unknown })[REST_EXCEPTION] === true
  );
}

/** Creates empty field errors without a prototype. */
export function emptyFieldErrors(): FieldErrors {
  return Object.create(null) as FieldErrors;
}

/** Adds errors of fields that have none yet. Fields of an embedded object, and objects of a list, are merged one by one. */
export function addErrors(errors: FieldErrors, more: FieldErrors): void {
  for (const [field, messages] of Object.entries(more)) {
    const known = errors[field];
    if (known === undefined) errors[field] = copyOfMessages(messages);
    else if (isItemErrors(known) && isItemErrors(messages)) addItemErrors(known, messages);
    else if (!Array.isArray(known) && !Array.isArray(messages)) addErrors(known, messages);
  }
}

/** Whether these are the messages of each object of a list. */
export function isItemErrors(messages: MessagesOfField): messages is FieldErrors[] {
  return Array.isArray(messages) && typeof messages[0] === 'object';
}

function addItemErrors(items: FieldErrors[], more: readonly FieldErrors[]): void {
  for (const [index, each] of more.entries()) addErrors((items[index] ??= emptyFieldErrors()), each);
}

function copyOfMessages(messages: MessagesOfField): MessagesOfField {
  if (isItemErrors(messages)) return messages.map(copyOf);
  return Array.isArray(messages) ? messages : copyOf(messages);
}

function copyOf(errors: FieldErrors): FieldErrors {
  const copy = emptyFieldErrors();
  addErrors(copy, errors);
  return copy;
}

/** All messages, without the names of their fields. */
export function textsOf(errors: FieldErrors): string[] {
  return Object.values(errors).flatMap((messages) => {
    if (isItemErrors(messages)) return messages.flatMap(textsOf);
    return Array.isArray(messages) ? messages : textsOf(messages);
  });
}

/** Creates field errors with one message at the path of a field, which may be in an embedded object. */
export function errorAt(path: readonly string[], message: string): FieldErrors {
  const [name = '', ...rest] = path;
  const errors = emptyFieldErrors();
  errors[name] = rest.length === 0 ? [message] : errorAt(rest, message);
  return errors;
}

/** The error of one write of a batch: messages by field, or a missing row. */
export type BulkStepError = FieldErrors | 'missing';

/** The errors of a batch that was rolled back, by the index of the step. The caller maps the index to the client's object. */
export class BulkWriteError extends Error {
  constructor(readonly rejections: ReadonlyMap<number, BulkStepError>) {
    super('A batch was refused');
  }
}
