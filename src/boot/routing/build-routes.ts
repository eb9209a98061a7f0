import type { Field } from '../../model/field.js';
import { METHODS } from '../../model/operation.js';
import type { Method, Operation } from '../../model/operation.js';
import type { ToManyRelation } from '../../model/relation.js';
import type { Resource } from '../../model/resource.js';
import type { Api, Route, RouteKind, RouteMatch } from '../../model/route.js';

const LIST_METHODS: readonly (readonly [Method, Operation])[] = [
  ['GET', 'list'],
  ['POST', 'create'],
];
const OBJECT_METHODS: readonly (readonly [Method, Operation])[] = [
  ['GET', 'retrieve'],
  ['PUT', 'update'],
  ['PATCH', 'partialUpdate'],
  ['DELETE', 'destroy'],
];

const SERVED: Readonly<Record<RouteKind, readonly (readonly [Method, Operation])[]>> = {
  collection: LIST_METHODS,
  object: OBJECT_METHODS,
  // Spec: a one-to-many nested list is for reading.
  'one-to-many': [['GET', 'list']],
  'through-list': LIST_METHODS,
  'through-object': OBJECT_METHODS,
};

/** The URLs of a resource; those of which no operation is left do not exist (contract 3). */
export interface ResourceRoutes {
  readonly resource: Resource;
  readonly collection: Route | undefined;
  readonly object: Route | undefined;
  readonly nested: ReadonlyMap<string, NestedRoutes>;
}

export interface NestedRoutes {
  readonly list: Route | undefined;
  readonly object: Route | undefined;
}

export interface BuiltApi extends Api {
  readonly byResource: readonly ResourceRoutes[];
}

/** Every URL below a prefix, and the way from a path to its route. */
export function buildApi(prefix: string, resources: readonly Resource[]): BuiltApi {
  const byResource = resources.map(routesOf);
  const byPath = new Map(byResource.map((routes) => [`${routes.resource.app}/${routes.resource.model}`, routes]));
  const routes = byResource.flatMap(({ collection, object, nested }) => [collection, object, ...[...nested.values()].flatMap((each) => [each.list, each.object])]);
  return {
    prefix,
    resources,
    byResource,
    routes: routes.filter((route) => route !== undefined),
    match: (path) => matchPath(path.split('/'), byPath),
  };
}

function routesOf(resource: Resource): ResourceRoutes {
  const { app, model } = resource;
  const links = resource.fields.flatMap((field: Field) => (field.kind === 'link' ? [field.relation] : []));
  return {
    resource,
    collection: routeOf('collection', resource, { name: `${app}-${model}-list` }),
    object: routeOf('object', resource, { name: `${app}-${model}-detail` }),
    nested: new Map(links.map((relation) => [relation.name, nestedRoutes(resource, relation)])),
  };
}

function nestedRoutes(parent: Resource, relation: ToManyRelation): NestedRoutes {
  const name = `${parent.model}-${relation.name.toLowerCase()}`;
  if (relation.kind === 'one-to-many') {
    return { list: routeOf('one-to-many', relation.target, { name: `${name}-list`, parent, relation }), object: undefined };
  }
  return {
    list: routeOf('through-list', relation.through.resource, { name: `${name}-list`, parent, relation }),
    object: routeOf('through-object', relation.through.resource, { name: `${name}-detail`, parent, relation }),
  };
}

function routeOf(kind: RouteKind, resource: Resource, { name, parent, relation }: { name: string; parent?: Resource; relation?: ToManyRelation }): Route | undefined {
  const operations = new Map(SERVED[kind].filter(([, operation]) => resource.operations.has(operation)));
  if (operations.size === 0) return undefined;
  return { kind, resource, parent, relation, operations, allow: allowOf(operations), name };
}

/** In the order of contract 7; HEAD goes with GET, and OPTIONS is everywhere. */
function allowOf(operations: ReadonlyMap<Method, Operation>): string {
  return METHODS.filter((method) => operations.has(method) || method === 'OPTIONS' || (method === 'HEAD' && operations.has('GET'))).join(', ');
}

function matchPath(segments: readonly string[], byPath: ReadonlyMap<string, ResourceRoutes>): RouteMatch | undefined {
  const [app = '', model = '', key, relation, ...child] = segments;
  const routes = byPath.get(`${app}/${model}`);
  if (!routes) return undefined;
  if (key === undefined) return found(routes.collection);
  if (key === '') return undefined;
  if (relation === undefined) return found(routes.object, key);
  const nested = routes.nested.get(relation);
  if (child.length === 0) return found(nested?.list, key);
  const childSegment = child.join('/');
  return childSegment === '' ? undefined : found(nested?.object, key, childSegment);
}

function found(route: Route | undefined, keySegment?: string, childSegment?: string): RouteMatch | undefined {
  return route ? { route, keySegment, childSegment } : undefined;
}
