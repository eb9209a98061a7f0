import { isServed, METHODS } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Route, RouteMatch } from '../../core/schema/route.js';
import { decodedSegment } from '../../core/values/keys.js';
import { ANY_MEDIA_TYPE, deferredErrorParser } from './fastify-content-type-parser.js';
import { fastifyExchange, reopenReply, watchReply } from './fastify-exchange.js';
import { writtenUrl } from './fastify-malformed-urls.js';
import type {
  FastifyHandler,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyRoute,
} from './fastify-types.js';
import type { ServerExchange, RequestTarget as Asked } from '../server-exchange.js';
import { GeneratedRoutes } from '../generated-routes.js';
import type { RestServer } from '../rest-server.js';
import { getCollectionPath, getRoutePattern } from '../route-pattern.js';

/** The name of the routing constraint for this package's requests. */
export const CONSTRAINT = 'restify';

/** Handlers of Nest's routes with the same other constraints (a version). */
interface Group {
  readonly constraints: Readonly<Record<string, unknown>>;
  /** By method and path. */
  readonly handlers: Map<string, FastifyHandler>;
  /** By path, for all methods without a handler of their own. */
  readonly forAll: Map<string, FastifyHandler>;
}

/**
 * The generated routes on Fastify. Its router differs from contract 1 in trailing slashes, in the maximum length of
 * parameters and in wildcards. Therefore one route for each model is registered, and the package's own matcher selects
 * Nest's handler.
 */
export class FastifyRoutes {
  private readonly groups = new Map<string, Group>();
  private readonly routes: GeneratedRoutes;
  private readonly own = new WeakSet<FastifyHandler>();
  private seen = 0;

  /** @param defaultVersion the application's default version, if requests carry the version outside of their path. */
  constructor(
    private readonly server: RestServer,
    private readonly defaultVersion: () => unknown,
  ) {
    this.routes = new GeneratedRoutes(server);
  }

  /** Takes the handler of a generated route in an `onRoute` hook. The route itself moves to an unreachable path. */
  see(route: FastifyRoute): void {
    if (this.own.has(route.handler)) return;
    if (this.routes.addPath(route.url) === undefined) return;
    if (typeof route.method === 'string')
      setFirst(this.groupOf(route.constraints ?? {}).handlers, `${route.method} ${route.url}`, route.handler);
    else setFirst(this.groupOf(this.versioned(route.constraints ?? {})).forAll, route.url, route.handler);
    // A common start of the texts is cheap for Fastify's router, and no request uses these paths.
    route.url = `/${CONSTRAINT}/${String(++this.seen)}`;
    route.path = route.url;
    if (typeof route.method !== 'string') route.method = route.method.slice(0, 1);
    route.constraints = { ...route.constraints, [CONSTRAINT]: 'never' };
  }

  /**
   * NestJS 11 loses the version of a route for all methods. Generated routes only have the application's default
   * version.
   */
  private versioned(constraints: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const version = this.defaultVersion();
    return version === undefined || typeof version === 'symbol' || 'version' in constraints
      ? constraints
      : { ...constraints, version };
  }

  /** Registers the routes after Nest's: one for each model, and one for all other paths of the package. */
  register(instance: FastifyInstance): void {
    // The application's parsers run before its own actions, and none before generated operations.
    instance.register((child, _options, done) => {
      child.removeContentTypeParser('application/json');
      child.addContentTypeParser('application/json', deferredErrorParser(child));
      const acting = this.resourcesWithActions();
      for (const { resource, ...place } of this.places()) {
        if (acting.has(resource))
          this.routeTo(child, {
            ...place,
            methods: METHODS,
            constraint: { [CONSTRAINT]: 'action' },
            errorHandler: this.refuseBody,
          });
      }
      done();
    });
    instance.register((child, _options, done) => {
      child.removeAllContentTypeParsers();
      child.addContentTypeParser('*', deferredErrorParser(child));
      for (const { urls, mount, groups } of this.places())
        this.routeTo(child, {
          urls,
          mount,
          groups,
          methods: METHODS,
          constraint: {},
          errorHandler: this.fail,
        });
      // Fastify's router has a tree for each method: methods that no URL serves need not contain all models.
      const unserved = child.supportedMethods.filter((method) => !isServed(method));
      for (const { mount, groups } of this.standings())
        this.routeTo(child, {
          urls: [`${mount}/*`],
          mount,
          groups,
          methods: unserved,
          constraint: { [CONSTRAINT]: 'unserved' },
          errorHandler: this.fail,
        });
      this.own.add(this.answerRest);
      child.route({
        ...ANY_MEDIA_TYPE,
        method: child.supportedMethods,
        url: '/*',
        constraints: { [CONSTRAINT]: 'unmatched' },
        handler: this.answerRest,
        errorHandler: this.fail,
      });
      done();
    });
  }

  private places(): readonly Place[] {
    const models = this.server.apis.flatMap((api) =>
      api.resources.map((resource) => ({ resource, path: `/${getCollectionPath(api.prefix, resource)}` })),
    );
    return this.standings().flatMap((standing) =>
      models.map(({ resource, path }) => ({
        ...standing,
        resource,
        urls: [standing.mount + path, `${standing.mount}${path}/*`],
      })),
    );
  }

  private standings(): readonly Standing[] {
    return [...this.groups.values()].flatMap((group) => {
      // A request that satisfies the constraints of one group also satisfies weaker ones.
      const groups: Groups = [
        group,
        ...[...this.groups.values()].filter((each) => each !== group && isWithin(each, group)),
      ];
      return [...this.routes.mounts].map((mount) => ({ mount, groups }));
    });
  }

  private resourcesWithActions(): ReadonlySet<Resource> {
    return new Set(
      this.server.apis.flatMap(({ routes }) =>
        routes.flatMap(({ parent, resource, actions }) => (actions.size > 0 ? [parent ?? resource] : [])),
      ),
    );
  }

  private routeTo(
    child: FastifyInstance,
    { urls, mount, groups, methods, constraint, errorHandler }: Routing,
  ): void {
    const constraints = { ...groups[0].constraints, ...constraint };
    // All routes are registered before the first request.
    const known = new Map<Route, Map<string, FastifyHandler>>();
    const find: FindHandler = ({ prefix, match: { route } }, method) => {
      const found =
        known.get(route)?.get(method) ??
        this.handlerOf(groups, { method, path: `${mount}/${getRoutePattern(prefix, route)}` });
      if (!known.has(route)) known.set(route, new Map());
      if (found) known.get(route)?.set(method, found);
      return found;
    };
    const handler: FastifyHandler = (request, reply) => {
      this.dispatch(request, reply, find);
    };
    this.own.add(handler);
    const hooks = constraint[CONSTRAINT] === 'action' ? {} : ANY_MEDIA_TYPE;
    // Fastify modifies the list.
    for (const url of urls)
      child.route({ ...hooks, method: [...methods], url, constraints, handler, errorHandler });
  }

  private dispatch(request: FastifyRequest, reply: FastifyReply, find: FindHandler): void {
    const exchange = fastifyExchange(request, reply);
    // A malformed path is rejected, as on Express.
    const place = writtenUrl(request.raw) === undefined ? this.server.findTarget(exchange) : undefined;
    const handler = place?.kind === 'route' ? find(place, exchange.method) : undefined;
    if (place?.kind !== 'route' || !handler) {
      this.answerRest(request, reply);
      return;
    }
    request.params = parametersOf(place.match, request.params);
    watchReply(reply);
    if (this.server.handleDirectly(exchange)) return;
    // Nest's handler responds by itself, to errors too; with its promise, Fastify would respond a second time.
    void Promise.resolve(handler.call(undefined, request, reply)).catch((error: unknown) =>
      this.server.sendError(exchange, error),
    );
  }

  /**
   * The handler for a method; HEAD uses GET's. The handler for all methods only covers methods without a handler in any
   * version.
   */
  private handlerOf(
    groups: Groups,
    { method, path }: { method: string; path: string },
  ): FastifyHandler | undefined {
    const keys = [...(method === 'HEAD' ? [`GET ${path}`] : []), `${method} ${path}`];
    const own = groups.flatMap(({ handlers }) => keys.flatMap((key) => handlers.get(key) ?? []))[0];
    if (own || [...this.groups.values()].some(({ handlers }) => keys.some((key) => handlers.has(key))))
      return own;
    return groups.flatMap(({ forAll }) => forAll.get(path) ?? [])[0];
  }

  private readonly answerRest = (request: FastifyRequest, reply: FastifyReply): void => {
    const exchange = fastifyExchange(request, reply);
    this.settle(exchange, this.server.handleUnmatched(exchange), reply);
  };

  /** Responds to errors of the application's hooks and of Fastify before a route. */
  private readonly fail = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    reopenReply(reply);
    // A QUERY without a media type is a method that is not served.
    if ((error as { code?: unknown }).code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE')
      this.answerRest(request, reply);
    else void this.server.sendError(fastifyExchange(request, reply), error);
  };

  /** Responds to errors of the application's own parsers: no later step has run, so nothing has been executed. */
  private readonly refuseBody = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { code } = error as { code?: unknown };
    if (typeof code !== 'string' || !code.startsWith('FST_ERR_CTP_')) this.fail(error, request, reply);
    else
      void this.server.rejectBody(
        fastifyExchange(request, reply),
        code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? 'too-large' : 'unsupported',
      );
  };

  private settle(exchange: ServerExchange, answered: Promise<boolean>, reply: FastifyReply): void {
    answered.then(
      (done) => {
        if (!done) reply.callNotFound();
      },
      (error: unknown) => this.server.sendError(exchange, error),
    );
  }

  private groupOf(constraints: Readonly<Record<string, unknown>>): Group {
    const key = JSON.stringify(constraints);
    const group = this.groups.get(key) ?? {
      constraints,
      handlers: new Map<string, FastifyHandler>(),
      forAll: new Map<string, FastifyHandler>(),
    };
    this.groups.set(key, group);
    return group;
  }
}

/** Finds Nest's handler for a location and a method. */
type FindHandler = (place: Extract<Asked, { kind: 'route' }>, method: string) => FastifyHandler | undefined;

/** A group, followed by those with weaker constraints. */
type Groups = readonly [Group, ...Group[]];

/** The location of generated routes, and the lookup of their handlers. */
interface Standing {
  readonly mount: string;
  readonly groups: Groups;
}

interface Place extends Standing {
  readonly resource: Resource;
  readonly urls: readonly string[];
}

interface Routing extends Omit<Place, 'resource'> {
  readonly methods: readonly string[];
  readonly constraint: Readonly<Record<string, string>>;
  readonly errorHandler: NonNullable<FastifyRoute['errorHandler']>;
}

/** Whether the constraints of one group include those of the other. */
function isWithin(inner: Group, outer: Group): boolean {
  return Object.entries(inner.constraints).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(outer.constraints[name]),
  );
}

function setFirst<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}

/** The parameters for `@Param`, as on Express, in addition to those of the mount. A bare `/*` has no name. */
function parametersOf(
  { keySegment, childSegment }: Pick<RouteMatch, 'keySegment' | 'childSegment'>,
  ofMount: unknown,
): Readonly<Record<string, unknown>> {
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(ofMount ?? {})) if (name !== '*') named[name] = value;
  if (keySegment !== undefined) named.pk = decodedSegment(keySegment) ?? keySegment;
  if (childSegment !== undefined)
    named.childId = childSegment.split('/').map((each) => decodedSegment(each) ?? each);
  return named;
}
