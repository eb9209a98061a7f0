import { emptyFieldErrors, NON_FIELD_ERRORS, RestException } from './rest-exception.js';
import type { FieldErrors, RestErrorResponse } from './rest-exception.js';

function detail(status: number, text: string, headers?: Readonly<Record<string, string>>): RestErrorResponse {
  return headers ? { status, body: { detail: text }, headers } : { status, body: { detail: text } };
}

/** 400, messages by field. */
export class InvalidInput extends RestException {
  readonly response: RestErrorResponse;

  constructor(readonly fields: FieldErrors) {
    super(`Invalid input: ${Object.keys(fields).join(', ')}`);
    this.response = { status: 400, body: fields };
  }

  static of(field: string, ...messages: string[]): InvalidInput {
    const fields = emptyFieldErrors();
    fields[field] = messages;
    return new InvalidInput(fields);
  }

  static ofNoField(...messages: string[]): InvalidInput {
    return InvalidInput.of(NON_FIELD_ERRORS, ...messages);
  }
}

/** 400, a search term that the database rejects as a pattern. */
export class InvalidSearchPattern extends InvalidInput {
  constructor(parameter: string) {
    super({ [parameter]: ['Enter a valid search pattern.'] });
  }
}

/** 400, messages by field for each object of a list, in order: `{}` for a valid one. */
export class InvalidItems extends RestException {
  readonly response: RestErrorResponse;

  constructor(readonly items: readonly FieldErrors[]) {
    super('Invalid input in a list');
    this.response = { status: 400, body: items };
  }
}

/** 400, a body that is not valid JSON, or a query string that cannot be decoded. */
export class MalformedRequest extends RestException {
  readonly response: RestErrorResponse;

  constructor(text: string) {
    super(text);
    this.response = detail(400, text);
  }

  static json(reason: string): MalformedRequest {
    return new MalformedRequest(`JSON parse error - ${reason}`);
  }
}

/** 401, with the challenge of a scheme if one has a challenge. */
export class NotAuthenticated extends RestException {
  readonly response: RestErrorResponse;

  constructor(challenge: string | undefined, text = 'Authentication credentials were not provided.') {
    super(text);
    this.response = detail(
      401,
      text,
      challenge === undefined ? undefined : { 'WWW-Authenticate': challenge },
    );
  }
}

/** 403. */
export class PermissionDenied extends RestException {
  readonly response = detail(403, 'You do not have permission to perform this action.');
}

/** 403: an unsafe request that a browser sends with cookies for a page of another origin. */
export class CrossSiteWrite extends RestException {
  readonly response = detail(
    403,
    'Cross-site request refused: pages of this origin may not send it with cookies or a password that the browser keeps. Authenticate by a token in a header, or have the origin added to trustedOrigins.',
  );
}

/** 404: an unknown object, parent, child or model, and one that a row condition hides. */
export class NotFound extends RestException {
  readonly response = detail(404, 'Not found.');
}

/** 404: a page or cursor that does not exist. */
export class InvalidPage extends RestException {
  readonly response: RestErrorResponse;

  constructor(text = 'Invalid page.') {
    super(text);
    this.response = detail(404, text);
  }
}

/** 405. `Allow` is a header of every response, so it is not set here. */
export class MethodNotAllowed extends RestException {
  readonly response: RestErrorResponse;

  constructor(method: string) {
    super(`Method ${method} not allowed`);
    this.response = detail(405, `Method "${method}" not allowed.`);
  }
}

/** 406. */
export class NotAcceptable extends RestException {
  readonly response = detail(406, 'Could not satisfy the request Accept header.');
}

/**
 * 409: a restricting foreign key prevents the deletion of a row, or the change of a column to which others refer. Names the
 * model that refers to the row, and no row of it.
 */
export class RestrictedByReferrer extends RestException {
  readonly response: RestErrorResponse;

  constructor(
    change: 'deleted' | 'changed',
    readonly referrer: string | undefined,
  ) {
    super('A foreign key of another object restricts this');
    const who = referrer === undefined ? 'other objects' : `objects of "${referrer}"`;
    this.response = detail(409, `This object cannot be ${change}: ${who} still refer to it.`);
  }
}

/** 409: an object that is to be restored or purged is not deleted. */
export class NotDeleted extends RestException {
  readonly response = detail(409, 'This object is not deleted.');
}

/** 409: another object has a unique value of the deleted one, or an object to which it refers is gone. */
export class NotRestorable extends RestException {
  readonly response: RestErrorResponse;

  private constructor(why: string) {
    super(why);
    this.response = detail(409, `This object cannot be restored: ${why}.`);
  }

  /** @param fields undefined if the caller may not know which they are. */
  static duplicate(fields: readonly string[] | undefined): NotRestorable {
    return new NotRestorable(
      fields === undefined
        ? 'an object with these values exists already'
        : `another object has the same ${fields.map((field) => `"${field}"`).join(', ')}`,
    );
  }

  static dangling(field: string | undefined): NotRestorable {
    return new NotRestorable(
      `the object to which ${field === undefined ? 'it' : `"${field}"`} refers does not exist any more`,
    );
  }
}

/** 409: a trigger or a rule has kept the row, and the database has reported no error. */
export class UndeletedRow extends RestException {
  readonly response = detail(409, 'This object cannot be deleted: the database has kept it.');
}

/** 409: another request with this `Idempotency-Key` is still running. The client may retry to get its response. */
export class IdempotencyKeyConflict extends RestException {
  readonly response = detail(409, 'A request with this Idempotency-Key has not ended yet. Try again later.', {
    'Retry-After': '1',
  });

  constructor() {
    super('Idempotency-Key in use');
  }
}

/** 412: the current state of the object does not match the precondition. */
export class PreconditionFailed extends RestException {
  readonly response = detail(412, 'Precondition failed: the object is not as the request says.');

  constructor() {
    super('Precondition failed');
  }
}

/** 413. */
export class BodyTooLarge extends RestException {
  readonly response: RestErrorResponse;

  /** @param isList whether the body may be a list, whose number of objects says nothing of their size. */
  constructor(isList = false) {
    super('The body of a request is too large');
    const repair = ' Send fewer objects at once, or raise the limit of the body parser.';
    this.response = detail(413, `Request body is too large.${isList ? repair : ''}`);
  }
}

/** 415. `mediaType` is the text of the request, or empty without one. */
export class UnsupportedMediaType extends RestException {
  readonly response: RestErrorResponse;

  constructor(mediaType: string) {
    super(`Unsupported media type ${mediaType}`);
    this.response = detail(415, `Unsupported media type "${mediaType}" in request.`);
  }
}

/** 415. `coding` is the request's `Content-Encoding`, and `decoded` the list of supported ones. */
export class UnsupportedContentCoding extends RestException {
  readonly response: RestErrorResponse;

  constructor(coding: string, decoded: string) {
    super(`Unsupported content encoding ${coding}`);
    this.response = detail(415, `Unsupported content encoding "${coding}" in request.`, {
      'Accept-Encoding': decoded,
    });
  }
}

/** 422: the idempotency key was used with a different request. */
export class IdempotencyKeyReused extends RestException {
  readonly response = detail(422, 'This Idempotency-Key was sent with another request. Send a new one.');

  constructor() {
    super('Idempotency-Key reused');
  }
}

/** 428: the model requires a precondition, and the request has none. */
export class PreconditionRequired extends RestException {
  readonly response = detail(428, 'Precondition required: send If-Match with the ETag of the object.');

  constructor() {
    super('Precondition required');
  }
}

/** 429. The client may retry after this number of seconds. */
export class Throttled extends RestException {
  readonly response: RestErrorResponse;

  constructor(seconds: number) {
    super('Throttled');
    this.response = detail(
      429,
      `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`,
      { 'Retry-After': String(seconds) },
    );
  }
}

/** 503: the database is unreachable, or no connection was available in time. The client may retry. */
export class DatabaseUnavailable extends RestException {
  readonly response = detail(503, 'The service is temporarily unavailable. Try again later.', {
    'Retry-After': '5',
  });

  constructor(options?: ErrorOptions) {
    super('The database is unavailable', options);
  }
}

/** 503: the application shuts down. Expected, so that it is not logged as a failure. */
export class ShuttingDown extends RestException {
  override readonly isExpected = true;
  readonly response = detail(503, 'The service is temporarily unavailable. Try again later.', {
    'Retry-After': '5',
  });

  constructor() {
    super('The application shuts down');
  }
}

/** A request that was aborted because the client has closed the connection. Never sent, and not logged as a failure. */
export class ClientClosedRequest extends RestException {
  readonly response = detail(499, 'The client has closed the connection.');

  constructor(options?: ErrorOptions) {
    super('The client has gone', options);
  }
}

/** 503: credentials could not be verified because of an error, so that the caller is unknown. */
export class AuthenticationUnavailable extends RestException {
  readonly response = detail(503, 'The service is temporarily unavailable. Try again later.', {
    'Retry-After': '5',
  });

  constructor(options?: ErrorOptions) {
    super('An authentication scheme failed', options);
  }
}

/** 500. The cause is logged and never sent to the client. */
export class ServerError extends RestException {
  readonly response = detail(500, 'A server error occurred.');

  constructor(options?: ErrorOptions) {
    super('A server error occurred', options);
  }
}
