import type { IncomingMessage, ServerResponse } from 'node:http';
import { registerInOneStep } from './express-all-methods.js';
import { expressExchange, isBodyError, keepBodyError } from './express-exchange.js';
import { flattenRoutes } from './express-flat-routes.js';
import type { HttpAdapter, HttpPlatform } from './http-platform.js';
import type { RestServer } from './rest-server.js';

type Next = (error?: unknown) => void;

/** Part of Express's router, which is not documented; what is not found there is done without. */
interface Layer {
  readonly route?: { readonly path?: unknown };
}

export const expressPlatform: HttpPlatform = {
  exchange: (request, response) => expressExchange(request as IncomingMessage, response as ServerResponse),
  prepareRequests,
  answerTheRest,
};

/** What is to be called when the routes are registered. */
const RESTORED = new WeakMap<RestServer, () => void>();

/** Before the routes and the application's middleware: the headers, and a body that cannot be parsed is no error yet. */
function prepareRequests(adapter: HttpAdapter, server: RestServer): void {
  RESTORED.set(server, registerInOneStep(adapter.getInstance()));
  adapter.use((request: IncomingMessage, response: ServerResponse, next: Next) => {
    server.begin(expressExchange(request, response));
    next();
  });
  adapter.use((error: unknown, request: IncomingMessage, response: ServerResponse, next: Next) => {
    if (!isBodyError(error) || !server.isOurs(expressExchange(request, response))) {
      next(error);
      return;
    }
    keepBodyError(request, error);
    next();
  });
}

/** After the routes: the index, unknown paths below a prefix, and what failed on the way to a route. */
function answerTheRest(adapter: HttpAdapter, server: RestServer): void {
  RESTORED.get(server)?.();
  const routes = routePaths(adapter);
  findMounts(routes, server);
  const paths = new OwnPaths(server.patterns);
  flattenRoutes((adapter.getInstance() as { router?: unknown }).router, (path) => {
    const mount = paths.mountOf(path);
    const model = mount === undefined ? undefined : server.models.get(path.slice(mount.length));
    return model === undefined ? undefined : `${mount ?? ''}${model}`;
  });
  adapter.use((request: IncomingMessage, response: ServerResponse, next: Next) => {
    settle(server.handleRest(expressExchange(request, response)), next);
  });
  adapter.use((error: unknown, request: IncomingMessage, response: ServerResponse, next: Next) => {
    const exchange = expressExchange(request, response);
    if (!server.isOurs(exchange) || response.headersSent) next(error);
    // Express gives up on a path with broken escapes before it has a route; ours match such a path all the same.
    else if (error instanceof URIError) settle(server.handleRest(exchange), next);
    else settle(server.fail(exchange, error).then(() => true), next);
  });
}

function settle(answered: Promise<boolean>, next: Next): void {
  answered.then(
    (done) => {
      if (!done) next();
    },
    (error: unknown) => {
      next(error);
    },
  );
}

function routePaths(adapter: HttpAdapter): readonly string[] {
  const stack = (adapter.getInstance() as { router?: { stack?: readonly Layer[] } }).router?.stack ?? [];
  return stack.flatMap((layer) => (Array.isArray(layer.route?.path) ? (layer.route.path as string[]) : typeof layer.route?.path === 'string' ? [layer.route.path] : []));
}

/** The global prefix is not injectable: what stands before our own paths is where we are. */
function findMounts(routes: readonly string[], server: RestServer): void {
  const mounts = new OwnPaths(server.patterns);
  for (const path of routes) {
    const mount = mounts.mountOf(path);
    if (mount !== undefined) server.mounts.add(mount);
    // A catch-all for everything is no route of a place of its own. What is not ours is left as it is (contract 7).
    else if (!/^\/?(\*|\{\*)/.test(path)) server.foreign.add(path === '' ? '/' : path);
  }
  // With no route of our own there is still an index.
  if (server.patterns.size === 0) server.mounts.add('');
}

/** Tells generated paths from others: below a mount that is known at once, below another one by a search. */
class OwnPaths {
  private readonly mounts = new Set<string>();
  private readonly longestFirst: readonly string[];

  constructor(private readonly patterns: ReadonlySet<string>) {
    // So that the prefix `v1` does not take `/rest/v1/…` for a mount of its own.
    this.longestFirst = [...patterns].sort((a, b) => b.length - a.length);
  }

  /** What stands before the pattern; undefined for a path of somebody else's. */
  mountOf(path: string): string | undefined {
    for (const mount of this.mounts) if (path.startsWith(mount) && this.patterns.has(path.slice(mount.length))) return mount;
    const pattern = this.longestFirst.find((each) => path.endsWith(each));
    if (pattern === undefined) return undefined;
    const mount = path.slice(0, -pattern.length);
    this.mounts.add(mount);
    return mount;
  }
}
