import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkBodyText, dropBodyText, hasBodyText, hasInvalidText } from './express-body-text.js';
import { getExpressExchange, isBodyError, storeBodyError, storeInvalidText } from './express-exchange.js';
import { indexRoutes } from './express-route-index.js';
import { useExpressPrototypes } from './express-prototypes.js';
import { DeclarationError } from '../../core/errors/declaration-error.js';
import {
  describeUnknownMatch,
  describeUnknownRouter,
  handlesAllMethods,
  pathsOf,
  probeHandles,
  probeLayers,
  probeLayerTools,
  replaceMatch,
  unknownRoutes,
} from '../../internals/express.js';
import type { ExpressLayer } from '../../internals/express.js';
import { describeUnknownConstructors } from '../../internals/node.js';
import { QUERY_METHOD } from '../../core/schema/operation.js';
import { findHandlerKind } from '../handler-kind.js';
import type { HttpAdapter, HttpPlatform } from '../http-platform.js';
import { GeneratedRoutes } from '../http-platform.js';
import type { RestServer } from '../rest-server.js';

type Next = (error?: unknown) => void;

export const expressPlatform: HttpPlatform = {
  getExchange: (request, response) =>
    getExpressExchange(request as IncomingMessage, response as ServerResponse),
  hasMiddleware: hasExpressMiddleware,
  registerBeforeRoutes: registerExpressMiddleware,
  registerAfterRoutes: registerExpressFallbacks,
};

/** Middleware of Express and of Nest, which sets no user. */
const NEUTRAL: ReadonlySet<string> = new Set([
  'query',
  'expressInit',
  'jsonParser',
  'urlencodedParser',
  'textParser',
  'rawParser',
  'corsMiddleware',
]);

function hasExpressMiddleware(adapter: HttpAdapter): boolean {
  const { onRequestHook } = adapter as { readonly onRequestHook?: unknown };
  return onRequestHook !== undefined || probeHandles(adapter.getInstance())?.every(isNeutral) !== true;
}

function isNeutral(handle: unknown): boolean {
  if (typeof handle !== 'function') return false;
  // Nest's adapter adds a function without a name, which calls its hooks.
  return handle.name === '' ? /\bonRequestHook\b/.test(handle.toString()) : NEUTRAL.has(handle.name);
}

/** Restores `app.all` once the routes are registered. */
const RESTORE_APP_ALL = new WeakMap<RestServer, () => void>();

/**
 * Adds middleware before the routes and the application's middleware, for headers and for body errors, which are stored
 * until the body is used.
 */
function registerExpressMiddleware(adapter: HttpAdapter, server: RestServer): void {
  checkBodyText(adapter.getInstance());
  if (!useExpressPrototypes(adapter.getHttpServer(), adapter.getInstance()))
    server.log.warn(describeUnknownConstructors());
  RESTORE_APP_ALL.set(
    server,
    registerAllMethods(adapter.getInstance(), {
      isForAction: (request, response) => server.isForAction(getExpressExchange(request, response)),
      handleDirectly: (request, response) => server.handleDirectly(getExpressExchange(request, response)),
      servePage: (request, response) => server.servePage(getExpressExchange(request, response)),
    }),
  );
  adapter.use((request: IncomingMessage, response: ServerResponse, next: Next) => {
    const exchange = getExpressExchange(request, response);
    server.setInitialHeaders(exchange);
    if (hasBodyText(request) && !server.isGenerated(exchange)) dropBodyText(request);
    if (hasInvalidText(request) && server.isGenerated(exchange)) storeInvalidText(request);
    next();
  });
  adapter.use(
    createErrorMiddleware((error, { request, response, next }) => {
      // Of a QUERY it is read in spite of the error.
      if (request.method !== QUERY_METHOD) dropBodyText(request);
      if (!isBodyError(error) || !server.isGenerated(getExpressExchange(request, response))) {
        next(error);
        return;
      }
      storeBodyError(request, error);
      next();
    }),
  );
}

/** Adds handlers after the routes: the index, unknown paths below a prefix, and errors before a route. */
function registerExpressFallbacks(adapter: HttpAdapter, server: RestServer): void {
  RESTORE_APP_ALL.get(server)?.();
  const layers = probeLayers(adapter.getInstance());
  if (!layers) throw new DeclarationError([unknownRoutes()]);
  const routes = new GeneratedRoutes(server);
  for (const path of pathsOf(layers)) routes.addPath(path);
  routes.assertSameMounts();
  const insensitive = layers.filter((layer) => !makeCaseSensitive(layer, routes));
  if (insensitive.length > 0) server.log.warn(describeUnknownMatch());
  const tools = probeLayerTools(adapter.getInstance());
  if (tools) indexRoutes(tools, (path) => routes.findModelPath(path));
  else server.log.warn(describeUnknownRouter());
  adapter.use((request: IncomingMessage, response: ServerResponse, next: Next) => {
    nextUnlessHandled(server.handleUnmatched(getExpressExchange(request, response)), next);
  });
  adapter.use(
    createErrorMiddleware((error, { request, response, next }) => {
      const exchange = getExpressExchange(request, response);
      if (!server.isGenerated(exchange) || response.headersSent) next(error);
      // Express rejects a path with malformed escapes before routing; the package's own matcher still classifies it.
      else if (error instanceof URIError) nextUnlessHandled(server.handleUnmatched(exchange), next);
      else void server.sendLibraryError(exchange, error);
    }),
  );
}

/** What Express passes to error middleware in addition to the error. */
interface MiddlewareCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: Next;
}

/** Middleware that Express calls for errors only: it recognizes it by its four parameters. */
function createErrorMiddleware(handle: (error: unknown, call: MiddlewareCall) => void): unknown {
  const middleware = (
    error: unknown,
    request: IncomingMessage,
    ...rest: readonly [response: ServerResponse, next: Next]
  ): void => {
    handle(error, { request, response: rest[0], next: rest[1] });
  };
  return Object.defineProperty(middleware, 'length', { value: 4 });
}

/**
 * Makes the routes of actions case-sensitive. Express ignores case: an action at `…/recent` would match before the
 * object whose key is `Recent`. Generated handlers for all methods use the package's own matcher, which is
 * case-sensitive. False if Express compares paths in another way.
 */
function makeCaseSensitive(layer: ExpressLayer, routes: GeneratedRoutes): boolean {
  const { path } = layer.route ?? {};
  if (
    typeof path !== 'string' ||
    path.includes('{') ||
    handlesAllMethods(layer) ||
    routes.findModelPath(path) === undefined
  )
    return true;
  const pattern = path.split('/');
  return replaceMatch(layer, (match) => (requested) => {
    if (!match(requested)) return false;
    const segments = requested.split('/');
    return pattern.every(
      (segment, index) => segment.startsWith(':') || segment.startsWith('*') || segment === segments[index],
    );
  });
}

/** Passes a request on to the next middleware if it was not handled, and its error if it failed. */
function nextUnlessHandled(handled: Promise<boolean>, next: Next): void {
  handled.then(
    (done) => {
      if (!done) next();
    },
    (error: unknown) => {
      next(error);
    },
  );
}

type RegisterRoute = (path: unknown, ...handlers: readonly unknown[]) => unknown;

/** The part of an Express application that is used. */
interface RoutingApplication {
  all: RegisterRoute;
  get: RegisterRoute;
  route(path: unknown): { all(...handlers: readonly unknown[]): unknown };
}

type RouteHandler = (request: IncomingMessage, response: ServerResponse, next: Next) => unknown;

/** Each returns true for a request to which it has responded. */
interface FirstHandlers {
  /** Whether a method of the application, which another class may have, handles the request. */
  readonly isForAction: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Runs before the handlers of generated operations. */
  readonly handleDirectly: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Runs before methods of the application on generated URLs. */
  readonly servePage: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/**
 * Registers generated handlers for all methods with `app.route(path).all`, until the returned function is called. Nest calls `app.all`,
 * which adds one layer for each method in Express, about forty for each URL, and would dominate the start of an
 * application with hundreds of models. Other handlers are registered as usual.
 */
function registerAllMethods(
  application: unknown,
  { isForAction, handleDirectly, servePage }: FirstHandlers,
): () => void {
  if (!isRoutingApplication(application)) return () => undefined;
  const { all, get } = application;
  application.all = (path, ...handlers) => {
    if (!handlers.every((handler) => findHandlerKind(handler)?.kind === 'generated'))
      return all.call(application, path, ...handlers);
    // Code that reads `request.route`, such as middleware for metrics, finds it in both cases.
    application.route(path).all(
      ...handlers.map((handler) => {
        const handle = runFirst(handleDirectly, handler);
        return ((request, response, next) => {
          if (isForAction(request, response)) next();
          else handle(request, response, next);
        }) satisfies RouteHandler;
      }),
    );
    return application;
  };
  // With a name alone, `get` reads a setting.
  application.get = (path, ...handlers) =>
    get.call(
      application,
      path,
      // Nest copies the metadata of a handler to the function that it registers.
      ...handlers.map((handler) =>
        findHandlerKind(handler)?.kind === 'action' ? runFirst(servePage, handler) : handler,
      ),
    );
  return () => {
    application.all = all;
    application.get = get;
  };
}

function runFirst(first: FirstHandlers[keyof FirstHandlers], handler: unknown): RouteHandler {
  return (request, response, next) =>
    first(request, response) ? undefined : (handler as RouteHandler)(request, response, next);
}

function isRoutingApplication(application: unknown): application is RoutingApplication {
  const { all, get, route } = application as Partial<RoutingApplication>;
  return [all, get, route].every((method) => typeof method === 'function');
}
