import { isWritableIn, writtenColumns } from '../core/schema/field.js';
import { statusOf } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import { resourceOf } from '../core/schema/resource.js';
import type { Resource } from '../core/schema/resource.js';
import { hasObjectUrl } from '../request/resource-urls.js';
import { keyFieldsOf } from '../request/plan/key-fields.js';
import { mayKnowBrowsers } from '../features/authentication/cross-site-write.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import type { KnownAccess } from './describe-access.js';
import {
  amountOf,
  FREE_OBJECT,
  formatsOf,
  isConditional,
  isRepeatable,
  JSON_TYPE,
  schemaNames,
  schemaOfAmount,
} from './described-route.js';
import type { DescribedPlace, DescribedRoute } from './described-route.js';
import {
  ALLOW,
  CACHE_CONTROL,
  errorReferences,
  ETAG,
  errorReference,
  KEY_IN_USE,
  LAST_MODIFIED,
  LOCATION,
  REPLAYED,
} from './describe-errors.js';
import type { ErrorStatus, PossibleErrors } from './describe-errors.js';
import { childErrors } from './describe-related.js';
import { describeList } from './describe-list.js';
import { representationSchema } from './describe-model.js';
import { keySchema } from './describe-value.js';
import type { Response, Responses, Schema } from './open-api-types.js';

/** All responses of an operation. */
export function describeResponses(
  described: DescribedRoute,
  access: KnownAccess,
  place: DescribedPlace,
): Responses {
  const errors = {
    ...errorReferences(
      withChildErrors(errorsOf(described, access), described),
      place.errorFormat,
      amountOf(described) !== 'one',
    ),
    ...(isRepeatable(described) ? { 409: errorReference(KEY_IN_USE, place.errorFormat) } : {}),
  };
  return described.operation
    ? { ...successOf(described, access, place), ...errors }
    : { ...ownSuccess(described), ...errors, default: APPLICATION_RESPONSE };
}

/** A method of the application can write the response itself, and throw any error. */
const APPLICATION_RESPONSE: Response = { description: 'Any other response of the application.' };

function ownSuccess({ action }: DescribedRoute): Responses {
  const response = {
    [String(action?.code ?? statusOf(undefined))]: jsonResponse('The response of the application.', {}),
  };
  return action?.code === undefined
    ? { ...response, 204: { description: 'The response has no content.', headers: { Allow: ALLOW } } }
    : response;
}

function successOf(described: DescribedRoute, access: KnownAccess, place: DescribedPlace): Responses {
  const { operation, route } = described;
  if (operation === 'destroy') return deletedResponses(described, access, place);
  if (operation === 'purge')
    return {
      204: {
        description: 'The object has been deleted for good.',
        headers: { Allow: ALLOW, ...replayedHeaders(described) },
      },
    };
  const status = String(described.action?.code ?? statusOf(operation));
  const object = objectSchema(described, access, place);
  const state = { ...stateHeaders(described), ...(operation === 'restore' && replayedHeaders(described)) };
  if (amountOf(described) === 'many')
    return {
      [status]: jsonResponse('The complete objects.', schemaOfAmount(object, 'many', route.resource)),
    };
  switch (operation) {
    case 'list': {
      const { schema, headers } = describeList(route.resource, object);
      return {
        [status]: withFormats(jsonResponse('The objects.', schema, { ...headers, ...state }), described),
      };
    }
    case 'create':
      return createdResponses(described, status, object);
    default:
      return {
        [status]: withFormats(jsonResponse('The complete object.', object, state), described),
        ...notModifiedResponse(described),
      };
  }
}

function deletedResponses(described: DescribedRoute, access: KnownAccess, place: DescribedPlace): Responses {
  const { route, action } = described;
  const amount = amountOf(described);
  if (amount !== 'many' && route.resource.returnDeleted)
    return {
      [String(action?.code ?? statusOf('destroy'))]: jsonResponse(
        'The deleted object as GET represents it, or its key if GET is not permitted.',
        { anyOf: [objectSchema(described, access, place), keyOnlySchema(route.resource)] },
      ),
    };
  return {
    [String(action?.code ?? 204)]: {
      description: amount === 'many' ? 'The objects have been deleted.' : 'The object has been deleted.',
      headers: { Allow: ALLOW },
    },
  };
}

function createdResponses(described: DescribedRoute, status: string, object: Schema): Responses {
  const { resource } = described.route;
  const amount = amountOf(described);
  const objects = schemaOfAmount(object, amount, resource);
  const replayed = replayedHeaders(described);
  const description =
    amount === 'one' ? 'The new object.' : 'The new object, or the objects of the list in their order.';
  const location: NonNullable<Response['headers']> = hasObjectUrl(resource) ? { Location: LOCATION } : {};
  const created = jsonResponse(description, objects, {
    ...location,
    ...stateHeaders(described),
    ...replayed,
  });
  return isUpsert(described)
    ? {
        200: jsonResponse('All objects existed and have been updated.', objects, replayed),
        [status]: created,
      }
    : { [status]: created };
}

function replayedHeaders(described: DescribedRoute): NonNullable<Response['headers']> {
  return isRepeatable(described) ? { 'Idempotency-Replayed': REPLAYED } : {};
}

function isUpsert(described: DescribedRoute): boolean {
  return amountOf(described) === 'one-or-many' && (described.route.resource.bulk?.upsert.length ?? 0) > 0;
}

function notModifiedResponse(described: DescribedRoute): Responses {
  if (described.operation !== 'retrieve' || !described.route.resource.conditional) return {};
  const headers = { Allow: ALLOW, ...stateHeaders(described) };
  return { 304: { description: 'The client has the current state of the object.', headers } };
}

/** The response headers for the state of an object and for caches. */
function stateHeaders(described: DescribedRoute): NonNullable<Response['headers']> {
  const {
    operation,
    route: { resource },
  } = described;
  const reads = operation === 'list' || operation === 'retrieve';
  return {
    ...(isConditional(described)
      ? { ETag: ETAG, ...(resource.conditional?.modified ? { 'Last-Modified': LAST_MODIFIED } : {}) }
      : {}),
    ...(reads && resource.cacheControl ? { 'Cache-Control': CACHE_CONTROL } : {}),
  };
}

function keyOnlySchema(resource: Resource): Schema {
  const fields = keyFieldsOf(resource);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, key }) => [name, keySchema(key)])),
    required: fields.map(({ name }) => name),
  };
}

function jsonResponse(description: string, schema: Schema, headers: Response['headers'] = {}): Response {
  return { description, headers: { Allow: ALLOW, ...headers }, content: { [JSON_TYPE]: { schema } } };
}

const FORMAT_HEADER = { description: 'Of formats other than JSON.', schema: { type: 'string' } } as const;

function withFormats(response: Response, described: DescribedRoute): Response {
  const formats = formatsOf(described);
  const others = formats.map(({ mediaType }) => [mediaType, { schema: { type: 'string' } }] as const);
  const names = formats.flatMap((format) => Object.keys(format.headers?.(described.route.resource) ?? {}));
  const more = names.map((name) => [name, FORMAT_HEADER] as const);
  return {
    ...response,
    headers: { ...response.headers, ...Object.fromEntries(more) },
    content: { ...response.content, ...Object.fromEntries(others) },
  };
}

function objectSchema(
  { route }: DescribedRoute,
  { allFields }: KnownAccess,
  { base, components, objects }: DescribedPlace,
): Schema {
  const resource = resourceOf(route.resource.deleted?.of ?? route.resource);
  if (resource.serializer.represent !== ModelSerializer.prototype.represent) return FREE_OBJECT;
  const view = { resource, base: `${base}/${resource.app}/${resource.model}`, allFields };
  const known = objects.get(resource) ?? new Map<string, Schema>();
  objects.set(resource, known);
  const schema = known.get(`${allFields} ${base}`) ?? representationSchema(view);
  known.set(`${allFields} ${base}`, schema);
  return components.add(schemaNames(route, ''), schema);
}

/** Operations on rows whose state, and other rows, may forbid them. */
const REMOVALS: ReadonlySet<Operation | undefined> = new Set<Operation>(['destroy', 'restore', 'purge']);

const CHANGES: ReadonlySet<Operation | undefined> = new Set<Operation>(['update', 'partialUpdate']);

function errorsOf(described: DescribedRoute, access: KnownAccess): PossibleErrors {
  const { method, operation, route } = described;
  const { strict, fieldSelection, conditional, hasRelatedKeys } = route.resource;
  const writes = writesFields(described);
  const isCustom = operation === undefined;
  const readsInput = writes || operation === 'list' || amountOf(described) === 'many' || isCustom;
  const hasBody = writes || (isCustom && method !== 'GET');
  // The preconditions of a change.
  const removes = REMOVALS.has(operation);
  const changes = removes || CHANGES.has(operation);
  return {
    ...accessErrors(described, access),
    // A trigger of the database may reject any write; of related keys there may be too many to read.
    400:
      readsInput ||
      strict ||
      fieldSelection !== undefined ||
      removes ||
      readsDeleted(described) ||
      hasRelatedKeys,
    404: mayBeMissing(described, access),
    406: true,
    409: removes || mayChangeReferred(described),
    412: conditional !== undefined && (changes || operation === 'retrieve' || isUpsert(described)),
    413: hasBody,
    415: hasBody,
    422: isRepeatable(described),
    428: conditional?.require === true && changes,
    500: true,
    503: true,
  };
}

/** With the errors of children in the body. */
function withChildErrors(own: PossibleErrors, described: DescribedRoute): PossibleErrors {
  const { operation, route } = described;
  if (!writesFields(described) || !route.resource.hasNestedWrites) return own;
  const more = childErrors(route.resource, operation === 'create');
  return Object.fromEntries(
    Object.entries({ ...more, ...own }).map(([status, isPossible]) => [
      status,
      isPossible || more[Number(status) as ErrorStatus] === true,
    ]),
  );
}

function writesFields({ operation }: DescribedRoute): boolean {
  return operation === 'create' || operation === 'update' || operation === 'partialUpdate';
}

/** Whether the request may ask for deleted objects. */
function readsDeleted({ operation, route }: DescribedRoute): boolean {
  return route.resource.trash !== undefined && (operation === 'list' || operation === 'retrieve');
}

/** Errors of authentication, permissions and limits of requests. */
export function accessErrors(described: DescribedRoute, { refuses }: KnownAccess): PossibleErrors {
  const { route, action } = described;
  const { guards, schemes, overlapping, throttle, refusalsThrottled } = route.resource;
  const isGuarded = guards.length > 0;
  // An upsert requires the permission for changes, too.
  const mayBeDenied = isGuarded || action !== undefined || isUpsert(described) || readsDeleted(described);
  // Cross-site writes are rejected where a scheme may know the caller by what browsers send.
  const mayBeCrossSite = described.method !== 'GET' && schemes.some(mayKnowBrowsers);
  return {
    401: schemes.length > 0 || isGuarded,
    403: refuses || mayBeDenied || mayBeCrossSite || (writesFields(described) && overlapping.length > 0),
    429: throttle !== undefined || refusalsThrottled,
  };
}

/** Whether an update may change a column to which other rows refer. */
function mayChangeReferred({ operation, route: { resource } }: DescribedRoute): boolean {
  if (operation !== 'update' && operation !== 'partialUpdate') return false;
  return resource.fields
    .filter((field) => isWritableIn(field, operation))
    .flatMap(writtenColumns)
    .some((column) => resource.referredColumns.has(column));
}

function mayBeMissing(described: DescribedRoute, { hides }: KnownAccess): boolean {
  const { route, operation, action } = described;
  const isCollection = route.kind === 'collection' || route.kind === 'collection-action';
  if (!isCollection || hides || action) return true;
  if (formatsOf(described).length > 0) return true;
  return operation === 'list' && describeList(route.resource, {}).missing;
}
