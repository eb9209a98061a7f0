import { Controller, Req, RequestMapping, RequestMethod, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { ResourceDeclaration } from '../decorators/model-options.js';
import type { Method } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import type { Resource } from '../core/schema/resource.js';
import { ROUTE_ARGUMENTS } from '../compiler/compile-action-body.js';
import { addActionHandler, routedClass, exposeToMiddleware } from './action-binder.js';
import type { ListedController } from './action-binder.js';
import type { Api, ResourceRoutes } from '../core/schema/route.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { setHandlerKind } from '../http/handler-kind.js';
import { ALL_METHODS } from '../http/execution-contexts.js';
import { getCollectionPath, getRoutePattern, identifyRoute } from '../http/route-pattern.js';
import { RestifyExceptionFilter } from './exception.filter.js';
import { RestifyGuard } from './restify.guard.js';
import type { RestServer } from '../http/rest-server.js';

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
    let signed = false;
    for (const routes of api.byPath.values()) {
      const own = this.hostOf(routes.resource, binding);
      if (!own) continue;
      if (own.joined) exposeToMiddleware(own.joined, getCollectionPath(api.prefix, routes.resource));
      for (const url of urlsOf(routes)) {
        // The generated handlers of a nested URL are in the class of the child, if there is one: guards and interceptors of
        // the child apply to them, and those of the parent do not (contract 8.1).
        const child = url.route?.parent && this.hostOf(url.route.resource, binding);
        const generated = child?.joined ? child : own;
        if (!url.route) continue;
        const isSign: boolean = !signed && url.route.actions.size === 0;
        signed ||= isSign;
        bindUrl(
          {
            name: url.name,
            route: url.route,
            pattern: getRoutePattern(api.prefix, url.route),
            model: getCollectionPath(api.prefix, routes.resource),
            isSign,
          },
          { own, generated, server: binding.server },
        );
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

/** The metadata key of @nestjs/swagger for `@ApiExcludeEndpoint`. */
const SWAGGER_EXCLUDED = 'swagger/apiExcludeEndpoint';

/** Nest's request methods by HTTP method. */
const REQUEST_METHODS: Partial<Readonly<Record<Method, RequestMethod>>> = {
  GET: RequestMethod.GET,
  POST: RequestMethod.POST,
  PUT: RequestMethod.PUT,
  PATCH: RequestMethod.PATCH,
  DELETE: RequestMethod.DELETE,
};

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

interface BoundUrl extends Url {
  readonly route: Route;
  readonly pattern: string;
  readonly model: string;
  /** The only URL of its prefix that @nestjs/swagger documents, from which global prefix and version are derived. */
  readonly isSign: boolean;
}

interface Hosts {
  /** The class of the first resource in the URL, which has the actions. */
  readonly own: Host;
  /** The class with the generated handlers. */
  readonly generated: Host;
  readonly server: RestServer;
}

function bindUrl(url: BoundUrl, hosts: Hosts): void {
  const { pattern, model, route } = url;
  const { server, generated } = hosts;
  server.modelPaths.set(`/${pattern}`, `/${model}`);
  if (isDirect(route, generated)) server.directRoutes.add(route);
  const { guarded, lateGuards } = route.resource;
  const hasGuards = guarded || lateGuards.length > 0;
  const contexts = hasGuards ? server.executionContexts.targetsOf(route) : undefined;
  bindActions(url, hosts, contexts);
  bindGenerated(url, hosts, contexts);
}

type ContextTargets = ReturnType<RestServer['executionContexts']['targetsOf']> | undefined;

/** Whether Nest runs nothing of the application around this route. Guards that authenticate run in `authenticate`. */
function isDirect({ actions, resource }: Route, { joined }: Host): boolean {
  const { lateGuards, interceptors, throttle } = resource;
  return !joined && actions.size === 0 && lateGuards.length === 0 && interceptors.length === 0 && !throttle;
}

/** The name contains the path: interceptors and pipes differ by prefix, and no method of the class has such a name. */
function handlerName({ name, pattern }: Pick<BoundUrl, 'name' | 'pattern'>, method?: string): string {
  return `${name}${method === undefined ? '' : `_${method.toLowerCase()}`} ${pattern}`;
}

function bindActions(url: BoundUrl, { own, generated, server }: Hosts, contexts: ContextTargets): void {
  const { pattern, route } = url;
  for (const [method, { handler, operation }] of route.actions) {
    const replaces = operation && generated.joined?.declaration.replaced.includes(operation) === true;
    const controller = operation ? generated.controller : own.controller;
    const name = handlerName(url, method);
    addActionHandler(controller, {
      operation,
      pattern,
      request: REQUEST_METHODS[method] ?? RequestMethod.ALL,
      hasChild: route.kind === 'through-object',
      resource: route.resource,
      server,
      binding: { routeId: identifyRoute(route), method, handler },
      name,
      method: operation === undefined || replaces === true ? handler : undefined,
    });
    contexts?.add(method, controller, name);
  }
}

/**
 * One route for all methods without an action, including methods that the URL does not allow: the response is 405, behind all
 * guards. Where two classes share the URL, Nest may route it before the actions, for which it passes requests on.
 */
function bindGenerated(url: BoundUrl, { generated, server }: Hosts, contexts: ContextTargets): void {
  const name = handlerName(url);
  addHandler(generated.controller, { ...url, name }, server);
  contexts?.add(ALL_METHODS, generated.controller, name);
}

function addHandler(
  controller: Type,
  { name, pattern, isSign }: Pick<BoundUrl, 'name' | 'pattern' | 'isSign'>,
  server: RestServer,
): void {
  const prototype = controller.prototype as Record<string, unknown>;
  const handler = (request: object, response: object): MaybePromise<void> =>
    server.handle(server.getExchange(request, response));
  Object.defineProperty(handler, 'name', { value: name });
  const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, name, descriptor);
  RequestMapping({ path: [pattern], method: RequestMethod.ALL })(prototype, name, descriptor);
  setHandlerKind(handler, { kind: 'generated' });
  // `RestifyOpenApi` describes it from the compiled model.
  if (!isSign) Reflect.defineMetadata(SWAGGER_EXCLUDED, { disable: true }, handler);
  Reflect.defineMetadata(ROUTE_ARGUMENTS, REQUEST_AND_RESPONSE, controller, name);
}

/** Nest's metadata of `(@Req() request, @Res() response)`, shared by all handlers because there can be thousands. */
const REQUEST_AND_RESPONSE = requestAndResponse();

function requestAndResponse(): unknown {
  class Example {} // eslint-disable-line @typescript-eslint/no-extraneous-class -- decorators need one
  Req()(Example.prototype, 'handle', 0);
  Res()(Example.prototype, 'handle', 1);
  return Reflect.getMetadata(ROUTE_ARGUMENTS, Example, 'handle');
}
