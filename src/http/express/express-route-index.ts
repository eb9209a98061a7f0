import type { IncomingMessage } from 'node:http';
import type { ExpressLayer, LayerTools, RouterFunction } from '../../internals/express.js';

type NextFunction = Parameters<RouterFunction>[2];
type RouterCall = {
  readonly request: IncomingMessage;
  readonly response: Parameters<RouterFunction>[1];
  readonly next: NextFunction;
};

/** A sequence of adjacent generated routes, by the path of their model. */
interface RouteRun {
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
export function indexRoutes(tools: LayerTools, modelOf: (path: string) => string | undefined): void {
  const layers = [...tools.layers];
  // From the last one, so that earlier positions stay valid.
  for (const run of findRuns(layers, modelOf).reverse())
    layers.splice(run.at, run.layers.length, createIndex(tools, run));
  if (layers.length < tools.layers.length) tools.replaceLayers(layers);
}

function findRuns(stack: readonly ExpressLayer[], modelOf: (path: string) => string | undefined): RouteRun[] {
  const runs: RouteRun[] = [];
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

/** One layer in the place of the routes of several models. */
function createIndex(tools: LayerTools, { byModel }: RouteRun): ExpressLayer {
  const routers = new Map<string, RouterFunction>();
  const leaving = new WeakMap<IncomingMessage, NextFunction>();
  // Express responds to OPTIONS itself if a router ends without a response. This last layer prevents it.
  const last = tools.createLayer((request, _response, next) => {
    const leave = leaving.get(request);
    if (leave) leave();
    else next();
  });
  const routerAt = (model: string): RouterFunction | undefined => {
    const own = byModel.get(model);
    if (!own) return undefined;
    const made = routers.get(model) ?? tools.createRouter([...own, last]);
    routers.set(model, made);
    return made;
  };
  const depths = [...new Set([...byModel.keys()].map((model) => model.split('/').length - 1))];
  // One model's path may be the start of another one's: if the first does not respond, the other one is tried.
  const walk = (path: string, from: number, { request, response, next }: RouterCall): void => {
    for (const [at, depth] of depths.entries()) {
      const found = at < from ? undefined : routerAt(takeSegments(path, depth));
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
  return tools.createLayer((request, response, next) => {
    // Case-insensitive, as Express's own match; the package's matcher decides afterwards.
    walk(getLowerCasePath(request), 0, { request, response, next });
  });
}

/** The first segments of a path. */
function takeSegments(path: string, segments: number): string {
  let end = 0;
  for (let segment = 0; segment < segments && end >= 0; segment++) end = path.indexOf('/', end + 1);
  return end < 0 ? path : path.slice(0, end);
}

function getLowerCasePath({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return (query < 0 ? url : url.slice(0, query)).replace(/^https?:\/\/[^/]*/i, '').toLowerCase();
}
