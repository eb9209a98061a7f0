import type { ErrorFormat } from '../core/contracts/error-format.js';
import { PROBLEM_MEDIA_TYPE } from '../core/media-type.js';
import type { Reference, Response, Schema } from './open-api-types.js';

/** The names of error responses by status (contract 6.1). */
export type ErrorStatus = 400 | 401 | 403 | 404 | 406 | 409 | 412 | 413 | 415 | 422 | 428 | 429 | 500 | 503;

const NAMES: Readonly<Record<ErrorStatus, string>> = {
  400: 'InvalidInput',
  401: 'NotAuthenticated',
  403: 'PermissionDenied',
  404: 'NotFound',
  406: 'NotAcceptable',
  409: 'Restricted',
  412: 'PreconditionFailed',
  413: 'BodyTooLarge',
  415: 'UnsupportedMediaType',
  422: 'KeyReused',
  428: 'PreconditionRequired',
  429: 'Throttled',
  500: 'ServerError',
  503: 'Unavailable',
};

const COMPONENT_PREFIX = 'Restify';
const KEY_IN_USE = 'KeyInUse';

/** References to the responses, sorted by status. */
export function errorReferences(
  statuses: ReadonlySet<ErrorStatus>,
  format: ErrorFormat,
  hasItems = false,
): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    [...statuses]
      .sort((a, b) => a - b)
      .map((status) => [
        String(status),
        {
          $ref: `#/components/responses/${responseName(hasItems && status === 400 ? ITEMS : NAMES[status], format)}`,
        },
      ]),
  );
}

/** 409 of a POST with an `Idempotency-Key` whose first request has not completed. */
export function keyInUseReference(format: ErrorFormat): Reference {
  return { $ref: `#/components/responses/${responseName(KEY_IN_USE, format)}` };
}

/** Errors of a body that may be a list. */
const ITEMS = 'InvalidItems';

function responseName(name: string, format: ErrorFormat): string {
  return `${COMPONENT_PREFIX}${name}${format === 'problem' ? 'Problem' : ''}`;
}

export const ALLOW: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}Allow` };
export const REPLAYED: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}Replayed` };
export const ETAG: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}ETag` };
export const LAST_MODIFIED: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}LastModified` };
export const CACHE_CONTROL: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}CacheControl` };
export const LOCATION: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}Location` };
const ACCEPT_PATCH: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}AcceptPatch` };
const CHALLENGE: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}Challenge` };
const RETRY_AFTER: Reference = { $ref: `#/components/headers/${COMPONENT_PREFIX}RetryAfter` };
const DETAIL: Reference = { $ref: `#/components/schemas/${COMPONENT_PREFIX}Error` };
const PROBLEM: Reference = { $ref: `#/components/schemas/${COMPONENT_PREFIX}Problem` };
const FIELD_ERRORS: Reference = { $ref: `#/components/schemas/${COMPONENT_PREFIX}FieldErrors` };

function refusal(description: string, detail: string, headers: Response['headers'] = {}): Response {
  return {
    description,
    headers: { Allow: ALLOW, ...headers },
    content: { 'application/json': { schema: { allOf: [DETAIL], examples: [{ detail }] } } },
  };
}

const ERRORS_OF_ITEMS: Schema = { type: 'array', items: FIELD_ERRORS };

const INVALID_ITEMS: Response = {
  description:
    'The request is invalid. Messages by field; for a list, one object of messages for each item in the same order, `{}` for a valid item.',
  headers: { Allow: ALLOW },
  content: {
    'application/json': {
      schema: {
        anyOf: [FIELD_ERRORS, ERRORS_OF_ITEMS, DETAIL],
        examples: [[{}, { field: ['This field is required.'] }]],
      },
    },
  },
};

const RESPONSES: Readonly<Record<ErrorStatus, Response>> = {
  400: {
    description: 'The request is invalid: all messages by field; or the body is not valid JSON.',
    headers: { Allow: ALLOW },
    content: {
      'application/json': {
        schema: {
          anyOf: [FIELD_ERRORS, DETAIL],
          examples: [
            { field: ['This field is required.'] },
            { detail: 'JSON parse error - Unexpected end of JSON input' },
          ],
        },
      },
    },
  },
  401: refusal('The credentials are missing or wrong.', 'Authentication credentials were not provided.', {
    'WWW-Authenticate': CHALLENGE,
  }),
  403: refusal(
    'The caller does not have the permission.',
    'You do not have permission to perform this action.',
  ),
  404: refusal('The object does not exist, or the caller may not see it.', 'Not found.'),
  406: refusal(
    'The Accept header excludes all available formats.',
    'Could not satisfy the request Accept header.',
  ),
  409: refusal(
    'Other objects still refer to this one.',
    'This object cannot be deleted: objects of "polls.choice" still refer to it.',
  ),
  412: refusal(
    'A precondition of the request is not met by the current state of the object.',
    'Precondition failed: the object is not as the request says.',
  ),
  413: refusal('The body is too large.', 'Request body is too large.'),
  415: refusal(
    'The Content-Type of the body is not JSON, or its compression is not supported.',
    'Unsupported media type "text/plain" in request.',
    { 'Accept-Patch': ACCEPT_PATCH },
  ),
  422: refusal(
    'The Idempotency-Key has been used with a different request.',
    'This Idempotency-Key was sent with another request. Send a new one.',
  ),
  428: refusal(
    'The request must have a precondition, such as If-Match.',
    'Precondition required: send If-Match with the ETag of the object.',
  ),
  429: refusal(
    'The client has sent too many requests, or too many wrong credentials.',
    'Request was throttled. Expected available in 5 seconds.',
    { 'Retry-After': RETRY_AFTER },
  ),
  500: refusal('An unexpected error occurred.', 'A server error occurred.'),
  503: refusal(
    'The database cannot be reached.',
    'The service is temporarily unavailable. Try again later.',
    { 'Retry-After': RETRY_AFTER },
  ),
};

/** The same response in the format of RFC 9457. */
function asProblem(response: Response): Response {
  return { ...response, content: { [PROBLEM_MEDIA_TYPE]: { schema: PROBLEM } } };
}

const KEY_IN_USE_RESPONSE = refusal(
  'Another request with this Idempotency-Key has not ended yet.',
  'A request with this Idempotency-Key has not ended yet. Try again later.',
  { 'Retry-After': RETRY_AFTER },
);

/** The responses that all operations share, in both formats. */
export const SHARED_RESPONSES: Readonly<Record<string, Response>> = Object.fromEntries(
  [
    ...Object.entries(RESPONSES).map(
      ([status, response]) => [NAMES[Number(status) as ErrorStatus], response] as const,
    ),
    [ITEMS, INVALID_ITEMS] as const,
    [KEY_IN_USE, KEY_IN_USE_RESPONSE] as const,
  ].flatMap(
    ([name, response]) =>
      [
        [responseName(name, 'drf'), response],
        [responseName(name, 'problem'), asProblem(response)],
      ] as const,
  ),
);

export const SHARED_SCHEMAS: Readonly<Record<string, Schema>> = {
  [`${COMPONENT_PREFIX}Error`]: {
    type: 'object',
    title: 'Error',
    properties: { detail: { type: 'string' } },
    required: ['detail'],
  },
  [`${COMPONENT_PREFIX}Problem`]: {
    type: 'object',
    title: 'Problem',
    description: 'RFC 9457.',
    properties: {
      type: { type: 'string', format: 'uri-reference' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      errors: { anyOf: [FIELD_ERRORS, ERRORS_OF_ITEMS] },
    },
    required: ['type', 'title', 'status', 'detail'],
  },
  [`${COMPONENT_PREFIX}FieldErrors`]: {
    type: 'object',
    title: 'Errors by field',
    description:
      'Messages by the name of a field or parameter. `non_field_errors` has messages that concern no single field; an embedded object has its own messages.',
    additionalProperties: { anyOf: [{ type: 'array', items: { type: 'string' } }, FIELD_ERRORS] },
  },
};

export const SHARED_HEADERS: Readonly<Record<string, unknown>> = {
  [`${COMPONENT_PREFIX}Allow`]: {
    description: 'The methods that this URL supports.',
    schema: { type: 'string', examples: ['GET, POST, HEAD, OPTIONS'] },
  },
  [`${COMPONENT_PREFIX}Location`]: {
    description: 'The absolute URL of the new object; omitted if the object has no URL.',
    schema: { type: 'string', format: 'uri' },
  },
  [`${COMPONENT_PREFIX}ETag`]: {
    description:
      'Identifies the state of the object, for If-Match and If-None-Match; omitted if the response does not contain the complete object.',
    schema: { type: 'string', examples: ['"v1.UqaD-NZh2AbhdPVI"'] },
  },
  [`${COMPONENT_PREFIX}LastModified`]: {
    description: 'The time of the last change of the object; omitted shortly after a change.',
    schema: { type: 'string', examples: ['Sat, 21 Nov 2026 08:00:00 GMT'] },
  },
  [`${COMPONENT_PREFIX}CacheControl`]: {
    description: 'Who may cache the response, and for how long.',
    schema: { type: 'string', examples: ['private, no-cache'] },
  },
  [`${COMPONENT_PREFIX}Replayed`]: {
    description:
      '`true` if an earlier request with the same Idempotency-Key created the object, and this is its response.',
    schema: { type: 'string', enum: ['true'] },
  },
  [`${COMPONENT_PREFIX}AcceptPatch`]: {
    description: 'The media type of the bodies that a PATCH takes; omitted for other methods.',
    schema: { type: 'string', examples: ['application/json'] },
  },
  [`${COMPONENT_PREFIX}Challenge`]: {
    description: 'The challenges of the authentication schemes.',
    schema: { type: 'string', examples: ['Basic realm="api"'] },
  },
  [`${COMPONENT_PREFIX}RetryAfter`]: {
    description: 'The seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
  },
};
