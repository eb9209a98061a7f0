import type { ErrorFormat } from '../core/contracts/errors.js';
import { PROBLEM_MEDIA_TYPE } from '../core/contracts/renderer.js';
import type { Reference, Response, Schema } from './open-api-types.js';

const COMPONENT_PREFIX = 'Restify';

function referTo(kind: 'headers' | 'responses' | 'schemas', name: string): Reference {
  return { $ref: `#/components/${kind}/${COMPONENT_PREFIX}${name}` };
}

export const ALLOW = referTo('headers', 'Allow');
export const REPLAYED = referTo('headers', 'Replayed');
export const ETAG = referTo('headers', 'ETag');
export const LAST_MODIFIED = referTo('headers', 'LastModified');
export const CACHE_CONTROL = referTo('headers', 'CacheControl');
export const LOCATION = referTo('headers', 'Location');
const RETRY_AFTER = referTo('headers', 'RetryAfter');
const DETAIL = referTo('schemas', 'Error');
const FIELD_ERRORS = referTo('schemas', 'FieldErrors');
const ERRORS_OF_ITEMS: Schema = { type: 'array', items: FIELD_ERRORS };

function errorResponse(description: string, schema: Schema, headers: Response['headers'] = {}): Response {
  return {
    description,
    headers: { Allow: ALLOW, ...headers },
    content: { 'application/json': { schema } },
  };
}

function rejection(description: string, detail: string, headers: Response['headers'] = {}): Response {
  return errorResponse(description, { allOf: [DETAIL], examples: [{ detail }] }, headers);
}

/** The error responses by status, with their names (contract 6.1). */
const ERRORS = {
  400: [
    'InvalidInput',
    errorResponse('The request is invalid: all messages by field; or the body is not valid JSON.', {
      anyOf: [FIELD_ERRORS, DETAIL],
      examples: [
        { field: ['This field is required.'] },
        { detail: 'JSON parse error - Unexpected end of JSON input' },
      ],
    }),
  ],
  401: [
    'NotAuthenticated',
    rejection('The credentials are missing or wrong.', 'Authentication credentials were not provided.', {
      'WWW-Authenticate': referTo('headers', 'Challenge'),
    }),
  ],
  403: [
    'PermissionDenied',
    rejection(
      'The caller does not have the permission.',
      'You do not have permission to perform this action.',
    ),
  ],
  404: ['NotFound', rejection('The object does not exist, or the caller may not see it.', 'Not found.')],
  406: [
    'NotAcceptable',
    rejection(
      'The Accept header excludes all available formats.',
      'Could not satisfy the request Accept header.',
    ),
  ],
  409: [
    'Restricted',
    rejection(
      'Other objects still refer to this one.',
      'This object cannot be deleted: objects of "polls.choice" still refer to it.',
    ),
  ],
  412: [
    'PreconditionFailed',
    rejection(
      'A precondition of the request is not met by the current state of the object.',
      'Precondition failed: the object is not as the request says.',
    ),
  ],
  413: ['BodyTooLarge', rejection('The body is too large.', 'Request body is too large.')],
  415: [
    'UnsupportedMediaType',
    rejection(
      'The Content-Type of the body is not JSON, or its compression is not supported.',
      'Unsupported media type "text/plain" in request.',
      { 'Accept-Patch': referTo('headers', 'AcceptPatch') },
    ),
  ],
  422: [
    'KeyReused',
    rejection(
      'The Idempotency-Key has been used with a different request.',
      'This Idempotency-Key was sent with another request. Send a new one.',
    ),
  ],
  428: [
    'PreconditionRequired',
    rejection(
      'The request must have a precondition, such as If-Match.',
      'Precondition required: send If-Match with the ETag of the object.',
    ),
  ],
  429: [
    'Throttled',
    rejection(
      'The client has sent too many requests, or too many wrong credentials.',
      'Request was throttled. Expected available in 5 seconds.',
      { 'Retry-After': RETRY_AFTER },
    ),
  ],
  500: ['ServerError', rejection('An unexpected error occurred.', 'A server error occurred.')],
  503: [
    'Unavailable',
    rejection('The database cannot be reached.', 'The service is temporarily unavailable. Try again later.', {
      'Retry-After': RETRY_AFTER,
    }),
  ],
} satisfies Readonly<Record<number, readonly [name: string, response: Response]>>;

export type ErrorStatus = keyof typeof ERRORS;

/** The statuses that an operation may answer; those that are false or absent it does not. */
export type PossibleErrors = Readonly<Partial<Record<ErrorStatus, boolean>>>;

/** Errors of a body that may be a list. */
const INVALID_ITEMS = 'InvalidItems';
/** 409 of a POST with an `Idempotency-Key` whose first request has not completed. */
export const KEY_IN_USE = 'KeyInUse';

/** References to the responses, sorted by status. */
export function errorReferences(
  possible: PossibleErrors,
  format: ErrorFormat,
  hasItems = false,
): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    Object.entries(possible)
      .filter(([, isPossible]) => isPossible)
      .map(([status]) => {
        const [name] = ERRORS[Number(status) as ErrorStatus];
        return [status, errorReference(hasItems && status === '400' ? INVALID_ITEMS : name, format)];
      }),
  );
}

export function errorReference(name: string, format: ErrorFormat): Reference {
  return referTo('responses', format === 'problem' ? `${name}Problem` : name);
}

/** The responses that all operations share, in both formats. */
export const SHARED_RESPONSES: Readonly<Record<string, Response>> = withPrefix(
  Object.fromEntries(
    [
      ...Object.values(ERRORS),
      [
        INVALID_ITEMS,
        errorResponse(
          'The request is invalid. Messages by field; for a list, one object of messages for each item in the same order, `{}` for a valid item.',
          {
            anyOf: [FIELD_ERRORS, ERRORS_OF_ITEMS, DETAIL],
            examples: [[{}, { field: ['This field is required.'] }]],
          },
        ),
      ] as const,
      [
        KEY_IN_USE,
        rejection(
          'Another request with this Idempotency-Key has not ended yet.',
          'A request with this Idempotency-Key has not ended yet. Try again later.',
          { 'Retry-After': RETRY_AFTER },
        ),
      ] as const,
    ].flatMap(([name, response]) => [
      [name, response],
      // RFC 9457
      [
        `${name}Problem`,
        { ...response, content: { [PROBLEM_MEDIA_TYPE]: { schema: referTo('schemas', 'Problem') } } },
      ],
    ]),
  ),
);

export const SHARED_SCHEMAS: Readonly<Record<string, Schema>> = withPrefix({
  Error: {
    type: 'object',
    title: 'Error',
    properties: { detail: { type: 'string' } },
    required: ['detail'],
  },
  Problem: {
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
  FieldErrors: {
    type: 'object',
    title: 'Errors by field',
    description:
      'Messages by the name of a field or parameter. `non_field_errors` has messages that concern no single field; an embedded object has its own messages.',
    additionalProperties: { anyOf: [{ type: 'array', items: { type: 'string' } }, FIELD_ERRORS] },
  },
});

/** The same in a document with models whose bodies have children: a field may have the messages of each of a list of objects. */
export const SHARED_SCHEMAS_WITH_CHILDREN: Readonly<Record<string, Schema>> = {
  ...SHARED_SCHEMAS,
  ...withPrefix({
    FieldErrors: {
      ...SHARED_SCHEMAS[`${COMPONENT_PREFIX}FieldErrors`],
      description:
        'Messages by the name of a field or parameter. `non_field_errors` has messages that concern no single field; an embedded object has its own messages, and so has each object of a list.',
      additionalProperties: {
        anyOf: [{ type: 'array', items: { type: 'string' } }, FIELD_ERRORS, ERRORS_OF_ITEMS],
      },
    },
  }),
};

export const SHARED_HEADERS: Readonly<Record<string, unknown>> = withPrefix({
  Allow: {
    description: 'The methods that this URL supports.',
    schema: { type: 'string', examples: ['GET, POST, HEAD, OPTIONS'] },
  },
  Location: {
    description: 'The absolute URL of the new object; omitted if the object has no URL.',
    schema: { type: 'string', format: 'uri' },
  },
  ETag: {
    description:
      'Identifies the state of the object, for If-Match and If-None-Match; omitted if the response does not contain the complete object.',
    schema: { type: 'string', examples: ['"v1.UqaD-NZh2AbhdPVI"'] },
  },
  LastModified: {
    description: 'The time of the last change of the object; omitted shortly after a change.',
    schema: { type: 'string', examples: ['Sat, 21 Nov 2026 08:00:00 GMT'] },
  },
  CacheControl: {
    description: 'Who may cache the response, and for how long.',
    schema: { type: 'string', examples: ['private, no-cache'] },
  },
  Replayed: {
    description:
      '`true` if an earlier request with the same Idempotency-Key created the object, and this is its response.',
    schema: { type: 'string', enum: ['true'] },
  },
  AcceptPatch: {
    description: 'The media type of the bodies that a PATCH takes; omitted for other methods.',
    schema: { type: 'string', examples: ['application/json'] },
  },
  Challenge: {
    description: 'The challenges of the authentication schemes.',
    schema: { type: 'string', examples: ['Basic realm="api"'] },
  },
  RetryAfter: {
    description: 'The seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
  },
});

function withPrefix<Component>(
  components: Readonly<Record<string, Component>>,
): Readonly<Record<string, Component>> {
  return Object.fromEntries(
    Object.entries(components).map(([name, component]) => [COMPONENT_PREFIX + name, component]),
  );
}
