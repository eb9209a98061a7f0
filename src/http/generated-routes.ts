import type { RestServer } from './rest-server.js';

/** Tells the generated routes from all others, by the paths that the HTTP library has. Made when all of them are bound. */
export class GeneratedRoutes {
  /** What stands before the generated paths: the application's global prefix and version, which are not injectable. */
  readonly mounts = new Set<string>();
  private readonly longestFirst: readonly string[];

  constructor(private readonly server: RestServer) {
    // So that the prefix `v1` does not take `/rest/v1/…` for a mount of its own.
    this.longestFirst = [...server.models.keys()].sort((a, b) => b.length - a.length);
    // With no route of our own there is still an index.
    if (server.models.size === 0) server.mounts.add('');
  }

  /** Tells the server where a route stands. Gives its mount; undefined for one of somebody else's. */
  note(path: string): string | undefined {
    const mount = this.mountOf(path);
    if (mount !== undefined) this.server.mounts.add(mount);
    // A catch-all for everything is no route of a place of its own. What is not ours is left as it is (contract 7.4).
    else if (!/^\/?(\*|\{\*)/.test(path)) this.server.foreign.add(path === '' ? '/' : path);
    return mount;
  }

  /** The path of the model that a route belongs to, mount included; undefined for one of somebody else's. */
  modelOf(path: string): string | undefined {
    const mount = this.mountOf(path);
    return mount === undefined
      ? undefined
      : `${mount}${this.server.models.get(path.slice(mount.length)) ?? ''}`;
  }

  /** Below a mount that is known a path is found at once, below another one by a search. */
  private mountOf(path: string): string | undefined {
    for (const mount of this.mounts)
      if (path.startsWith(mount) && this.server.models.has(path.slice(mount.length))) return mount;
    const pattern = this.longestFirst.find((each) => path.endsWith(each));
    if (pattern === undefined) return undefined;
    const mount = path.slice(0, -pattern.length);
    this.mounts.add(mount);
    return mount;
  }
}
