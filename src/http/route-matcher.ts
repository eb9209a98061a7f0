import type { RouteMatch } from '../core/schema/route.js';
import type { HttpExchange } from '../request/http-exchange.js';
import { ApplicationRoutes } from './application-routes.js';
import { BasePaths } from './base-paths.js';
import type { RegisteredApi } from './api-registration.js';

/** The location of a path among all served paths. */
export type LocatedRoute =
  | {
      readonly kind: 'route';
      readonly match: RouteMatch;
      readonly served: RegisteredApi;
      /** The path below which the links of its prefix stand: `/rest/v1`. */ readonly base: string;
    }
  | { readonly kind: 'unknown'; /** The prefix that it stands below. */ readonly served: RegisteredApi }
  | {
      readonly kind: 'index';
      readonly base: string;
      readonly path: string;
      /** Those whose models it names. */ readonly prefixes: readonly RegisteredApi[];
    }
  | { readonly kind: 'elsewhere' };

/** The parts of a request that determine the location. */
export type Path = Pick<HttpExchange, 'path' | 'mountedAt'>;

const ELSEWHERE: LocatedRoute = { kind: 'elsewhere' };

/** Matches paths to routes. All stages use the same result, regardless of how an HTTP library parses the path. */
export class RouteMatcher {
  readonly mounts = new BasePaths();
  /** Routes of the application, which take precedence over the index, and whose errors are not handled. */
  readonly foreign = new ApplicationRoutes();
  private readonly all: RegisteredApi[] = [];
  /** With a leading slash, or empty. */
  private indexes: readonly string[] = [];

  add(served: RegisteredApi): void {
    this.all.push(served);
    this.all.sort((a, b) => a.order - b.order);
    this.indexes = [
      ...new Set(
        this.all.flatMap(({ index }) => (index === undefined ? [] : index === '' ? '' : `/${index}`)),
      ),
    ];
  }

  /** The prefixes in the order of the `forRoot` calls. */
  get served(): readonly RegisteredApi[] {
    return this.all;
  }

  of({ path, mountedAt }: Path): LocatedRoute {
    // Characters that no URL contains, and that HTTP libraries parse differently.
    const isUnambiguous = !path.includes('#') && !path.includes('\\');
    for (const mount of this.mounts.candidates(path)) {
      const below = path.slice(mount.length);
      const index = this.indexes.find((each) => withoutLastSlash(below) === each);
      if (index !== undefined)
        return {
          kind: 'index',
          base: mountedAt + mount,
          path: mount + (index === '' ? '/' : index),
          prefixes: this.all,
        };
      const found = this.below(below, { base: mountedAt + mount, isUnambiguous });
      if (found && (found.kind === 'route' || !this.foreign.has(path))) return found;
    }
    return ELSEWHERE;
  }

  /** One prefix may be below another: a path that the first does not serve is looked up in the second. */
  private below(path: string, at: MountedPath): LocatedRoute | undefined {
    let other: LocatedRoute | undefined;
    for (const served of this.all) {
      const found = belowPrefix(path, served, at);
      if (found?.kind === 'route') return found;
      if (other?.kind !== 'index') other = found?.kind === 'index' ? found : (other ?? found);
    }
    return other;
  }
}

/** The mount of a path, and whether all HTTP libraries parse the path in the same way. */
interface MountedPath {
  readonly base: string;
  readonly isUnambiguous: boolean;
}

function belowPrefix(
  path: string,
  served: RegisteredApi,
  { base, isUnambiguous }: MountedPath,
): LocatedRoute | undefined {
  const prefix = served.api.prefix === '' ? '' : `/${served.api.prefix}`;
  if (prefix !== '' && withoutLastSlash(path) === prefix) return rootOf(served, { base, path });
  if (!path.startsWith(prefix) || path[prefix.length] !== '/') return undefined;
  const match = isUnambiguous ? served.api.match(withoutLastSlash(path.slice(prefix.length + 1))) : undefined;
  if (match) return { kind: 'route', served, match, base: base + prefix };
  // Below an empty prefix, unknown paths belong to the application.
  return prefix === '' ? undefined : { kind: 'unknown', served };
}

/** The root path of a prefix. The empty prefix has none: `/` serves the index of all prefixes. */
function rootOf(
  served: RegisteredApi,
  { base, path }: { readonly base: string; readonly path: string },
): LocatedRoute {
  return served.index === undefined
    ? { kind: 'unknown', served }
    : { kind: 'index', base, path, prefixes: [served] };
}

function withoutLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
