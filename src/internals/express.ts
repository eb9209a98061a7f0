import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import { describePackage } from './installed-version.js';

type NextFunction = (error?: unknown) => void;
export type RouterFunction = (request: IncomingMessage, response: ServerResponse, next: NextFunction) => void;

/** The undocumented part of Express's router: its layers in the order in which they were registered. */
interface RouterInternals extends RouterFunction {
  stack: ExpressLayer[];
  use(handler: RouterFunction): unknown;
  route(path: string): { all(handler: RouterFunction): unknown };
  handle: RouterFunction;
}

/** A route, or middleware, of a router. */
export interface ExpressLayer {
  readonly route?: { readonly path?: unknown; readonly methods?: Readonly<Record<string, unknown>> };
  match?(path: string): boolean;
}

/** The layers of an application's router; undefined if it keeps them in another way. */
export function probeLayers(application: unknown): readonly ExpressLayer[] | undefined {
  const { stack } = (routerOf(application) ?? {}) as Partial<RouterInternals>;
  return Array.isArray(stack) && stack.every((layer) => typeof layer === 'object') ? stack : undefined;
}

/** The paths of the routes among the layers. */
export function pathsOf(layers: readonly ExpressLayer[]): readonly string[] {
  return layers.flatMap(({ route }) => {
    if (Array.isArray(route?.path)) return route.path as string[];
    return typeof route?.path === 'string' ? [route.path] : [];
  });
}

/** Whether a route was registered for all methods at once. */
export function handlesAllMethods({ route }: ExpressLayer): boolean {
  return route?.methods?._all === true;
}

/** The functions of an application's layers, also of Express 4; undefined if it keeps them in another way. */
export function probeHandles(application: unknown): readonly unknown[] | undefined {
  const { router, _router: older } = application as {
    readonly router?: { readonly stack?: readonly { readonly handle: unknown }[] };
    readonly _router?: { readonly stack?: readonly { readonly handle: unknown }[] };
  };
  const { stack } = router ?? older ?? {};
  return Array.isArray(stack) ? stack.map(({ handle }: { readonly handle: unknown }) => handle) : undefined;
}

/** Replaces the function by which a layer compares its path. False if it has none. */
export function replaceMatch(
  layer: ExpressLayer,
  replace: (match: (path: string) => boolean) => (path: string) => boolean,
): boolean {
  if (typeof layer.match !== 'function') return false;
  layer.match = replace(layer.match.bind(layer));
  return true;
}

/** Makes layers and routers like those of an application, and replaces its layers. */
export interface LayerTools {
  readonly layers: readonly ExpressLayer[];
  /** A detached layer that matches every path. */
  createLayer(handle: RouterFunction): ExpressLayer;
  /** A router with the same prototype and settings, and only these layers. */
  createRouter(layers: readonly ExpressLayer[]): RouterFunction;
  replaceLayers(layers: readonly ExpressLayer[]): void;
}

const PROBE_PATH = '/restify-probe';

/** Undefined if a router does not append one layer for each call, which is tried with one that has the same prototype and settings. */
export function probeLayerTools(application: unknown): LayerTools | undefined {
  const router = routerOf(application);
  if (!isRouter(router)) return undefined;
  const tools = layerTools(router);
  try {
    return appendsLayers(router) ? tools : undefined;
  } catch {
    return undefined;
  }
}

function routerOf(application: unknown): unknown {
  return (application as { readonly router?: unknown }).router;
}

function isRouter(router: unknown): router is RouterInternals {
  const { stack, use, route, handle } = (router ?? {}) as Partial<RouterInternals>;
  return (
    typeof router === 'function' &&
    Array.isArray(stack) &&
    [use, route, handle].every((method) => typeof method === 'function')
  );
}

/** The dry run: nothing of the application's router is touched. */
function appendsLayers(router: RouterInternals): boolean {
  const copy = emptyRouter(router);
  const handle: RouterFunction = (_request, _response, next) => {
    next();
  };
  const before = router.stack.length;
  copy.use(handle);
  copy.route(PROBE_PATH).all(handle);
  const [middleware, route] = copy.stack;
  return (
    router.stack.length === before &&
    copy.stack.length === 2 &&
    middleware?.route === undefined &&
    route?.route?.path === PROBE_PATH
  );
}

function layerTools(router: RouterInternals): LayerTools {
  return {
    layers: router.stack,
    createLayer: (handle) => {
      const maker = emptyRouter(router);
      maker.use(handle);
      const [layer] = maker.stack;
      if (!layer) throw new Error('Express has made no layer.');
      return layer;
    },
    createRouter: (layers) => copyRouter(router, layers),
    replaceLayers: (layers) => {
      router.stack.splice(0, router.stack.length, ...layers);
    },
  };
}

function copyRouter(router: RouterInternals, layers: readonly ExpressLayer[]): RouterInternals {
  const copy: RouterInternals = Object.assign(
    Object.setPrototypeOf(
      (request: IncomingMessage, response: ServerResponse, next: NextFunction) => {
        copy.handle(request, response, next);
      },
      Object.getPrototypeOf(router) as object,
    ) as RouterInternals,
    router,
    { stack: [...layers] },
  );
  return copy;
}

/** Without the functions that others have put on this one router, which may be bound to it. */
function emptyRouter(router: RouterInternals): RouterInternals {
  const copy = copyRouter(router, []);
  for (const [name, value] of Object.entries(copy))
    if (typeof value === 'function') Reflect.deleteProperty(copy, name);
  return copy;
}

function describeExpress(does: string): string {
  return `${describePackage('express', '@nestjs/platform-express')} ${does} in another way than this package knows`;
}

/** The problem at start of routes that are not found: without their global prefix, no request would be recognized. */
export function unknownRoutes(): DeclarationProblem {
  return {
    where: 'the HTTP adapter',
    what: describeExpress('keeps its routes'),
    repair: 'Install the version of express that the application had before, and report it.',
  };
}

/** The warning at start of routes that stay as Nest has registered them. */
export function describeUnknownRouter(): string {
  return `${describeExpress('keeps its routes')}, so that it searches them one by one: with many models each request takes longer. Please report it.`;
}

/** The warning at start of routes of actions whose comparison of paths is not found. */
export function describeUnknownMatch(): string {
  return `${describeExpress('compares paths')}, so that the path of an action matches in upper and lower case: an object whose key is the name of an action in another case is not reached. Please report it.`;
}
