import type { Api, Route, RouteMatch } from '../core/schema/route.js';
import type { HttpExchange } from '../request/http-exchange.js';
import type { RegisteredApi } from './api-registration.js';
import { ASSETS_SEGMENT } from './browsable/browsable-page.js';

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
  // The empty prefix has no root: `/` serves the index of all prefixes.
  if (prefix !== '' && removeLastSlash(path) === prefix)
    return registeredApi.index === undefined
      ? { kind: 'unknown', registeredApi, base: base + prefix }
      : { kind: 'index', base, path, prefixes: [registeredApi] };
  if (!path.startsWith(prefix) || path[prefix.length] !== '/') return undefined;
  const match = isUnambiguous ? matchRoute(api, removeLastSlash(path.slice(prefix.length + 1))) : undefined;
  if (match) return { kind: 'route', registeredApi, match, base: base + prefix };
  const assets = `${prefix}/${ASSETS_SEGMENT}/`;
  if (registeredApi.page && path.startsWith(assets))
    return { kind: 'asset', registeredApi, name: path.slice(assets.length) };
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
  const childSegment = segments.slice(4).join('/');
  return nested && childSegment !== '' ? createMatch(nested.object, key, childSegment) : undefined;
}

function createMatch(
  route: Route | undefined,
  keySegment?: string,
  childSegment?: string,
): RouteMatch | undefined {
  return route ? { route, keySegment, childSegment } : undefined;
}

function addLeadingSlash(path: string): string {
  return path === '' ? '' : `/${path}`;
}

function removeLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Paths that the application serves itself, by the patterns of its routes. */
export class ApplicationRoutes {
  private readonly patterns: (readonly string[])[] = [];

  add(pattern: string): void {
    this.patterns.push(splitPath(pattern));
  }

  has(path: string): boolean {
    const segments = splitPath(path);
    return this.patterns.some((pattern) => {
      const rest = pattern.findIndex((segment) => segment.startsWith('*'));
      if (rest < 0 && pattern.length !== segments.length) return false;
      return pattern.every(
        (segment, index) =>
          (rest >= 0 && index >= rest) || segment.startsWith(':') || segment === segments[index],
      );
    });
  }
}

function splitPath(path: string): readonly string[] {
  return (path.endsWith('/') ? path.slice(0, -1) : path).split('/').slice(1);
}

/** The mounts of the application's routes: the paths of its global prefix and version, if it has them. */
export class MountPaths {
  private readonly patterns: MountPattern[] = [];

  /** Adds a mount such as `/api`, or an empty text for the root. A parameter such as `:tenant` matches any segment. */
  add(mount: string): void {
    if (this.patterns.some((each) => each.text === mount)) return;
    const segments = mount.split('/').filter((segment) => segment !== '');
    this.patterns.push({
      text: mount,
      segments,
      plain: segments.some((segment) => segment.startsWith(':'))
        ? undefined
        : segments.map((segment) => `/${segment}`).join(''),
    });
    // Longest first: `/api` must not hide `/api/v2`.
    this.patterns.sort((a, b) => b.segments.length - a.segments.length);
  }

  /** All mounts, longest first. */
  get all(): readonly string[] {
    return this.patterns.map(({ text }) => text);
  }

  /** The mount for URLs that are built outside of a request. */
  first(): string {
    return this.patterns[0]?.text ?? '';
  }

  /** The mounts that match a path, with the segments of that path, longest first. */
  findMounts(path: string): readonly string[] {
    const found: string[] = [];
    for (const pattern of this.patterns) {
      const mount = matchMount(pattern, path);
      if (mount !== undefined) found.push(mount);
    }
    return found;
  }
}

interface MountPattern {
  readonly text: string;
  readonly segments: readonly string[];
  /** The mount itself if it has no parameters, else undefined. */
  readonly plain: string | undefined;
}

/** The mount that a path is below; undefined if the pattern does not match. */
function matchMount(pattern: MountPattern, path: string): string | undefined {
  const { plain } = pattern;
  if (plain === undefined) return fillParameters(pattern, path);
  return isBelow(path, plain) ? plain : undefined;
}

function isBelow(path: string, mount: string): boolean {
  return (
    path.startsWith(mount) && (path.length === mount.length || path[mount.length] === '/' || mount === '')
  );
}

function fillParameters({ segments }: MountPattern, path: string): string | undefined {
  const given = path.split('/').slice(1);
  const matches = segments.every(
    (segment, index) => (segment.startsWith(':') && (given[index] ?? '') !== '') || segment === given[index],
  );
  if (!matches) return undefined;
  return given
    .slice(0, segments.length)
    .map((segment) => `/${segment}`)
    .join('');
}
