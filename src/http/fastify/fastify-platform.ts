import { METHODS } from 'node:http';
import type { IncomingMessage, ServerResponse, Server } from 'node:http';
import { ShuttingDown } from '../../core/errors/http-exceptions.js';
import { isSupportedMethod, QUERY_METHOD, servedMethod } from '../../core/schema/operation.js';
import {
  describeUnknownClosing,
  describeUnknownSerializer,
  probeClosing,
  probeSerializer,
} from '../../internals/fastify.js';
import type { HttpAdapter, HttpPlatform } from '../http-platform.js';
import type { RestServer } from '../rest-server.js';
import type { ServerExchange } from '../server-exchange.js';
import { createMiddlewareExchange, getFastifyExchange, escapeMalformedUrls } from './fastify-exchange.js';
import { mergeReplyVary, restoreMediaType, setSerializerProbe } from './fastify-reply.js';
import { CONSTRAINT, FastifyRoutes } from './fastify-routes.js';
import type { FastifyInstance, FastifyMiddleware, FastifyReply, FastifyRequest } from './fastify-types.js';

export const fastifyPlatform: HttpPlatform = {
  getExchange,
  // Plugins and hooks cannot be listed.
  hasMiddleware: () => true,
  registerBeforeRoutes: registerFastifyHooks,
  registerAfterRoutes: registerFastifyRoutes,
};

const ROUTES = new WeakMap<RestServer, FastifyRoutes>();

/** The versioning options of Nest's adapter, which it sets with the first versioned route. */
interface VersionedAdapter extends HttpAdapter {
  readonly versioningOptions?: { readonly defaultVersion?: unknown };
}

function getExchange(request: object, response: object): ServerExchange {
  if ('raw' in request) return getFastifyExchange(request as FastifyRequest, response as FastifyReply);
  return createMiddlewareExchange(request as IncomingMessage, response as ServerResponse);
}

function registerFastifyHooks(adapter: HttpAdapter, server: RestServer): void {
  const instance = adapter.getInstance() as FastifyInstance;
  const routes = new FastifyRoutes(
    server,
    () => (adapter as VersionedAdapter).versioningOptions?.defaultVersion,
  );
  ROUTES.set(server, routes);
  instance.addConstraintStrategy({
    name: CONSTRAINT,
    storage: () => new Map(),
    deriveConstraint: (request) => deriveConstraint(request, server),
  });
  instance.addHook('onRoute', function (route) {
    routes.captureRoute(route, this);
  });
  rejectWhileClosing(instance, server);
  const hasSerializer = probeSerializer(instance);
  if (hasSerializer) setSerializerProbe(instance, hasSerializer);
  else server.log.warn(describeUnknownSerializer());
  registerFirstMiddleware(instance, (request, response, next) => {
    server.setInitialHeaders(createMiddlewareExchange(request, response));
    next();
  });
  instance.addHook('onRequest', (request, reply, done) => {
    server.setInitialHeaders(createMiddlewareExchange(request.raw, reply.raw));
    // A method for which Fastify has no routes.
    const exchange = getFastifyExchange(request, reply);
    if (!request.is404 || !server.isGenerated(exchange)) done();
    else void server.handleUnmatched(exchange);
  });
  instance.addHook('onSend', (request, reply, _payload, done) => {
    if (server.isGenerated(getExchange(request, reply))) {
      // A hook before this one may have sent the response.
      if (!reply.raw.headersSent) server.setInitialHeaders(createMiddlewareExchange(request.raw, reply.raw));
      const vary = mergeReplyVary(reply);
      if (reply.getHeader('vary') !== vary) reply.header('vary', vary);
      restoreMediaType(reply);
    }
    done();
  });
}

function registerFastifyRoutes(adapter: HttpAdapter, server: RestServer): void {
  const instance = adapter.getInstance() as FastifyInstance;
  // The methods of Node's parser that Fastify has no routes for, so that guards run before 405. The application's routes for all
  // methods are registered before.
  const known = new Set(instance.supportedMethods);
  for (const method of METHODS)
    if (!known.has(method) && method !== 'CONNECT') instance.addHttpMethod(method);
  ROUTES.get(server)?.register(instance);
}

/**
 * Registers middleware before the application's first one. Without any middleware a hook does the same, because the
 * middleware engine costs each request more than this handler.
 */
function registerFirstMiddleware(instance: FastifyInstance, middleware: FastifyMiddleware): void {
  const { use } = instance;
  let isRegistered = false;
  instance.use &&= function (this: FastifyInstance, ...given) {
    if (!isRegistered) use?.call(instance, middleware);
    isRegistered = true;
    return use?.call(this, ...given);
  };
}

/** Derives the routing constraint, before Fastify's router matches the path. */
function deriveConstraint(request: IncomingMessage, server: RestServer): string | undefined {
  const exchange = createMiddlewareExchange(request, {} as ServerResponse);
  const target = server.findTarget(exchange);
  if (!target) return undefined;
  escapeMalformedUrls(request);
  if (target.kind === 'unmatched') return 'unmatched';
  const { queryable } = target.match.route;
  if (!isSupportedMethod(exchange.method) && !(queryable && exchange.method === QUERY_METHOD))
    return 'unserved';
  return target.match.route.actions.has(servedMethod(exchange.method)) ? 'action' : undefined;
}

/**
 * Rejects requests that arrive while Fastify closes in the form of the interface. Fastify would respond before any hook, in
 * a form of its own and without `Retry-After`. Requests are served if the application has set `return503OnClosing: false`.
 */
function rejectWhileClosing(instance: FastifyInstance, server: RestServer): void {
  const closing = probeClosing(instance);
  if (!closing) server.log.warn(describeUnknownClosing());
  if (closing?.rejects !== true) return;
  instance.addHook('preClose', (done) => {
    for (const each of [instance.server, ...closing.otherServers]) rejectRequests(each, server);
    done();
  });
}

function rejectRequests(httpServer: Server, server: RestServer): void {
  const listeners = httpServer.listeners('request');
  httpServer.removeAllListeners('request');
  httpServer.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange = createMiddlewareExchange(request, response);
    if (server.isGenerated(exchange)) void server.sendError(exchange, new ShuttingDown());
    else for (const listener of listeners) listener.call(httpServer, request, response);
  });
}
