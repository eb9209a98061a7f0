import type { IncomingMessage, ServerResponse } from 'node:http';

const MARK = 'restify:all-methods';

/** The part of an Express application that is used here. */
interface ExpressApplication {
  all: (path: unknown, ...handlers: readonly unknown[]) => unknown;
  route(path: unknown): { all(...handlers: readonly unknown[]): unknown };
}

type Handler = (request: IncomingMessage, response: ServerResponse, next: unknown) => unknown;

/** Marks a generated handler that is for all methods. Nest hands marks on to the function that it registers. */
export function markForAllMethods(handler: object): void {
  Reflect.defineMetadata(MARK, true, handler);
}

/**
 * What `app.all` registers is one step a method in Express, some forty a URL, of which `app.route(path).all` makes one: with
 * hundreds of models they would be most of an application's start. Until the function that it gives is called, marked handlers
 * are registered in the latter way, and all others as ever. A request that is answered alone does not get to its handler.
 */
export function registerAllMethods(
  application: unknown,
  answersAlone: (request: IncomingMessage, response: ServerResponse) => boolean,
): () => void {
  if (!isApplication(application)) return () => undefined;
  const { all } = application;
  application.all = (path, ...handlers) => {
    if (!handlers.every(isMarked)) return all.call(application, path, ...handlers);
    // Whoever reads the route of a request, such as middleware that counts them, finds it either way.
    application
      .route(path)
      .all(
        ...handlers.map(
          (handler) => (request: IncomingMessage, response: ServerResponse, next: unknown) =>
            answersAlone(request, response) ? undefined : (handler as Handler)(request, response, next),
        ),
      );
    return application;
  };
  return () => {
    application.all = all;
  };
}

function isApplication(application: unknown): application is ExpressApplication {
  const { all, route } = application as Partial<ExpressApplication>;
  return typeof all === 'function' && typeof route === 'function';
}

function isMarked(handler: unknown): boolean {
  return typeof handler === 'function' && Reflect.hasMetadata(MARK, handler);
}
