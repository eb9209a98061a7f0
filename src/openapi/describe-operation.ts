import type { BulkOperation } from '../core/contracts/bulk.js';
import { QUERY_MEDIA_TYPE } from '../core/schema/operation.js';
import type { Operation as OperationName } from '../core/schema/operation.js';
import { resourceOf } from '../core/schema/resource.js';
import type { Resource } from '../core/schema/resource.js';
import { patchTypesOf } from '../core/schema/route.js';
import type { Route } from '../core/schema/route.js';
import { keyFieldsOf } from '../request/plan/key-fields.js';
import { withoutNested } from '../request/plan/nested-values.js';
import { givenFields } from '../request/plan/given-fields.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { operationName, typeName } from './components.js';
import { knownAccess, securityOf } from './describe-access.js';
import {
  amountOf,
  FREE_OBJECT,
  JSON_TYPE,
  schemaNames,
  schemaOfAmount,
  SUFFIXES,
} from './described-route.js';
import type { DescribedPlace, DescribedRoute } from './described-route.js';
import { requestSchema } from './describe-model.js';
import type { BodyOptions } from './describe-model.js';
import { describeParameters } from './describe-parameters.js';
import { describeResponses } from './describe-responses.js';
import { keySchema } from './describe-value.js';
import { errorReferences } from './describe-errors.js';
import type { OperationObject, Parameter, Schema } from './open-api-types.js';

/** Describes one method of one URL: parameters, body and responses. */
export function describeOperation(described: DescribedRoute, place: DescribedPlace): OperationObject {
  const { route, action } = described;
  const { resource } = route;
  const access = knownAccess(action?.permission ?? resource.permission, requiredMethod(described));
  const security = securityOf(resource, access, place.hasSecurity);
  return {
    operationId: takeOperationId(idParts(described), place),
    summary: summaryOf(described),
    tags: [tagOf(route)],
    parameters: describeParameters(described, place),
    ...requestBodyOf(described, place),
    responses: describeResponses(described, access, place),
    ...(security ? { security } : {}),
  };
}

/** Describes QUERY of a list: the parameters of its GET are the body. */
export function describeQuery(route: Route, place: DescribedPlace): OperationObject {
  const { resource, parent, relation } = route;
  const list = describeOperation({ route, method: 'GET', operation: 'list', action: undefined }, place);
  // References are made of them later.
  const parameters = list.parameters as readonly Parameter[];
  const properties = Object.fromEntries(
    parameters
      .filter((each) => each.in === 'query')
      .map(({ name, description, schema }) => [
        name,
        { ...queriedSchema(schema, resource), ...(description === undefined ? {} : { description }) },
      ]),
  );
  const label = parent ? `${parent.className}, ${relation?.name ?? ''}` : resource.className;
  return {
    ...list,
    operationId: takeOperationId([...idPartsOf(route), 'query'], place),
    summary: `List objects by parameters in the body: ${label}`,
    parameters: parameters.filter((each) => each.in !== 'query'),
    requestBody: {
      required: false,
      content: { [QUERY_MEDIA_TYPE]: { schema: { type: 'object', properties } } },
    },
    responses: {
      ...list.responses,
      ...errorReferences({ 400: true, 413: true, 415: true }, place.errorFormat),
    },
  };
}

/** A list of values may be longer than in a URL. */
function queriedSchema(schema: Schema, { queryLimits: { values, bodyValues } }: Resource): Schema {
  return schema.maxItems === values ? { ...schema, maxItems: bodyValues } : schema;
}

/** The tag of all URLs of a model. */
export function tagOf({ parent, resource }: Route): string {
  return (parent ?? resource).id;
}

/** The method whose permission an action requires: an action of an object requires that of PATCH, except for GET. */
function requiredMethod({ route, method, operation }: DescribedRoute): string {
  if (operation === 'purge') return 'DELETE';
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
  restore: (label) => `Restore a deleted object: ${label}`,
  purge: (label) => `Delete a deleted object for good: ${label}`,
};

const BULK_SUMMARIES: Readonly<Record<BulkOperation, (label: string) => string>> = {
  create: (label) => `Create an object, or many: ${label}`,
  partialUpdate: (label) => `Change many objects: ${label}`,
  destroy: (label) => `Delete many objects: ${label}`,
};

function summaryOf(described: DescribedRoute): string {
  const { route, method, operation } = described;
  const { resource, parent, relation, segment } = route;
  const label = parent ? `${parent.className}, ${relation?.name ?? ''}` : resource.className;
  if (operation && amountOf(described) !== 'one') return BULK_SUMMARIES[operation as BulkOperation](label);
  return operation ? SUMMARIES[operation](label) : `${method} ${segment ?? ''}: ${label}`.replace(' :', ':');
}

function requestBodyOf(
  described: DescribedRoute,
  place: DescribedPlace,
): Pick<OperationObject, 'requestBody'> {
  const { route, method, operation } = described;
  if (operation === 'create' || operation === 'update' || operation === 'partialUpdate') {
    const { resource } = route;
    const { components } = place;
    const amount = amountOf(described);
    const own = resource.serializer.parse !== ModelSerializer.prototype.parse;
    const given = givenFields(route);
    const body = own
      ? FREE_OBJECT
      : requestSchema(resource, operation, { given, childSchema: childSchemas(place) });
    const named = operation === 'update' ? orCreation(body, described, place) : body;
    const schema = own ? FREE_OBJECT : components.add(schemaNames(route, SUFFIXES[operation]), named);
    // A missing body is treated as an empty object.
    const required = body.required !== undefined;
    const item =
      amount === 'many' && !own
        ? components.add(schemaNames(route, 'PatchItem'), withKey(body, resource))
        : schema;
    const accepted: Schema =
      amount === 'one' ? schema : { anyOf: [schema, schemaOfAmount(item, 'many', resource)] };
    const types = operation === 'partialUpdate' && amount === 'one' ? patchTypesOf(route) : [JSON_TYPE];
    const content = Object.fromEntries(types.map((type) => [type, { schema: accepted }]));
    return { requestBody: { required, content } };
  }
  // The application describes the body of its own methods.
  return operation === undefined && method !== 'GET' && method !== 'DELETE'
    ? { requestBody: { required: false, content: { [JSON_TYPE]: { schema: {} } } } }
    : {};
}

/** The schemas of children in bodies, each a component. Children have none of their own. */
function childSchemas({ components }: DescribedPlace): BodyOptions['childSchema'] {
  return ({ nested: { relation, isOne } }, verb) => {
    const child = withoutNested(resourceOf(relation.target));
    if (child.serializer.parse !== ModelSerializer.prototype.parse) return FREE_OBJECT;
    const body = requestSchema(child, verb === 'create' ? 'create' : 'partialUpdate', {
      given: givenFields({ relation }),
    });
    const name = typeName(child.app, child.model);
    return verb === 'create'
      ? components.add([`${name}NestedCreate`], {
          ...body,
          title: `${child.className}, to create in an object`,
        })
      : components.add([`${name}NestedUpdate`], {
          ...(isOne ? body : withKey(body, child)),
          title: `${child.className}, to change in an object`,
        });
  };
}

/** The body of a PUT, or a reference to that of a POST with the same fields. */
function orCreation(body: Schema, { route }: DescribedRoute, { components }: DescribedPlace): Schema {
  const [name = ''] = schemaNames(route, SUFFIXES.create);
  const creation = components.schemas.get(name);
  const { title } = body;
  return JSON.stringify({ ...body, title: creation?.title }) === JSON.stringify(creation)
    ? { $ref: `#/components/schemas/${name}`, title }
    : body;
}

/** An item of a list of changes, with its key. */
function withKey(change: Schema, resource: Resource): Schema {
  const fields = keyFieldsOf(resource);
  const keys = Object.fromEntries(fields.map(({ name, key }) => [name, keySchema(key)]));
  return {
    ...change,
    title: `${String(change.title)} in a list`,
    properties: { ...keys, ...(change.properties as Readonly<Record<string, Schema>> | undefined), ...keys },
    required: fields.map(({ name }) => name),
  };
}
