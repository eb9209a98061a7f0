import type { IncomingMessage, ServerResponse } from 'node:http';

type Next = (error?: unknown) => void;
type Handle = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** Part of Express's router, which is not documented: where it looks otherwise, routes stay as Nest registered them. */
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

/** A run of routes that stand one behind the other, by the path of their model. */
interface Run {
  readonly at: number;
  readonly layers: ExpressLayer[];
  readonly byModel: Map<string, ExpressLayer[]>;
}

/**
 * Express walks its routes one by one: with hundreds of models most of a request would be the way to its route. So each
 * run of generated routes becomes one step, which looks the model's routes up by the beginning of the path. The routes
 * themselves, their order, and everything between two runs stay as they are.
 *
 * `modelOf` gives the path of the model that a route belongs to, mount included: `/api/rest/v1/polls/question`; undefined
 * for routes of the application's own.
 */
export function indexRoutes(router: unknown, modelOf: (path: string) => string | undefined): void {
  if (!isRouter(router)) return;
  const before = router.stack.length;
  const runs = runsOf(router.stack, modelOf);
  // From the last one, so that places before it stay.
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
  // One model gains nothing.
  return runs.filter(({ byModel }) => byModel.size > 1);
}

function replace(router: ExpressRouter, { at, layers, byModel }: Run): void {
  const routers = new Map<string, Handle>();
  const leaving = new WeakMap<IncomingMessage, Next>();
  // Express answers OPTIONS itself where a router ends with routes of that path that did not answer: ours never ends so.
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
  // The path of one model may begin with that of another one: what the one does not answer, the other may.
  const walk = (path: string, from: number, { request, response, next }: Step): void => {
    for (const [at, depth] of depths.entries()) {
      const found = at < from ? undefined : routerAt(beginning(path, depth));
      if (!found) continue;
      const goOn = (error?: unknown): void => {
        if (error === undefined) walk(path, at + 1, { request, response, next });
        else next(error);
      };
      if (request.method === 'OPTIONS') leaving.set(request, goOn);
      found(request, response, goOn);
      return;
    }
    next();
  };
  const step = layerOf(router, (request, response, next) => {
    // Express itself has no regard for case, so the look here has none either; what is ours is decided by our own matcher.
    walk(pathOf(request).toLowerCase(), 0, { request, response, next });
  });
  router.stack.splice(at, layers.length, ...step);
}

/** A step for every path, which stands nowhere yet. */
function layerOf(router: ExpressRouter, handle: Handle): readonly ExpressLayer[] {
  router.use(handle);
  return router.stack.splice(-1);
}

interface Step {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: Next;
}

/** So many segments of a path. */
function beginning(path: string, segments: number): string {
  let end = 0;
  for (let segment = 0; segment < segments && end >= 0; segment++) end = path.indexOf('/', end + 1);
  return end < 0 ? path : path.slice(0, end);
}

/** A router of the same make, with the same settings, and these routes alone. */
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
