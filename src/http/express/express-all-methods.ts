import type { IncomingMessage, ServerResponse } from 'node:http';

const ALL_METHODS_KEY = 'restify:all-methods';

/** The part of an Express application that is used. */
interface RoutingApplication {
  all: (path: unknown, ...handlers: readonly unknown[]) => unknown;
  route(path: unknown): { all(...handlers: readonly unknown[]): unknown };
}

type RouteHandler = (request: IncomingMessage, response: ServerResponse, next: unknown) => unknown;

/** Marks a generated handler for all methods. Nest copies the metadata to the function that it registers. */
export function markForAllMethods(handler: object): void {
  Reflect.defineMetadata(ALL_METHODS_KEY, true, handler);
}

/**
 * Registers marked handlers with `app.route(path).all`, until the returned function is called. Nest calls `app.all`,
 * which adds one layer for each method in Express, about forty for each URL, and would dominate the start of an
 * application with hundreds of models. Other handlers are registered as usual. A request for which `handleDirectly`
 * returns true never reaches its handler.
 */
export function registerAllMethods(
  application: unknown,
  handleDirectly: (request: IncomingMessage, response: ServerResponse) => boolean,
): () => void {
  if (!isRoutingApplication(application)) return () => undefined;
  const { all } = application;
  application.all = (path, ...handlers) => {
    if (!handlers.every(isMarked)) return all.call(application, path, ...handlers);
    // Code that reads `request.route`, such as middleware for metrics, finds it in both cases.
    application
      .route(path)
      .all(
        ...handlers.map(
          (handler) => (request: IncomingMessage, response: ServerResponse, next: unknown) =>
            handleDirectly(request, response)
              ? undefined
              : (handler as RouteHandler)(request, response, next),
        ),
      );
    return application;
  };
  return () => {
    application.all = all;
  };
}

function isRoutingApplication(application: unknown): application is RoutingApplication {
  const { all, route } = application as Partial<RoutingApplication>;
  return typeof all === 'function' && typeof route === 'function';
}

function isMarked(handler: unknown): boolean {
  return typeof handler === 'function' && Reflect.hasMetadata(ALL_METHODS_KEY, handler);
}
