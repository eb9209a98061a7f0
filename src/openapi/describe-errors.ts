import type { ErrorFormat } from '../core/contracts/error-format.js';
import { PROBLEM_MEDIA_TYPE } from '../core/media-type.js';
import type { Reference, Response, Schema } from './open-api-types.js';

/** Requests that are refused, and those that fail, as answers name them (contract 6.1). */
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

const PREFIX = 'Restify';
const KEY_IN_USE = 'KeyInUse';

/** In the order of their numbers. */
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

/** 409 of a POST, where it has nothing to do with other objects. */
export function keyInUseReference(format: ErrorFormat): Reference {
  return { $ref: `#/components/responses/${responseName(KEY_IN_USE, format)}` };
}

/** What does not fit, of a body that may be a list. */
const ITEMS = 'InvalidItems';

function responseName(name: string, format: ErrorFormat): string {
  return `${PREFIX}${name}${format === 'problem' ? 'Problem' : ''}`;
}

export const ALLOW: Reference = { $ref: `#/components/headers/${PREFIX}Allow` };
export const REPLAYED: Reference = { $ref: `#/components/headers/${PREFIX}Replayed` };
export const ETAG: Reference = { $ref: `#/components/headers/${PREFIX}ETag` };
export const LAST_MODIFIED: Reference = { $ref: `#/components/headers/${PREFIX}LastModified` };
export const CACHE_CONTROL: Reference = { $ref: `#/components/headers/${PREFIX}CacheControl` };
export const LOCATION: Reference = { $ref: `#/components/headers/${PREFIX}Location` };
const CHALLENGE: Reference = { $ref: `#/components/headers/${PREFIX}Challenge` };
const RETRY_AFTER: Reference = { $ref: `#/components/headers/${PREFIX}RetryAfter` };
const DETAIL: Reference = { $ref: `#/components/schemas/${PREFIX}Error` };
const PROBLEM: Reference = { $ref: `#/components/schemas/${PREFIX}Problem` };
const FIELD_ERRORS: Reference = { $ref: `#/components/schemas/${PREFIX}FieldErrors` };

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
    'What was sent does not fit: messages by field; of a list for each of its objects, in their order, `{}` where nothing is wrong.',
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
    description:
      'What was sent does not fit: messages by field, all of them together; or a body that is no JSON.',
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
  401: refusal('No credentials, or wrong ones.', 'Authentication credentials were not provided.', {
    'WWW-Authenticate': CHALLENGE,
  }),
  403: refusal(
    'The caller is not permitted to do this.',
    'You do not have permission to perform this action.',
  ),
  404: refusal('There is no such object, or the caller may not see it.', 'Not found.'),
  406: refusal(
    'The answer would be JSON, which the Accept header does not take.',
    'Could not satisfy the request Accept header.',
  ),
  409: refusal(
    'Other objects still refer to this one.',
    'This object cannot be deleted: objects of "polls.choice" still refer to it.',
  ),
  412: refusal(
    'The object is not in the state that the request is about.',
    'Precondition failed: the object is not as the request says.',
  ),
  413: refusal('The body is too large.', 'Request body is too large.'),
  415: refusal(
    'The body is no JSON by its Content-Type, or is compressed in a way that is not decoded.',
    'Unsupported media type "text/plain" in request.',
  ),
  422: refusal(
    'The Idempotency-Key was sent with another request.',
    'This Idempotency-Key was sent with another request. Send a new one.',
  ),
  428: refusal(
    'The request must say which state of the object it is about.',
    'Precondition required: send If-Match with the ETag of the object.',
  ),
  429: refusal(
    'The caller has asked too often, or sent wrong credentials too often.',
    'Request was throttled. Expected available in 5 seconds.',
    { 'Retry-After': RETRY_AFTER },
  ),
  500: refusal('Something unforeseen happened.', 'A server error occurred.'),
  503: refusal(
    'The database cannot be reached.',
    'The service is temporarily unavailable. Try again later.',
    { 'Retry-After': RETRY_AFTER },
  ),
};

/** The same in the words of RFC 9457. */
function asProblem(response: Response): Response {
  return { ...response, content: { [PROBLEM_MEDIA_TYPE]: { schema: PROBLEM } } };
}

const KEY_IN_USE_RESPONSE = refusal(
  'Another request with this Idempotency-Key has not ended yet.',
  'A request with this Idempotency-Key has not ended yet. Try again later.',
  { 'Retry-After': RETRY_AFTER },
);

/** What all operations share, in both forms. */
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
  [`${PREFIX}Error`]: {
    type: 'object',
    title: 'Error',
    properties: { detail: { type: 'string' } },
    required: ['detail'],
  },
  [`${PREFIX}Problem`]: {
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
  [`${PREFIX}FieldErrors`]: {
    type: 'object',
    title: 'Errors by field',
    description:
      'Messages by the name of a field or of a parameter; `non_field_errors` holds those of no single one, and an embedded object has its own.',
    additionalProperties: { anyOf: [{ type: 'array', items: { type: 'string' } }, FIELD_ERRORS] },
  },
};

export const SHARED_HEADERS: Readonly<Record<string, unknown>> = {
  [`${PREFIX}Allow`]: {
    description: 'The methods that this URL serves.',
    schema: { type: 'string', examples: ['GET, POST, HEAD, OPTIONS'] },
  },
  [`${PREFIX}Location`]: {
    description: 'The absolute URL of the new object; left out where it cannot be asked for.',
    schema: { type: 'string', format: 'uri' },
  },
  [`${PREFIX}ETag`]: {
    description:
      'Names the state of the object, for If-Match and If-None-Match; left out of an answer that does not show the whole object.',
    schema: { type: 'string', examples: ['"v1.UqaD-NZh2AbhdPVI"'] },
  },
  [`${PREFIX}LastModified`]: {
    description: 'When the object was changed; told once that is a while ago.',
    schema: { type: 'string', examples: ['Sat, 21 Nov 2026 08:00:00 GMT'] },
  },
  [`${PREFIX}CacheControl`]: {
    description: 'Who may keep the answer, and for how long.',
    schema: { type: 'string', examples: ['private, no-cache'] },
  },
  [`${PREFIX}Replayed`]: {
    description:
      '`true` where an earlier request with the same Idempotency-Key has made the object, and this is its answer.',
    schema: { type: 'string', enum: ['true'] },
  },
  [`${PREFIX}Challenge`]: {
    description: 'How to say who one is, where the scheme has a challenge.',
    schema: { type: 'string', examples: ['Basic realm="api"'] },
  },
  [`${PREFIX}RetryAfter`]: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
};
