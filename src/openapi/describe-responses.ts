import type { Conditional } from '../core/contracts/conditional.js';
import { statusOf } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import { keyFieldsOf } from '../request/plan/key-fields.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import type { KnownAccess } from './describe-access.js';
import { FREE_OBJECT, formsOf, isRepeatable, JSON_TYPE, schemaNames } from './described-route.js';
import type { DescribedPlace, DescribedRoute } from './described-route.js';
import { amountOf, inAmount } from './describe-bulk.js';
import { stateHeaders } from './describe-conditions.js';
import { ALLOW, errorReferences, keyInUseReference, LOCATION, REPLAYED } from './describe-errors.js';
import type { ErrorStatus } from './describe-errors.js';
import { describeList } from './describe-list.js';
import { representationSchema } from './describe-model.js';
import { keySchema } from './describe-value.js';
import type { Response, Responses, Schema } from './open-api-types.js';

/** Everything that a call can be answered with. */
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
    : { ...ownSuccess(described), ...errors, default: OWN_ANSWER };
}

/** A method of the application's may write the response itself, and throw what it likes. */
const OWN_ANSWER: Response = { description: 'Whatever else the application answers.' };

function ownSuccess({ action }: DescribedRoute): Responses {
  const answer = {
    [String(action?.code ?? statusOf(undefined))]: answered("The answer of the application's own.", {}),
  };
  return action?.code === undefined
    ? { ...answer, 204: { description: 'The answer has nothing to say.', headers: { Allow: ALLOW } } }
    : answer;
}

function successOf(described: DescribedRoute, access: KnownAccess, place: DescribedPlace): Responses {
  const { route, operation, action } = described;
  const amount = amountOf(described);
  const returnsDeleted = operation === 'destroy' && amount !== 'many' && route.resource.returnDeleted;
  const status = String(
    action?.code ?? (operation === 'destroy' && !returnsDeleted ? 204 : statusOf(operation)),
  );
  if (returnsDeleted)
    return {
      [status]: answered('The object that is deleted, as GET showed it; its key, where GET did not.', {
        anyOf: [objectSchema(described, access, place), keyOnlySchema(route.resource)],
      }),
    };
  if (operation === 'destroy')
    return {
      [status]: {
        description: amount === 'many' ? 'They are deleted.' : 'It is deleted.',
        headers: { Allow: ALLOW },
      },
    };
  const object = objectSchema(described, access, place);
  const objects = inAmount(object, amount, route.resource);
  const state = stateHeaders(described);
  if (amount === 'many') return { [status]: answered('The whole objects.', objects) };
  if (operation === 'list') {
    const { schema, headers } = describeList(route.resource, object);
    return { [status]: inForms(answered('The objects.', schema, { ...headers, ...state }), described) };
  }
  if (operation === 'create') {
    const replayed: NonNullable<Response['headers']> = isRepeatable(described)
      ? { 'Idempotency-Replayed': REPLAYED }
      : {};
    const made = {
      [status]: answered(
        amount === 'one' ? 'The new object.' : 'The new object, or the objects of the list in their order.',
        objects,
        { ...(hasOwnUrl(route.resource) ? { Location: LOCATION } : {}), ...state, ...replayed },
      ),
    };
    return amount !== 'one' && (route.resource.bulk?.upsert.length ?? 0) > 0
      ? { 200: answered('All of them were there already, and are changed.', objects, replayed), ...made }
      : made;
  }
  const known: Responses =
    operation === 'retrieve' && route.resource.conditional
      ? {
          304: {
            description: 'The caller has the object in this state.',
            headers: { Allow: ALLOW, ...state },
          },
        }
      : {};
  return { [status]: inForms(answered('The whole object.', object, state), described), ...known };
}

function keyOnlySchema(resource: Resource): Schema {
  const fields = keyFieldsOf(resource);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, key }) => [name, keySchema(key)])),
    required: fields.map(({ name }) => name),
  };
}

function answered(description: string, schema: Schema, headers: Response['headers'] = {}): Response {
  return { description, headers: { Allow: ALLOW, ...headers }, content: { [JSON_TYPE]: { schema } } };
}

const OF_A_FORM = { description: 'Of another form than JSON.', schema: { type: 'string' } } as const;

function inForms(response: Response, described: DescribedRoute): Response {
  const forms = formsOf(described);
  const others = forms.map(({ mediaType }) => [mediaType, { schema: { type: 'string' } }] as const);
  const names = forms.flatMap((form) => Object.keys(form.headers?.(described.route.resource) ?? {}));
  const more = names.map((name) => [name, OF_A_FORM] as const);
  return {
    ...response,
    headers: { ...response.headers, ...Object.fromEntries(more) },
    content: { ...response.content, ...Object.fromEntries(others) },
  };
}

function objectSchema(
  { route }: DescribedRoute,
  { allFields }: KnownAccess,
  { base, components }: DescribedPlace,
): Schema {
  const { resource } = route;
  if (resource.serializer.represent !== ModelSerializer.prototype.represent) return FREE_OBJECT;
  const view = { resource, base: `${base}/${resource.app}/${resource.model}`, allFields };
  return components.add(schemaNames(route, ''), representationSchema(view));
}

function ofConditions(operation: Operation, { require }: Conditional): readonly ErrorStatus[] {
  if (operation === 'list' || operation === 'create') return [];
  if (operation === 'retrieve') return [412];
  return require ? [400, 412, 428] : [400, 412];
}

/** A new object is at an URL where that serves anything. */
function hasOwnUrl({ operations }: Resource): boolean {
  return [...operations].some((operation) => operation !== 'list' && operation !== 'create');
}

function errorsOf(described: DescribedRoute, { refuses, hides }: KnownAccess): ReadonlySet<ErrorStatus> {
  const { route, method, operation, action } = described;
  const { resource, kind } = route;
  const statuses = new Set<ErrorStatus>([406, 500, 503]);
  const guarded = resource.guards.length > 0;
  const writes = operation === 'create' || operation === 'update' || operation === 'partialUpdate';
  const free = operation === undefined;
  const paged = operation === 'list' && describeList(resource, {}).missing;
  if (
    writes ||
    operation === 'list' ||
    amountOf(described) === 'many' ||
    resource.strict ||
    resource.shape ||
    free
  )
    statuses.add(400);
  if (resource.schemes.length > 0 || guarded) statuses.add(401);
  if (refuses || guarded || action || (writes && resource.overlapping.length > 0)) statuses.add(403);
  if (
    (kind !== 'collection' && kind !== 'collection-action') ||
    hides ||
    action ||
    paged ||
    formsOf(described).length > 0
  )
    statuses.add(404);
  // An upsert asks for another right too, and can meet no condition.
  if (amountOf(described) === 'one-or-many' && (resource.bulk?.upsert.length ?? 0) > 0)
    for (const status of resource.conditional ? ([403, 412] as const) : ([403] as const))
      statuses.add(status);
  if (operation === 'destroy') statuses.add(409);
  if (resource.conditional && operation !== undefined)
    for (const status of ofConditions(operation, resource.conditional)) statuses.add(status);
  if (writes || (free && method !== 'GET')) {
    statuses.add(413);
    statuses.add(415);
  }
  if (isRepeatable(described)) statuses.add(422);
  if (resource.throttle || resource.refusalsThrottled) statuses.add(429);
  return statuses;
}
