import type { RouteMatch } from '../core/schema/route.js';
import type { HttpExchange } from '../request/http-exchange.js';
import { ApplicationRoutes } from './application-routes.js';
import { BasePaths } from './base-paths.js';
import type { RegisteredApi } from './api-registration.js';

/** Where a path stands among everything that is served. */
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

/** What a location is found by. */
export type Path = Pick<HttpExchange, 'path' | 'mountedAt'>;

const ELSEWHERE: LocatedRoute = { kind: 'elsewhere' };

/** From paths to what is served there: the same answer for everything that asks, whatever an HTTP library makes of the path. */
export class RouteMatcher {
  readonly mounts = new BasePaths();
  /** Routes of the application's own: they win over the index, and their errors are none of ours. */
  readonly foreign = new ApplicationRoutes();
  private readonly all: RegisteredApi[] = [];
  /** With a slash in front, or empty. */
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

  /** In the order of the `forRoot` calls. */
  get served(): readonly RegisteredApi[] {
    return this.all;
  }

  of({ path, mountedAt }: Path): LocatedRoute {
    // Text that no URL holds, and that HTTP libraries read in different ways.
    const legible = !path.includes('#') && !path.includes('\\');
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
      const found = this.below(below, { base: mountedAt + mount, legible });
      if (found && (found.kind === 'route' || !this.foreign.has(path))) return found;
    }
    return ELSEWHERE;
  }

  /** One prefix may stand below another: what one does not know, the other may. */
  private below(path: string, at: Standing): LocatedRoute | undefined {
    let other: LocatedRoute | undefined;
    for (const served of this.all) {
      const found = belowPrefix(path, served, at);
      if (found?.kind === 'route') return found;
      if (other?.kind !== 'index') other = found?.kind === 'index' ? found : (other ?? found);
    }
    return other;
  }
}

/** What comes before the prefixes of a path, and whether HTTP libraries read the path alike. */
interface Standing {
  readonly base: string;
  readonly legible: boolean;
}

function belowPrefix(
  path: string,
  served: RegisteredApi,
  { base, legible }: Standing,
): LocatedRoute | undefined {
  const prefix = served.api.prefix === '' ? '' : `/${served.api.prefix}`;
  if (prefix !== '' && withoutLastSlash(path) === prefix) return rootOf(served, { base, path });
  if (!path.startsWith(prefix) || path[prefix.length] !== '/') return undefined;
  const match = legible ? served.api.match(withoutLastSlash(path.slice(prefix.length + 1))) : undefined;
  if (match) return { kind: 'route', served, match, base: base + prefix };
  // An empty prefix has nothing below it that is not somebody else's as well.
  return prefix === '' ? undefined : { kind: 'unknown', served };
}

/** The empty prefix has none: what stands at `/` is for all of them to say. */
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
