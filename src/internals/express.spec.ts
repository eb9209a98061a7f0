// @tags core
import { describe, expect, test } from '@jest/globals';
import express from 'express';
import { pathsOf, probeLayers, probeLayerTools, replaceMatch } from './express.js';
import type { ExpressLayer, RouterFunction } from './express.js';

const pass: RouterFunction = (_request, _response, next) => {
  next();
};

/** An application with one route and one piece of middleware, and what its router calls. */
function application(): {
  readonly app: unknown;
  readonly called: string[];
  readonly run: (path: string) => Promise<void>;
} {
  const app = express();
  const called: string[] = [];
  const log =
    (name: string): RouterFunction =>
    (_request, _response, next) => {
      called.push(name);
      next();
    };
  app.use(log('middleware') as never);
  app.all('/a/:id', log('route') as never);
  return {
    app,
    called,
    run: (path) =>
      new Promise((resolve) => {
        (app.router as unknown as RouterFunction)({ url: path, method: 'GET' } as never, {} as never, () => {
          called.push('end');
          resolve();
        });
      }),
  };
}

describe('the layers of the installed Express', () => {
  test('are found, with the paths of routes', () => {
    const layers = probeLayers(application().app);
    expect(layers).toHaveLength(2);
    expect(pathsOf(layers ?? [])).toEqual(['/a/:id']);
  });

  test('are replaced, and run in the new order', async () => {
    const { app, called, run } = application();
    const tools = probeLayerTools(app);
    expect(tools?.layers).toHaveLength(2);
    const inner = tools?.createRouter(tools.layers);
    if (!tools || !inner) throw new Error('No tools');
    tools.replaceLayers([tools.createLayer(inner)]);
    await run('/a/1');
    expect(called).toEqual(['middleware', 'route', 'end']);
    expect(probeLayers(app)).toHaveLength(1);
  });

  test('have a function that compares the path', async () => {
    const { app, called, run } = application();
    const [, route] = probeLayers(app) ?? [];
    expect(route && replaceMatch(route, (match) => (path) => path !== '/a/2' && match(path))).toBe(true);
    await run('/a/1');
    await run('/a/2');
    expect(called).toEqual(['middleware', 'route', 'end', 'middleware', 'end']);
  });

  test('are tried without a trace in the application, and without functions that are bound to its router', () => {
    const { app } = application();
    const { router } = app as { readonly router: Record<string, unknown> };
    const called: string[] = [];
    for (const name of ['use', 'route']) router[name] = () => called.push(name);
    const before = probeLayers(app)?.length;
    expect(probeLayerTools(app)?.createLayer(pass)).toBeDefined();
    expect(called).toEqual([]);
    expect(probeLayers(app)).toHaveLength(before ?? 0);
  });
});

/** An application whose router has this prototype. */
function withPrototype(prototype: object): unknown {
  return {
    router: Object.assign(Object.setPrototypeOf(() => undefined, prototype) as object, { stack: [] }),
  };
}

const METHODS = {
  use(this: { stack: unknown[] }) {
    this.stack.push({});
  },
  route(this: { stack: unknown[] }, path: string) {
    this.stack.push({ route: { path } });
    return { all: () => undefined };
  },
  handle: () => undefined,
};

describe('layers of another form are not found', () => {
  test.each([
    ['without a router', {}],
    ['of a router without a stack', { router: () => undefined }],
    ['in a list of another kind', { router: { stack: new Map() } }],
    ['that are no objects', { router: { stack: ['/a'] } }],
  ])('%s', (_, app) => {
    expect(probeLayers(app)).toBeUndefined();
    expect(probeLayerTools(app)).toBeUndefined();
  });

  test.each([
    ['appended by a method that is missing', { ...METHODS, use: undefined }],
    ['appended in pairs', { ...METHODS, use: (): void => undefined }],
    ['appended to another router', { ...METHODS, route: () => ({ all: (): void => undefined }) }],
    [
      'with paths elsewhere',
      {
        ...METHODS,
        route(this: { stack: unknown[] }) {
          this.stack.push({ route: {} });
          return { all: () => undefined };
        },
      },
    ],
    [
      'made by a method that throws',
      {
        ...METHODS,
        use: () => {
          throw new Error('The router is closed.');
        },
      },
    ],
  ])('%s', (_, prototype) => {
    expect(probeLayerTools(withPrototype(METHODS))).toBeDefined();
    expect(probeLayerTools(withPrototype(prototype))).toBeUndefined();
  });

  test('without a function that compares the path', () => {
    const layer: ExpressLayer = { route: { path: '/a' } };
    expect(replaceMatch(layer, (match) => match)).toBe(false);
  });
});
