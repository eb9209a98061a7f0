import type { BulkOperation } from '../core/contracts/bulk.js';
import { MAX_IDEMPOTENCY_KEY } from '../core/schema/limits.js';
import { parameterName } from '../core/schema/parameter-names.js';
import { FORMAT_PARAMETER } from '../core/contracts/renderer.js';
import type { Operation as OperationName } from '../core/schema/operation.js';
import type { RouteAction } from '../core/schema/action.js';
import type { Resource } from '../core/schema/resource.js';
import type { Key } from '../core/schema/resource-schema.js';
import type { Route } from '../core/schema/route.js';
import { givenFields } from '../request/plan/plan-write.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { operationName } from './component-names.js';
import { amountOf, bulkQuery, schemaOfAmount, withKey } from './describe-bulk.js';
import { conditionParameters } from './describe-conditions.js';
import { knownAccess, securityOf } from './describe-access.js';
import { FREE_OBJECT, formatsOf, isRepeatable, JSON_TYPE, schemaNames, SUFFIXES } from './described-route.js';
import type { DescribedPlace, DescribedRoute } from './described-route.js';
import { describeList, filterParameters } from './describe-list.js';
import { labelsParameterOf } from './describe-labels.js';
import { requestSchema } from './describe-model.js';
import { describeResponses } from './describe-responses.js';
import { exampleKey, pathKeySchema } from './describe-value.js';
import { shapeParametersOf } from './describe-shape.js';
import type { OperationObject, Parameter, Schema } from './open-api-types.js';

/** Describes one method of one URL: parameters, body and responses. */
export function describeOperation(described: DescribedRoute, place: DescribedPlace): OperationObject {
  const { route, action, operation } = described;
  const { resource } = route;
  const access = knownAccess(action?.permission ?? resource.permission, requiredMethod(described));
  const security = securityOf(resource, access, place.hasSecurity);
  return {
    operationId: takeOperationId(idParts(described), place),
    summary: summaryOf(described),
    tags: [tagOf(route)],
    parameters: [
      ...pathParameters(route, action),
      ...queryParameters(described, place),
      ...(operation && operation !== 'destroy' ? shapeParametersOf(resource) : []),
      ...labelsParameterOf(resource, operation),
      ...formatParameters(described),
      ...conditionParameters(described),
      ...keyParameters(described),
    ],
    ...requestBodyOf(described, place),
    responses: describeResponses(described, access, place),
    ...(security ? { security } : {}),
  };
}

function queryParameters(
  described: DescribedRoute,
  place: Pick<DescribedPlace, 'listParameters'>,
): readonly Parameter[] {
  const { operation, route } = described;
  if (operation === undefined) return [];
  return operation === 'list'
    ? listParameters(route.resource, place)
    : bulkQuery(route.resource, operation, amountOf(described));
}

/** The tag of all URLs of a model. */
export function tagOf({ parent, resource }: Route): string {
  return (parent ?? resource).id;
}

/** The method whose permission an action requires: an action of an object requires that of PATCH, except for GET. */
function requiredMethod({ route, method }: DescribedRoute): string {
  return route.kind === 'object-action' && method !== 'GET' ? 'PATCH' : method;
}

/** The identifier of OPTIONS of a URL. */
export function operationIdOfOptions(route: Route, place: DescribedPlace): string {
  const object = route.kind === 'object' || route.kind === 'through-object' ? 'object' : '';
  return takeOperationId([...idPartsOf(route), object, 'options'], place);
}

function takeOperationId(parts: readonly string[], { prefix, operationIds }: DescribedPlace): string {
  return operationIds.take([operationName(...parts), operationName(prefix, ...parts)]);
}

function idParts(described: DescribedRoute): readonly string[] {
  const { route, method, operation } = described;
  const one = route.actions.size === 1 && route.segment !== undefined;
  const detail = route.kind === 'through-object' && operation === undefined ? 'detail' : '';
  return [
    ...idPartsOf(route),
    detail,
    operation ?? (one ? '' : method.toLowerCase()),
    amountOf(described) === 'many' ? 'many' : '',
  ];
}

function idPartsOf({ parent, resource, relation, segment }: Route): readonly string[] {
  const above = parent ?? resource;
  return [above.app, above.model, relation?.name ?? segment ?? ''];
}

const SUMMARIES: Readonly<Record<OperationName, (label: string) => string>> = {
  list: (label) => `List objects: ${label}`,
  create: (label) => `Create an object: ${label}`,
  retrieve: (label) => `Get an object: ${label}`,
  update: (label) => `Replace an object: ${label}`,
  partialUpdate: (label) => `Change an object: ${label}`,
  destroy: (label) => `Delete an object: ${label}`,
};

const BULK_SUMMARIES: Readonly<Record<BulkOperation, (label: string) => string>> = {
  create: (label) => `Create an object, or many: ${label}`,
  partialUpdate: (label) => `Change many objects: ${label}`,
  destroy: (label) => `Delete many objects: ${label}`,
};

function summaryOf(described: DescribedRoute): string {
  const { route, method, operation } = described;
  const { resource, parent, relation, segment } = route;
  const label = parent ? `${parent.label}, ${relation?.name ?? ''}` : resource.label;
  if (operation && amountOf(described) !== 'one') return BULK_SUMMARIES[operation as BulkOperation](label);
  return operation ? SUMMARIES[operation](label) : `${method} ${segment ?? ''}: ${label}`.replace(' :', ':');
}

/** The parameters in the path: the key of the object, and that of a through object. */
export function pathParameters(
  { kind, resource, parent }: Route,
  action: RouteAction | undefined,
): readonly Parameter[] {
  if (kind === 'collection' || kind === 'collection-action') return [];
  const pk = pathParameter('pk', (parent ?? resource).key, `The key: ${(parent ?? resource).label}`);
  if (kind !== 'through-object') return [pk];
  const any = action !== undefined && action.operation === undefined;
  return [pk, pathParameter('childId', any ? undefined : resource.key, 'The key of the through object')];
}

/** `key` is undefined where any text names an object. */
function pathParameter(name: string, key: Pick<Key, 'columns'> | undefined, description: string): Parameter {
  const schema: Schema = key ? pathKeySchema(key) : { type: 'string' };
  return { name, in: 'path', required: true, description, schema, example: key ? exampleKey(key) : 'key' };
}

/** Described once for all URLs with rows of the resource. */
function listParameters(
  resource: Resource,
  { listParameters: known }: Pick<DescribedPlace, 'listParameters'>,
): readonly Parameter[] {
  const parameters = known.get(resource) ?? [
    ...filterParameters(resource),
    ...describeList(resource, {}).parameters,
  ];
  known.set(resource, parameters);
  return parameters;
}

function requestBodyOf(
  described: DescribedRoute,
  place: DescribedPlace,
): Pick<OperationObject, 'requestBody'> {
  const { route, method, operation } = described;
  if (operation === 'create' || operation === 'update' || operation === 'partialUpdate') {
    const { resource } = route;
    const amount = amountOf(described);
    const own = resource.serializer.parse !== ModelSerializer.prototype.parse;
    const schema = own
      ? FREE_OBJECT
      : place.components.add(
          schemaNames(route, SUFFIXES[operation]),
          requestSchema({ resource, base: '', allFields: true }, operation, givenFields(route)),
        );
    const required = !own && requiresBody(place.components.schemas, schema);
    const item =
      amount === 'many' && !own
        ? place.components.add(
            schemaNames(route, 'PatchItem'),
            withKey(
              requestSchema({ resource, base: '', allFields: true }, operation, givenFields(route)),
              resource,
            ),
          )
        : schema;
    const accepted: Schema =
      amount === 'one' ? schema : { anyOf: [schema, schemaOfAmount(item, 'many', resource)] };
    return { requestBody: { required, content: { [JSON_TYPE]: { schema: accepted } } } };
  }
  // The application describes the body of its own methods.
  return operation === undefined && method !== 'GET' && method !== 'DELETE'
    ? { requestBody: { required: false, content: { [JSON_TYPE]: { schema: {} } } } }
    : {};
}

/** A missing body is treated as an empty object. */
function requiresBody(schemas: ReadonlyMap<string, Schema>, { $ref }: Schema): boolean {
  const schema = schemas.get(String($ref).replace('#/components/schemas/', ''));
  return schema?.required !== undefined;
}

function formatParameters(described: DescribedRoute): readonly Parameter[] {
  const formats = formatsOf(described).map(({ format }) => format);
  if (formats.length === 0) return [];
  return [
    {
      name: parameterName(FORMAT_PARAMETER, described.route.resource),
      in: 'query',
      required: false,
      schema: { type: 'string', enum: ['json', ...formats] },
      description: 'The format of the response; it has precedence over the Accept header.',
    },
  ];
}

/** The idempotency key. With quotes it is longer, and each character may be escaped. */
function keyParameters(described: DescribedRoute): readonly Parameter[] {
  if (!isRepeatable(described)) return [];
  const required = described.route.resource.idempotency?.require === true;
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required,
      schema: { type: 'string', minLength: 1, maxLength: 2 * MAX_IDEMPOTENCY_KEY + 2 },
      description:
        'A unique key for each new object, such as a UUID. A repeated request with the same key does not create the object again.',
    },
  ];
}
