import { Controller, Req, RequestMapping, RequestMethod, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResourceDeclaration } from '../../declare/restify-declaration.js';
import type { Method } from '../../model/operation.js';
import type { Route } from '../../model/route.js';
import type { Resource } from '../../model/resource.js';
import { addActionHandler, routedClass } from './application-controllers.js';
import type { ListedController } from './application-controllers.js';
import type { BuiltApi, ResourceRoutes } from './build-routes.js';
import { expressExchange } from './express-exchange.js';
import { RestifyExceptionFilter } from './restify-exception.filter.js';
import { RestifyGuard } from './restify.guard.js';
import { urlOf } from './rest-server.js';
import type { RestServer } from './rest-server.js';

/**
 * The controllers of one prefix: a class an entity, laid out empty when Nest reads the modules and given its routes
 * when the model is compiled, which is before Nest maps routes. An entity of another application in the same process
 * never gets any.
 */
export class GeneratedControllers {
  private static made = 0;

  /** Its place among the `forRoot` calls of the process. */
  readonly order = ++GeneratedControllers.made;
  private readonly classes = new Map<object, Type>();

  /** Called by Nest's scanner, once all files are loaded; the same classes each time. */
  layOut(declared: Iterable<ResourceDeclaration>): Type[] {
    for (const { target, name } of declared) {
      if (!this.classes.has(target)) this.classes.set(target, emptyController(name));
    }
    return [...this.classes.values()];
  }

  get targets(): ReadonlySet<object> {
    return new Set(this.classes.keys());
  }

  /** Gives the class of each resource its handlers. */
  bind(api: BuiltApi, { targetOf, joining, server }: Binding): void {
    for (const routes of api.byResource) {
      // Boot refuses several of them.
      const [joined] = joining(routes.resource);
      const target = targetOf(routes.resource);
      const generated = target === undefined ? undefined : this.classes.get(target);
      // The application's class takes the generated handlers too, so that its guards and interceptors stand before them.
      const controller = joined ? routedClass(joined) : generated;
      if (controller) bindRoutes(controller, routes, { prefix: api.prefix, server, own: joined });
    }
  }
}

/** What binding needs to know beside the routes. */
interface Binding {
  readonly targetOf: (resource: Resource) => object | undefined;
  /** Controller classes of the application that join a resource. */
  readonly joining: (resource: Resource) => readonly ListedController[];
  readonly server: RestServer;
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

/** Routes of Nest by the methods of HTTP. */
const REQUEST_METHODS: Partial<Readonly<Record<Method, RequestMethod>>> = {
  GET: RequestMethod.GET,
  POST: RequestMethod.POST,
  PUT: RequestMethod.PUT,
  PATCH: RequestMethod.PATCH,
  DELETE: RequestMethod.DELETE,
};

interface BoundTo {
  readonly prefix: string;
  readonly server: RestServer;
  /** The application's class, where it is one. */
  readonly own: ListedController | undefined;
}

interface Url {
  readonly name: string;
  readonly pattern: string;
  readonly route: Route | undefined;
}

function urlsOf({ collection, object, nested, collectionActions, objectActions }: ResourceRoutes): readonly Url[] {
  return [
    { name: 'collection', pattern: '', route: collection },
    // Before the objects: an action's path wins over a key that has its text.
    ...[...collectionActions].map(([segment, route]) => ({ name: `action_${segment}`, pattern: segment, route })),
    { name: 'object', pattern: ':pk', route: object },
    ...[...objectActions].map(([segment, route]) => ({ name: `object_action_${segment}`, pattern: `:pk/${segment}`, route })),
    ...[...nested].flatMap(([name, { list, object: detail }]) => [
      { name: `${name}_list`, pattern: `:pk/${name}`, route: list },
      { name: `${name}_object`, pattern: `:pk/${name}/*childId`, route: detail },
    ]),
  ];
}

function bindRoutes(controller: Type, routes: ResourceRoutes, { prefix, server, own }: BoundTo): void {
  const path = [prefix, routes.resource.app, routes.resource.model].filter((part) => part !== '').join('/');
  addPath(controller, path);
  if (own) addPath(own.declaration.controller as Type, path);
  for (const { name, pattern, route } of urlsOf(routes)) {
    if (!route) continue;
    server.patterns.add(`/${path}${pattern === '' ? '' : `/${pattern}`}`);
    for (const [method, action] of route.actions) {
      const request = REQUEST_METHODS[method] ?? RequestMethod.ALL;
      addActionHandler(controller, { name: `${name}_${method.toLowerCase()}`, method: action.handler, pattern, request, hasChild: route.kind === 'through-object', binding: { url: urlOf(route), method, handler: action.handler } });
    }
    const generated = [...route.operations.keys()].filter((method) => !route.actions.has(method));
    for (const method of generated) addHandler(controller, { name: `${name}_${method.toLowerCase()}`, pattern, method: REQUEST_METHODS[method] ?? RequestMethod.ALL }, server);
    // OPTIONS, and every method that the URL does not serve: 405 is ours to say. HEAD follows GET.
    addHandler(controller, { name: `${name}_other`, pattern, method: RequestMethod.ALL }, server);
  }
}

/** Nest maps a class under all of its paths: one a prefix. */
function addPath(controller: Type, path: string): void {
  const before: unknown = Reflect.getOwnMetadata('path', controller);
  const paths = Array.isArray(before) ? (before as string[]) : typeof before === 'string' && before !== '/' ? [before] : [];
  Reflect.defineMetadata('path', [...new Set([...paths, path])], controller);
}

function addHandler(controller: Type, { name, pattern, method }: { name: string; pattern: string; method: RequestMethod }, server: RestServer): void {
  const prototype = controller.prototype as Record<string, unknown>;
  if (Object.hasOwn(prototype, name)) return;
  const handler = {
    [name]: (request: IncomingMessage, response: ServerResponse): Promise<void> => server.handle(expressExchange(request, response)),
  }[name];
  const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, name, descriptor);
  RequestMapping({ path: pattern, method })(prototype, name, descriptor);
  Req()(prototype, name, 0);
  Res()(prototype, name, 1);
}
