import type { RestServer } from './rest-server.js';

/**
 * Distinguishes the generated routes from all others, by the paths that the HTTP library has registered. Created once
 * all routes are bound.
 */
export class GeneratedRoutes {
  /**
   * The application's global prefix and version before the generated paths, which Nest does not provide by injection.
   */
  readonly mounts = new Set<string>();
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
    if (mount !== undefined) this.server.mounts.add(mount);
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
