import type { CompiledAction, RouteAction } from '../core/schema/action.js';
import { isOfMany } from '../core/contracts/bulk.js';
import { METHODS, QUERY_METHOD } from '../core/schema/operation.js';
import type { Method, Operation } from '../core/schema/operation.js';
import type { ToManyRelation } from '../core/schema/relation.js';
import { resourceOf } from '../core/schema/resource.js';
import type { Resource } from '../core/schema/resource.js';
import type { Api, NestedRoutes, ResourceRoutes, Route, RouteKind } from '../core/schema/route.js';

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

/** The bulk operations of a collection. */
const BULK_METHODS: readonly (readonly [Method, Operation])[] = [
  ['PATCH', 'partialUpdate'],
  ['DELETE', 'destroy'],
];

const ROUTE_OPERATIONS: Readonly<Record<RouteKind, readonly (readonly [Method, Operation])[]>> = {
  collection: LIST_METHODS,
  object: OBJECT_METHODS,
  // Contract: a one-to-many nested list is read-only.
  'one-to-many': [['GET', 'list']],
  'through-list': LIST_METHODS,
  'through-object': OBJECT_METHODS,
  // The URL of an action serves that action only.
  'collection-action': [],
  'object-action': [],
};

/** The application's own handlers. */
export interface ApplicationHandlers {
  actionsOf(resource: Resource): readonly CompiledAction[];
  /** The methods that replace operations, on every URL that serves rows of the resource. */
  replacementsOf(resource: Resource): ReadonlyMap<Operation, RouteAction>;
}

const NO_APPLICATION_HANDLERS: ApplicationHandlers = { actionsOf: () => [], replacementsOf: () => new Map() };

/** Builds every URL below a prefix. */
export function buildApi(
  prefix: string,
  resources: readonly Resource[],
  own: ApplicationHandlers = NO_APPLICATION_HANDLERS,
): Api {
  const handlers = new HandlersByResource(own);
  const byPath = new Map(
    resources.map((resource) => [
      `${resource.app}/${resource.model}`,
      buildResourceRoutes(resource, handlers),
    ]),
  );
  const routes = [...byPath.values()].flatMap(
    ({ collection, object, nested, collectionActions, objectActions }) => [
      collection,
      object,
      ...[...nested.values()].flatMap((each) => [each.list, each.object]),
      ...collectionActions.values(),
      ...objectActions.values(),
    ],
  );
  return {
    prefix,
    resources,
    routes: routes.filter((route) => route !== undefined),
    byPath,
  };
}

/** Finds the handlers of a resource once, and not for each URL that serves its rows. */
class HandlersByResource implements ApplicationHandlers {
  private readonly actions = new Map<Resource, readonly CompiledAction[]>();
  private readonly replacements = new Map<Resource, ReadonlyMap<Operation, RouteAction>>();

  constructor(private readonly own: ApplicationHandlers) {}

  actionsOf(resource: Resource): readonly CompiledAction[] {
    const found = this.actions.get(resource) ?? this.own.actionsOf(resource);
    this.actions.set(resource, found);
    return found;
  }

  replacementsOf(resource: Resource): ReadonlyMap<Operation, RouteAction> {
    const found = this.replacements.get(resource) ?? this.own.replacementsOf(resource);
    this.replacements.set(resource, found);
    return found;
  }
}

function buildResourceRoutes(resource: Resource, own: ApplicationHandlers): ResourceRoutes {
  const { app, model } = resource;
  const actions = own.actionsOf(resource);
  const replacements = own.replacementsOf(resource);
  return {
    resource,
    collection: buildRoute('collection', resource, { name: `${app}_${model}-list`, replacements }),
    object: buildRoute('object', resource, { name: `${app}_${model}-detail`, replacements }),
    nested: new Map(
      resource.nested.map((relation) => [relation.name, buildNestedRoutes(resource, relation, own)]),
    ),
    collectionActions: buildActionRoutes('collection-action', resource, actions),
    objectActions: new Map([
      ...buildActionRoutes('object-action', resource, actions),
      ...buildTrashRoutes(resource),
    ]),
  };
}

function buildActionRoutes(
  kind: RouteKind,
  resource: Resource,
  actions: readonly CompiledAction[],
): ReadonlyMap<string, Route> {
  const segments = new Set(actions.filter((each) => each.kind === kind).map(({ segment }) => segment));
  return new Map(
    [...segments].flatMap((segment) => {
      const name = `${resource.app}_${resource.model}-${segment.toLowerCase()}`;
      const route = buildRoute(kind, resource, {
        name,
        segment,
        actions: selectActions(actions, kind, segment),
      });
      return route ? [[segment, route] as const] : [];
    }),
  );
}

/** The URLs that restore and purge a deleted object. */
function buildTrashRoutes(resource: Resource): ReadonlyMap<string, Route> {
  const { app, model, trash, operations, registered } = resource;
  const served = (['restore', 'purge'] as const).filter((operation) => operations.has(operation));
  if (!trash || !registered) return new Map();
  return new Map(
    served.map((segment): readonly [string, Route] => [
      segment,
      {
        kind: 'object-action',
        resource: trash.with,
        parent: undefined,
        relation: undefined,
        operations: new Map([['POST', segment]]),
        actions: new Map(),
        allow: buildAllowHeader(new Set(['POST'])),
        queryable: false,
        name: `${app}_${model}-${segment}`,
        segment,
      },
    ]),
  );
}

function selectActions(
  actions: readonly CompiledAction[],
  kind: RouteKind,
  segment: string,
): ReadonlyMap<Method, RouteAction> {
  return new Map(
    actions
      .filter((each) => each.kind === kind && each.segment === segment)
      .flatMap(({ methods, action }) =>
        methods.map((method): readonly [Method, RouteAction] => [method, action]),
      ),
  );
}

function buildNestedRoutes(
  parent: Resource,
  relation: ToManyRelation,
  own: ApplicationHandlers,
): NestedRoutes {
  const all = own.actionsOf(parent);
  const name = `${parent.model}-${relation.name.toLowerCase()}`;
  const actions = (kind: RouteKind): ReadonlyMap<Method, RouteAction> =>
    selectActions(all, kind, relation.name);
  if (relation.kind === 'one-to-many') {
    const target = resourceOf(relation.target);
    const replacements = own.replacementsOf(target);
    return {
      list: buildRoute('one-to-many', target, {
        name: `${name}-list`,
        parent,
        relation,
        actions: actions('one-to-many'),
        replacements,
      }),
      object: undefined,
    };
  }
  const through = resourceOf(relation.through.resource);
  const replacements = own.replacementsOf(through);
  return {
    list: buildRoute('through-list', through, {
      name: `${name}-list`,
      parent,
      relation,
      actions: actions('through-list'),
      replacements,
    }),
    object: buildRoute('through-object', through, {
      name: `${name}-detail`,
      parent,
      relation,
      actions: actions('through-object'),
      replacements,
    }),
  };
}

interface RouteParts {
  readonly name: string;
  readonly parent?: Resource;
  readonly relation?: ToManyRelation;
  readonly actions?: ReadonlyMap<Method, RouteAction>;
  readonly replacements?: ReadonlyMap<Operation, RouteAction>;
  readonly segment?: string;
}

function buildRoute(
  kind: RouteKind,
  resource: Resource,
  { name, parent, relation, actions: named = new Map(), replacements = new Map(), segment }: RouteParts,
): Route | undefined {
  const many = BULK_METHODS.filter(([, operation]) => isOfMany({ kind, resource }, operation));
  const operations = new Map(
    [...ROUTE_OPERATIONS[kind], ...many].filter(([, operation]) => resource.operations.has(operation)),
  );
  // The replacements of a nested list are those of the child's class, because a nested action belongs to it.
  const replaced = [...operations].flatMap(
    ([method, operation]): readonly (readonly [Method, RouteAction])[] => {
      const replacement = isOfMany({ kind, resource }, operation) ? undefined : replacements.get(operation);
      return replacement && !named.has(method) ? [[method, replacement]] : [];
    },
  );
  const actions = new Map([...named, ...replaced]);
  if (operations.size + actions.size === 0) return undefined;
  // A method of the application that replaces the list reads the parameters of the URL by itself.
  const queryable = resource.queryMethod && operations.get('GET') === 'list' && !actions.has('GET');
  const served = buildAllowHeader(new Set([...operations.keys(), ...actions.keys()]));
  const allow = queryable ? `${served}, ${QUERY_METHOD}` : served;
  return {
    kind,
    resource,
    parent,
    relation,
    operations,
    actions,
    allow,
    queryable,
    name,
    ...(segment === undefined ? {} : { segment }),
  };
}

/** The `Allow` header in the order of contract 7.2. HEAD accompanies GET, and OPTIONS is always allowed. */
function buildAllowHeader(served: ReadonlySet<Method>): string {
  return METHODS.filter(
    (method) => served.has(method) || method === 'OPTIONS' || (method === 'HEAD' && served.has('GET')),
  ).join(', ');
}
