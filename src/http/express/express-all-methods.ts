import type { IncomingMessage, ServerResponse } from 'node:http';

const ALL_METHODS_KEY = 'restify:all-methods';
const ACTION_KEY = 'restify:action';

type RegisterRoute = (path: unknown, ...handlers: readonly unknown[]) => unknown;

/** The part of an Express application that is used. */
interface RoutingApplication {
  all: RegisterRoute;
  get: RegisterRoute;
  route(path: unknown): { all(...handlers: readonly unknown[]): unknown };
}

type RouteHandler = (request: IncomingMessage, response: ServerResponse, next: unknown) => unknown;

/** Marks a generated handler for all methods. Nest copies the metadata to the function that it registers. */
export function markForAllMethods(handler: object): void {
  Reflect.defineMetadata(ALL_METHODS_KEY, true, handler);
}

/** Each returns true for a request to which it has responded. */
export interface FirstHandlers {
  /** Runs before the handlers of generated operations. */
  readonly handleDirectly: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Runs before methods of the application on generated URLs. */
  readonly servePage: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/**
 * Registers marked handlers with `app.route(path).all`, until the returned function is called. Nest calls `app.all`,
 * which adds one layer for each method in Express, about forty for each URL, and would dominate the start of an
 * application with hundreds of models. Other handlers are registered as usual.
 */
export function registerAllMethods(
  application: unknown,
  { handleDirectly, servePage }: FirstHandlers,
): () => void {
  if (!isRoutingApplication(application)) return () => undefined;
  const { all, get } = application;
  application.all = (path, ...handlers) => {
    if (!handlers.every(isMarked)) return all.call(application, path, ...handlers);
    // Code that reads `request.route`, such as middleware for metrics, finds it in both cases.
    application.route(path).all(...handlers.map((handler) => runFirst(handleDirectly, handler)));
    return application;
  };
  // With a name alone, `get` reads a setting.
  application.get = (path, ...handlers) =>
    get.call(
      application,
      path,
      ...handlers.map((handler) => (isAction(handler) ? runFirst(servePage, handler) : handler)),
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

/** Marks a method of the application that is bound to a generated URL. */
export function markAsAction(handler: object): void {
  Reflect.defineMetadata(ACTION_KEY, true, handler);
}

function isAction(handler: unknown): boolean {
  return typeof handler === 'function' && Reflect.hasMetadata(ACTION_KEY, handler);
}

function isMarked(handler: unknown): boolean {
  return typeof handler === 'function' && Reflect.hasMetadata(ALL_METHODS_KEY, handler);
}
