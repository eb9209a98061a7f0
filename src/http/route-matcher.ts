import type { Api, NestedRoutes, Route, RouteMatch } from '../core/schema/route.js';
import type { HttpExchange } from '../request/http-exchange.js';
import { ApplicationRoutes } from './application-routes.js';
import { ASSETS_SEGMENT } from './browsable/page-assets.js';
import { MountPaths } from './mount-paths.js';
import type { RegisteredApi } from './api-registration.js';

/** The location of a path among all served paths. */
export type PathLocation =
  | {
      readonly kind: 'route';
      readonly match: RouteMatch;
      readonly registeredApi: RegisteredApi;
      /** The path of the prefix, before the paths of its models: `/api/rest/v1`. */
      readonly base: string;
    }
  | {
      /** A path below a prefix, without a route. */
      readonly kind: 'unknown';
      readonly registeredApi: RegisteredApi;
      /** As for a route. */
      readonly base: string;
    }
  | {
      /** A file of the browsable page. */
      readonly kind: 'asset';
      readonly registeredApi: RegisteredApi;
      readonly name: string;
    }
  | {
      readonly kind: 'index';
      readonly base: string;
      readonly path: string;
      /** The prefixes whose models the index lists. */
      readonly prefixes: readonly RegisteredApi[];
    }
  | {
      /** A path of the application. */
      readonly kind: 'elsewhere';
    };

/** The parts of a request that determine the location. */
export type RequestPath = Pick<HttpExchange, 'path' | 'mountedAt'>;

const ELSEWHERE: PathLocation = { kind: 'elsewhere' };

/** Matches paths to routes. All stages use the same result, regardless of how an HTTP library parses the path. */
export class RouteMatcher {
  readonly mounts = new MountPaths();
  /** Routes of the application, which take precedence over the index, and whose errors are not handled. */
  readonly applicationRoutes = new ApplicationRoutes();
  private readonly registered: RegisteredApi[] = [];
  /** With a leading slash, or empty. */
  private indexPaths: readonly string[] = [];

  add(registeredApi: RegisteredApi): void {
    this.registered.push(registeredApi);
    this.registered.sort((a, b) => a.order - b.order);
    this.indexPaths = [
      ...new Set(this.registered.flatMap(({ index }) => (index === undefined ? [] : addLeadingSlash(index)))),
    ];
  }

  /** The prefixes in the order of the `forRoot` calls. */
  get registeredApis(): readonly RegisteredApi[] {
    return this.registered;
  }

  locate({ path, mountedAt }: RequestPath): PathLocation {
    // Characters that no URL contains, and that HTTP libraries parse differently.
    const isUnambiguous = !path.includes('#') && !path.includes('\\');
    for (const mount of this.mounts.findMounts(path)) {
      const pathBelow = path.slice(mount.length);
      const index = this.indexPaths.find((each) => removeLastSlash(pathBelow) === each);
      if (index !== undefined)
        return {
          kind: 'index',
          base: mountedAt + mount,
          path: mount + (index === '' ? '/' : index),
          prefixes: this.registered,
        };
      const location = this.locateBelow(pathBelow, { base: mountedAt + mount, isUnambiguous });
      if (location && (location.kind === 'route' || !this.applicationRoutes.has(path))) return location;
    }
    return ELSEWHERE;
  }

  /** Whether this package responds at a location, unless a handler of the application does. */
  isGenerated(location: PathLocation): boolean {
    return location.kind === 'index'
      ? !this.applicationRoutes.has(location.path)
      : location.kind !== 'elsewhere';
  }

  /** One prefix may be below another: a path that the first does not serve is looked up in the second. */
  private locateBelow(path: string, mounted: MountedPath): PathLocation | undefined {
    let fallback: PathLocation | undefined;
    for (const registeredApi of this.registered) {
      const location = locateBelowPrefix(path, registeredApi, mounted);
      if (location?.kind === 'route') return location;
      // An index takes precedence over an unknown path, and the first of two over the second.
      if (location?.kind === 'index' ? fallback?.kind !== 'index' : !fallback) fallback = location;
    }
    return fallback;
  }
}

/** The mount of a path, and whether all HTTP libraries parse the path in the same way. */
interface MountedPath {
  readonly base: string;
  readonly isUnambiguous: boolean;
}

function locateBelowPrefix(
  path: string,
  registeredApi: RegisteredApi,
  { base, isUnambiguous }: MountedPath,
): PathLocation | undefined {
  const { api } = registeredApi;
  const prefix = addLeadingSlash(api.prefix);
  if (prefix !== '' && removeLastSlash(path) === prefix) return locateRoot(registeredApi, { base, path });
  if (!path.startsWith(prefix) || path[prefix.length] !== '/') return undefined;
  const match = isUnambiguous ? matchRoute(api, removeLastSlash(path.slice(prefix.length + 1))) : undefined;
  if (match) return { kind: 'route', registeredApi, match, base: base + prefix };
  const asset = registeredApi.page && findAssetName(path.slice(prefix.length));
  if (asset !== undefined) return { kind: 'asset', registeredApi, name: asset };
  // Below an empty prefix, unknown paths belong to the application.
  return prefix === '' ? undefined : { kind: 'unknown', registeredApi, base: base + prefix };
}

/** Matches a raw path below the prefix, without its trailing slash; undefined if unknown. */
export function matchRoute({ byPath }: Pick<Api, 'byPath'>, path: string): RouteMatch | undefined {
  const segments = path.split('/');
  const [app = '', model = '', key, relation] = segments;
  const routes = byPath.get(`${app}/${model}`);
  if (!routes) return undefined;
  if (key === undefined) return createMatch(routes.collection);
  if (key === '') return undefined;
  // An action's path takes precedence over an object whose key is the same text (contract 1.7).
  if (relation === undefined)
    return createMatch(routes.collectionActions.get(key)) ?? createMatch(routes.object, key);
  const nested = routes.nested.get(relation);
  if (segments.length === 4)
    return createMatch(routes.objectActions.get(relation), key) ?? createMatch(nested?.list, key);
  return nested && matchChild(nested, key, segments.slice(4).join('/'));
}

function matchChild({ object }: NestedRoutes, key: string, childSegment: string): RouteMatch | undefined {
  return childSegment === '' ? undefined : createMatch(object, key, childSegment);
}

function createMatch(
  route: Route | undefined,
  keySegment?: string,
  childSegment?: string,
): RouteMatch | undefined {
  return route ? { route, keySegment, childSegment } : undefined;
}

function findAssetName(path: string): string | undefined {
  const folder = `/${ASSETS_SEGMENT}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : undefined;
}

/** The root path of a prefix. The empty prefix has none: `/` serves the index of all prefixes. */
function locateRoot(
  registeredApi: RegisteredApi,
  { base, path }: { readonly base: string; readonly path: string },
): PathLocation {
  return registeredApi.index === undefined
    ? { kind: 'unknown', registeredApi, base: base + addLeadingSlash(registeredApi.api.prefix) }
    : { kind: 'index', base, path, prefixes: [registeredApi] };
}

function addLeadingSlash(path: string): string {
  return path === '' ? '' : `/${path}`;
}

function removeLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
