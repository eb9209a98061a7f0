import type { Conditional } from '../core/contracts/conditional.js';
import { isWritableIn, writtenColumns } from '../core/schema/field.js';
import { statusOf } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import { keyFieldsOf } from '../request/plan/key-fields.js';
import { mayKnowBrowsers } from '../features/authentication/cross-site-write.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import type { KnownAccess } from './describe-access.js';
import { FREE_OBJECT, formatsOf, isRepeatable, JSON_TYPE, schemaNames } from './described-route.js';
import type { DescribedPlace, DescribedRoute } from './described-route.js';
import { amountOf, schemaOfAmount } from './describe-bulk.js';
import { stateHeaders } from './describe-conditions.js';
import { ALLOW, errorReferences, keyInUseReference, LOCATION, REPLAYED } from './describe-errors.js';
import type { ErrorStatus } from './describe-errors.js';
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
    ...errorReferences(errorsOf(described, access), place.errorFormat, amountOf(described) !== 'one'),
    ...(isRepeatable(described) ? { 409: keyInUseReference(place.errorFormat) } : {}),
  };
  return described.operation
    ? { ...successOf(described, access, place), ...errors }
    : { ...ownSuccess(described), ...errors, default: APPLICATION_RESPONSE };
}

/** A method of the application can write the response itself, and throw any error. */
const APPLICATION_RESPONSE: Response = { description: 'Any other response of the application.' };

function ownSuccess({ action }: DescribedRoute): Responses {
  const answer = {
    [String(action?.code ?? statusOf(undefined))]: jsonResponse('The response of the application.', {}),
  };
  return action?.code === undefined
    ? { ...answer, 204: { description: 'The response has no content.', headers: { Allow: ALLOW } } }
    : answer;
}

function successOf(described: DescribedRoute, access: KnownAccess, place: DescribedPlace): Responses {
  const { operation, route } = described;
  if (operation === 'destroy') return deletedResponses(described, access, place);
  const status = String(described.action?.code ?? statusOf(operation));
  const object = objectSchema(described, access, place);
  const state = stateHeaders(described);
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
  const replayed: NonNullable<Response['headers']> = isRepeatable(described)
    ? { 'Idempotency-Replayed': REPLAYED }
    : {};
  const description =
    amount === 'one' ? 'The new object.' : 'The new object, or the objects of the list in their order.';
  const location: NonNullable<Response['headers']> = hasOwnUrl(resource) ? { Location: LOCATION } : {};
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

function isUpsert(described: DescribedRoute): boolean {
  return amountOf(described) === 'one-or-many' && (described.route.resource.bulk?.upsert.length ?? 0) > 0;
}

function notModifiedResponse(described: DescribedRoute): Responses {
  if (described.operation !== 'retrieve' || !described.route.resource.conditional) return {};
  const headers = { Allow: ALLOW, ...stateHeaders(described) };
  return { 304: { description: 'The client has the current state of the object.', headers } };
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
  const { resource } = route;
  if (resource.serializer.represent !== ModelSerializer.prototype.represent) return FREE_OBJECT;
  const view = { resource, base: `${base}/${resource.app}/${resource.model}`, allFields };
  const known = objects.get(resource) ?? new Map<string, Schema>();
  objects.set(resource, known);
  const schema = known.get(`${allFields} ${base}`) ?? representationSchema(view);
  known.set(`${allFields} ${base}`, schema);
  return components.add(schemaNames(route, ''), schema);
}

function ofConditions(operation: Operation, { require }: Conditional): readonly ErrorStatus[] {
  if (operation === 'list' || operation === 'create') return [];
  if (operation === 'retrieve') return [412];
  return require ? [400, 412, 428] : [400, 412];
}

/** Whether the URL of an object supports any operation. */
function hasOwnUrl({ operations }: Resource): boolean {
  return [...operations].some((operation) => operation !== 'list' && operation !== 'create');
}

function errorsOf(described: DescribedRoute, access: KnownAccess): ReadonlySet<ErrorStatus> {
  return new Set<ErrorStatus>([
    406,
    500,
    503,
    ...inputErrors(described),
    ...accessErrors(described, access),
    ...stateErrors(described),
    ...(mayBeMissing(described, access) ? [404 as const] : []),
  ]);
}

function writesFields({ operation }: DescribedRoute): boolean {
  return operation === 'create' || operation === 'update' || operation === 'partialUpdate';
}

/** Errors of the query, the body and repeated requests. */
function inputErrors(described: DescribedRoute): readonly ErrorStatus[] {
  const { method, operation, route } = described;
  const { strict, shape } = route.resource;
  const writes = writesFields(described);
  const isCustom = operation === undefined;
  const readsInput = writes || operation === 'list' || amountOf(described) === 'many' || isCustom;
  return [
    // A trigger of the database may reject any write.
    ...(readsInput || strict || shape || operation === 'destroy' ? [400 as const] : []),
    ...(writes || (isCustom && method !== 'GET') ? [413 as const, 415 as const] : []),
    ...(isRepeatable(described) ? [422 as const] : []),
  ];
}

/** Errors of authentication, permissions and limits of requests. */
export function accessErrors(described: DescribedRoute, { refuses }: KnownAccess): readonly ErrorStatus[] {
  const { route, action } = described;
  const { guards, schemes, overlapping, throttle, refusalsThrottled } = route.resource;
  const isGuarded = guards.length > 0;
  // An upsert requires the permission for changes, too.
  const mayBeDenied = isGuarded || action !== undefined || isUpsert(described) || mayBeCrossSite(described);
  return [
    ...(schemes.length > 0 || isGuarded ? [401 as const] : []),
    ...(refuses || mayBeDenied || (writesFields(described) && overlapping.length > 0) ? [403 as const] : []),
    ...(throttle || refusalsThrottled ? [429 as const] : []),
  ];
}

/** Whether a scheme may know the caller of an unsafe request by what browsers send: cross-site writes are then rejected. */
function mayBeCrossSite({ method, route }: DescribedRoute): boolean {
  return method !== 'GET' && route.resource.schemes.some(mayKnowBrowsers);
}

/** Errors of the stored state: conflicts and preconditions. */
function stateErrors(described: DescribedRoute): readonly ErrorStatus[] {
  const { operation, route } = described;
  const { conditional } = route.resource;
  return [
    ...(operation === 'destroy' || mayChangeReferred(described) ? [409 as const] : []),
    ...(conditional && operation !== undefined ? ofConditions(operation, conditional) : []),
    ...(conditional && isUpsert(described) ? [412 as const] : []),
  ];
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
