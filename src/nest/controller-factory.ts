import { Controller, UseFilters, UseGuards } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { ResourceDeclaration } from '../decorators/model-options.js';
import type { Api, ResourceRoutes, Route } from '../core/schema/route.js';
import type { Resource } from '../core/schema/resource.js';
import { ALL_METHODS } from '../http/execution-contexts.js';
import type { RestServer } from '../http/rest-server.js';
import { getCollectionPath, getRoutePattern } from '../http/route-pattern.js';
import { bindHandler } from './bind-handlers.js';
import type { RouteHandler } from './bind-handlers.js';
import { RestifyExceptionFilter, RestifyGuard } from './controller-enhancers.js';
import { exposeToMiddleware, routedClass } from './listed-controllers.js';
import type { ListedController } from './listed-controllers.js';

/**
 * The controllers of one prefix: one class for each entity, created empty when Nest scans the modules, and given its handlers
 * after the model has been compiled, before Nest maps routes. Entities of other applications in the process get none.
 */
export class GeneratedControllers {
  private static made = 0;

  /** The position among the `forRoot` calls of the process. */
  readonly order = ++GeneratedControllers.made;
  private readonly classes = new Map<object, Type>();

  /** Called by Nest's scanner after all files have been loaded; returns the same classes each time. */
  declareControllers(declared: Iterable<ResourceDeclaration>): Type[] {
    for (const { target, name } of declared) {
      if (!this.classes.has(target)) this.classes.set(target, emptyController(name));
    }
    return [...this.classes.values()];
  }

  get targets(): ReadonlySet<object> {
    return new Set(this.classes.keys());
  }

  /** Adds the handlers to the classes. */
  bind(api: Api, binding: Binding): void {
    const { server } = binding;
    let hasSwaggerAnchor = false;
    for (const routes of api.byPath.values()) {
      const own = this.hostOf(routes.resource, binding);
      if (!own) continue;
      const model = getCollectionPath(api.prefix, routes.resource);
      if (own.joined) exposeToMiddleware(own.joined, model);
      for (const { name, route } of urlsOf(routes)) {
        if (!route) continue;
        // The generated handlers of a nested URL are in the class of the child, if there is one: guards and interceptors of
        // the child apply to them, and those of the parent do not (contract 8.1).
        const child = route.parent && this.hostOf(route.resource, binding);
        const generated = child?.joined ? child : own;
        const pattern = getRoutePattern(api.prefix, route);
        server.modelPaths.set(`/${pattern}`, `/${model}`);
        if (isDirect(route, generated)) server.directRoutes.add(route);
        const isSwaggerAnchor: boolean = !hasSwaggerAnchor && route.actions.size === 0;
        hasSwaggerAnchor ||= isSwaggerAnchor;
        bindHandlers(handlersOf({ name, route, pattern, isSwaggerAnchor }, own, generated), route, server);
      }
    }
  }

  private hostOf(resource: Resource, { targetOf, joining }: Binding): Host | undefined {
    // The verification rejects several of them.
    const [joined] = joining(resource);
    const target = targetOf(resource);
    const generated = target === undefined ? undefined : this.classes.get(target);
    // The application's class gets the generated handlers, too, so that its guards and interceptors apply to them.
    const controller = joined ? routedClass(joined) : generated;
    return controller && { controller, joined };
  }
}

/** The context of binding. */
interface Binding {
  readonly targetOf: (resource: Resource) => object | undefined;
  /** The controller classes of the application for a resource. */
  readonly joining: (resource: Resource) => readonly ListedController[];
  readonly server: RestServer;
}

/** A class that Nest routes. */
interface Host {
  readonly controller: Type;
  /** Set if the class is one of the application. */
  readonly joined: ListedController | undefined;
}

function emptyController(name: string): Type {
  const holder = { [`${name}RestController`]: class {} }; // eslint-disable-line @typescript-eslint/no-extraneous-class -- its handlers come when the model is compiled
  const [controller] = Object.values(holder);
  if (!controller) throw new Error('No controller was made');
  Controller()(controller);
  UseGuards(RestifyGuard)(controller);
  UseFilters(RestifyExceptionFilter)(controller);
  return controller;
}

interface Url {
  /** Unique among the URLs of its resource. */
  readonly name: string;
  readonly route: Route | undefined;
}

function urlsOf({
  collection,
  object,
  nested,
  collectionActions,
  objectActions,
}: ResourceRoutes): readonly Url[] {
  return [
    { name: 'collection', route: collection },
    // Before the objects: the path of an action has precedence over an equal key.
    ...[...collectionActions].map(([segment, route]) => ({ name: `action_${segment}`, route })),
    { name: 'object', route: object },
    ...[...objectActions].map(([segment, route]) => ({ name: `object_action_${segment}`, route })),
    ...[...nested].flatMap(([name, { list, object: detail }]) => [
      { name: `${name}_list`, route: list },
      { name: `${name}_object`, route: detail },
    ]),
  ];
}

/** Whether Nest runs nothing of the application around this route. Guards that authenticate run in `authenticate`. */
function isDirect({ actions, resource }: Route, { joined }: Host): boolean {
  const { lateGuards, interceptors, throttle } = resource;
  return !joined && actions.size === 0 && lateGuards.length === 0 && interceptors.length === 0 && !throttle;
}

interface BoundUrl extends Url {
  readonly route: Route;
  readonly pattern: string;
  /** The only URL of its prefix that @nestjs/swagger documents, from which global prefix and version are derived. */
  readonly isSwaggerAnchor: boolean;
}

/**
 * The handlers of a URL, in the order in which Nest routes them: one for each action, and one for all other methods, including
 * those that the URL does not allow, whose response is 405, behind all guards. Where two classes share the URL, Nest may route
 * the latter before the actions, for which it passes requests on.
 * @param own the class of the first resource in the URL, which has the actions.
 * @param generated the class with the generated handlers.
 */
function handlersOf(
  { name, route, pattern, isSwaggerAnchor }: BoundUrl,
  own: Host,
  generated: Host,
): readonly RouteHandler[] {
  const replaced = generated.joined?.declaration.replaced ?? [];
  const actions = [...route.actions].map(([method, { handler, operation }]): RouteHandler => ({
    kind: 'action',
    controller: operation ? generated.controller : own.controller,
    // The path, because interceptors and pipes differ by prefix, and no method of the class has such a name.
    name: `${name}_${method.toLowerCase()} ${pattern}`,
    route,
    pattern,
    method,
    action: handler,
    operation,
    own: operation === undefined || replaced.includes(operation) ? handler : undefined,
  }));
  return [
    ...actions,
    {
      kind: 'generated',
      controller: generated.controller,
      name: `${name} ${pattern}`,
      route,
      pattern,
      method: ALL_METHODS,
      isDocumented: isSwaggerAnchor,
    },
  ];
}

/** Binds the handlers of a route, and tells guards which handler a request would have. */
function bindHandlers(handlers: readonly RouteHandler[], route: Route, server: RestServer): void {
  const { guarded, lateGuards } = route.resource;
  const hasGuards = guarded || lateGuards.length > 0;
  const contexts = hasGuards ? server.executionContexts.targetsOf(route) : undefined;
  for (const handler of handlers) {
    bindHandler(handler, server);
    contexts?.add(handler.method, handler.controller, handler.name);
  }
}
