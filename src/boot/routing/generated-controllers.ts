import { Controller, Req, RequestMapping, RequestMethod, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResourceDeclaration } from '../../declare/restify-declaration.js';
import type { Method } from '../../model/operation.js';
import type { Route } from '../../model/route.js';
import type { BuiltApi, ResourceRoutes } from './build-routes.js';
import { expressExchange } from './express-exchange.js';
import { RestifyExceptionFilter } from './restify-exception.filter.js';
import { RestifyGuard } from './restify.guard.js';
import type { RestServer } from './rest-server.js';

/**
 * The controllers of one prefix: a class an entity, laid out empty when Nest reads the modules and given its routes
 * when the model is compiled, which is before Nest maps routes. An entity of another application in the same process
 * never gets any.
 */
export class GeneratedControllers {
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
  bind(api: BuiltApi, targetOf: (routes: ResourceRoutes) => object | undefined, server: RestServer): void {
    for (const routes of api.byResource) {
      const target = targetOf(routes);
      const controller = target === undefined ? undefined : this.classes.get(target);
      if (controller) bindRoutes(controller, routes, { prefix: api.prefix, server });
    }
  }
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

function bindRoutes(controller: Type, { resource, collection, object, nested }: ResourceRoutes, { prefix, server }: { prefix: string; server: RestServer }): void {
  const path = [prefix, resource.app, resource.model].filter((part) => part !== '').join('/');
  Reflect.defineMetadata('path', path, controller);
  const urls: readonly (readonly [name: string, pattern: string, route: Route | undefined])[] = [
    ['collection', '', collection],
    ['object', ':pk', object],
    ...[...nested].flatMap(([name, { list, object: detail }]) => [[`${name}_list`, `:pk/${name}`, list] as const, [`${name}_object`, `:pk/${name}/*childId`, detail] as const]),
  ];
  for (const [name, pattern, route] of urls) {
    if (!route) continue;
    server.patterns.add(`/${path}${pattern === '' ? '' : `/${pattern}`}`);
    for (const method of route.operations.keys()) addHandler(controller, { name: `${name}_${method.toLowerCase()}`, pattern, method: REQUEST_METHODS[method] ?? RequestMethod.ALL }, server);
    // OPTIONS, and every method that the URL does not serve: 405 is ours to say. HEAD follows GET.
    addHandler(controller, { name: `${name}_other`, pattern, method: RequestMethod.ALL }, server);
  }
}

function addHandler(controller: Type, { name, pattern, method }: { name: string; pattern: string; method: RequestMethod }, server: RestServer): void {
  const prototype = controller.prototype as Record<string, unknown>;
  const handler = {
    [name]: (request: IncomingMessage, response: ServerResponse): Promise<void> => server.handle(expressExchange(request, response)),
  }[name];
  const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, name, descriptor);
  RequestMapping({ path: pattern, method })(prototype, name, descriptor);
  Req()(prototype, name, 0);
  Res()(prototype, name, 1);
}
