import type { IncomingMessage, ServerResponse } from 'node:http';

type Next = (error?: unknown) => void;
type Handle = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** The undocumented part of Express's router. If its internals differ, the routes stay as Nest registered them. */
export interface ExpressRouter extends Handle {
  stack: ExpressLayer[];
  readonly caseSensitive?: boolean;
  use(handler: Handle): unknown;
  handle: Handle;
}

export interface ExpressLayer {
  readonly route?: { readonly path?: unknown; readonly methods?: Readonly<Record<string, unknown>> };
  match?(path: string): boolean;
}

/** A sequence of adjacent generated routes, by the path of their model. */
interface Run {
  readonly at: number;
  readonly layers: ExpressLayer[];
  readonly byModel: Map<string, ExpressLayer[]>;
}

/**
 * Indexes the generated routes by model. Express tries its routes one by one, which dominates a request with hundreds
 * of models. Each sequence of generated routes becomes one layer, which finds the model's routes by the start of the
 * path. The routes themselves, their order, and all other layers stay unchanged.
 *
 * `modelOf` returns the path of the model that a route belongs to, including the mount, such as
 * `/api/rest/v1/polls/question`; undefined for the application's own routes.
 */
export function indexRoutes(router: unknown, modelOf: (path: string) => string | undefined): void {
  if (!isRouter(router)) return;
  const before = router.stack.length;
  const runs = runsOf(router.stack, modelOf);
  // From the last one, so that earlier positions stay valid.
  for (const run of runs.reverse()) replace(router, run);
  if (router.stack.length !== before - runs.reduce((sum, { layers }) => sum + layers.length - 1, 0))
    throw new Error('Express keeps its routes in another way than this package knows: please report it.');
}

function isRouter(router: unknown): router is ExpressRouter {
  const { stack, use, handle } = (router ?? {}) as Partial<ExpressRouter>;
  return (
    typeof router === 'function' &&
    Array.isArray(stack) &&
    typeof use === 'function' &&
    typeof handle === 'function'
  );
}

function runsOf(stack: readonly ExpressLayer[], modelOf: (path: string) => string | undefined): Run[] {
  const runs: Run[] = [];
  for (const [at, layer] of stack.entries()) {
    const path = layer.route?.path;
    const model = typeof path === 'string' ? modelOf(path) : undefined;
    if (model === undefined || model.includes(':')) continue;
    const last = runs.at(-1);
    const run =
      last && last.at + last.layers.length === at
        ? last
        : { at, layers: [], byModel: new Map<string, ExpressLayer[]>() };
    if (run !== last) runs.push(run);
    run.layers.push(layer);
    const key = model.toLowerCase();
    const known = run.byModel.get(key);
    if (known) known.push(layer);
    else run.byModel.set(key, [layer]);
  }
  // An index of a single model has no benefit.
  return runs.filter(({ byModel }) => byModel.size > 1);
}

function replace(router: ExpressRouter, { at, layers, byModel }: Run): void {
  const routers = new Map<string, Handle>();
  const leaving = new WeakMap<IncomingMessage, Next>();
  // Express answers OPTIONS itself if a router ends without a response. This last layer prevents it.
  const last = layerOf(router, (request, _response, next) => {
    const leave = leaving.get(request);
    if (leave) leave();
    else next();
  });
  const routerAt = (model: string): Handle | undefined => {
    const own = byModel.get(model);
    if (!own) return undefined;
    const made = routers.get(model) ?? routerOf([...own, ...last], router);
    routers.set(model, made);
    return made;
  };
  const depths = [...new Set([...byModel.keys()].map((model) => model.split('/').length - 1))];
  // One model's path may be the start of another one's: if the first does not respond, the other one is tried.
  const walk = (path: string, from: number, { request, response, next }: Step): void => {
    for (const [at, depth] of depths.entries()) {
      const found = at < from ? undefined : routerAt(firstSegments(path, depth));
      if (!found) continue;
      const proceed = (error?: unknown): void => {
        if (error === undefined) walk(path, at + 1, { request, response, next });
        else next(error);
      };
      if (request.method === 'OPTIONS') leaving.set(request, proceed);
      found(request, response, proceed);
      return;
    }
    next();
  };
  const step = layerOf(router, (request, response, next) => {
    // Case-insensitive, as Express's own match; the package's matcher decides afterwards.
    walk(pathOf(request).toLowerCase(), 0, { request, response, next });
  });
  router.stack.splice(at, layers.length, ...step);
}

/** A detached layer that matches every path. */
function layerOf(router: ExpressRouter, handle: Handle): readonly ExpressLayer[] {
  router.use(handle);
  return router.stack.splice(-1);
}

interface Step {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: Next;
}

/** The first segments of a path. */
function firstSegments(path: string, segments: number): string {
  let end = 0;
  for (let segment = 0; segment < segments && end >= 0; segment++) end = path.indexOf('/', end + 1);
  return end < 0 ? path : path.slice(0, end);
}

/** A router with the same prototype and settings, and only these routes. */
function routerOf(layers: ExpressLayer[], like: ExpressRouter): Handle {
  const made: ExpressRouter = Object.assign(
    Object.setPrototypeOf(
      (request: IncomingMessage, response: ServerResponse, next: Next) => {
        made.handle(request, response, next);
      },
      Object.getPrototypeOf(like) as object,
    ) as ExpressRouter,
    like,
    { stack: layers },
  );
  return made;
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return (query < 0 ? url : url.slice(0, query)).replace(/^https?:\/\/[^/]*/i, '');
}
