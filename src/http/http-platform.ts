import { DeclarationError } from '../core/errors/declaration-error.js';
import type { RestServer } from './rest-server.js';
import type { GetExchange } from './server-exchange.js';

/** The part of Nest's HTTP adapter that is used. */
export interface HttpAdapter {
  use(handler: unknown): unknown;
  getInstance(): unknown;
  getHttpServer(): unknown;
}

/** The adapter of an HTTP library below Nest, which contains all code that is specific to it. */
export interface HttpPlatform {
  /** The exchange of a call, from the objects that Nest passes to handlers, guards, filters and middleware. */
  readonly getExchange: GetExchange;
  /** Whether the application may have middleware or hooks outside of Nest. Called before `registerBeforeRoutes`. */
  hasMiddleware(adapter: HttpAdapter): boolean;
  /** Called between the body parser and the routes: sets headers, and stores body errors. */
  registerBeforeRoutes(adapter: HttpAdapter, server: RestServer): void;
  /** Called after the routes: serves the index, unknown paths below a prefix, and errors before a route. */
  registerAfterRoutes(adapter: HttpAdapter, server: RestServer): void;
}

/**
 * Distinguishes the generated routes from all others, by the paths that the HTTP library has registered. Created once
 * all routes are bound.
 */
export class GeneratedRoutes {
  /**
   * The application's global prefix and version before the generated paths, which Nest does not provide by injection.
   */
  readonly mounts = new Set<string>();
  /** The mounts of each model, by its path. */
  private readonly mountsOfModels = new Map<string, Set<string>>();
  private readonly longestFirst: readonly string[];

  constructor(private readonly server: RestServer) {
    // So that the prefix `v1` does not treat `/rest/v1/…` as its own mount.
    this.longestFirst = [...server.modelPaths.keys()].sort((a, b) => b.length - a.length);
    // Without any generated route there is still an index.
    if (server.modelPaths.size === 0) server.mounts.add('');
  }

  /** Registers the location of a route with the server. Returns its mount; undefined for a route of the application. */
  addPath(path: string): string | undefined {
    const mount = this.findMount(path);
    if (mount !== undefined) {
      this.server.mounts.add(mount);
      const model = this.server.modelPaths.get(path.slice(mount.length)) ?? '';
      this.mountsOfModels.set(model, (this.mountsOfModels.get(model) ?? new Set()).add(mount));
    }
    // A catch-all route has no location of its own. Paths outside of the prefixes are not handled (contract 7.4).
    else if (!/^\/?(\*|\{\*)/.test(path)) this.server.applicationRoutes.add(path === '' ? '/' : path);
    return mount;
  }

  /** The path of the model that a route belongs to, including the mount; undefined for a route of the application. */
  findModelPath(path: string): string | undefined {
    const mount = this.findMount(path);
    return mount === undefined
      ? undefined
      : `${mount}${this.server.modelPaths.get(path.slice(mount.length)) ?? ''}`;
  }

  /**
   * Called when all paths are added: links and the API index have one mount for all models of a request.
   * @throws `DeclarationError` for models that something has moved.
   */
  assertSameMounts(): void {
    const all = [...this.mountsOfModels].map(([model, mounts]) => ({
      model,
      mounts: [...mounts].sort().join(' '),
    }));
    const counts = new Map<string, number>();
    for (const { mounts } of all) counts.set(mounts, (counts.get(mounts) ?? 0) + 1);
    const [usual] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
    const moved = all.filter(({ mounts }) => mounts !== usual);
    if (moved.length === 0) return;
    throw new DeclarationError(
      moved.map(({ model, mounts }) => ({
        where: mounts
          .split(' ')
          .map((mount) => `${mount}${model}/`)
          .join(', '),
        what: `its global prefix or version is another one than that of other models (${String(usual)}${model}/), so that links and the API index would lead to URLs that do not exist`,
        repair:
          'Remove the path of RouterModule for the module of its controller, the `exclude` of the global prefix, or the version of the controller.',
      })),
    );
  }

  /** A path below a known mount is found directly, another one by a search. */
  private findMount(path: string): string | undefined {
    for (const mount of this.mounts)
      if (path.startsWith(mount) && this.server.modelPaths.has(path.slice(mount.length))) return mount;
    const pattern = this.longestFirst.find((each) => path.endsWith(each));
    if (pattern === undefined) return undefined;
    const mount = path.slice(0, -pattern.length);
    this.mounts.add(mount);
    return mount;
  }
}
