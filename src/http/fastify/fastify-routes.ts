import { isSupportedMethod, METHODS, QUERY_METHOD } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Route, RouteMatch } from '../../core/schema/route.js';
import { decodedSegment } from '../../core/values/keys.js';
import { probeHttpSpan } from '../../internals/opentelemetry.js';
import { GeneratedRoutes } from '../http-platform.js';
import type { RestServer } from '../rest-server.js';
import { getCollectionPath, getRoutePattern } from '../route-pattern.js';
import type { RequestTarget } from '../server-exchange.js';
import {
  describeParserError,
  ignoreBodiesOfUnserved,
  createActionParser,
  createDeferringParser,
  createParsingHooks,
  createUnannouncedParser,
  storeReceivedBody,
} from './fastify-content-type-parser.js';
import { getFastifyExchange, getUnescapedUrl } from './fastify-exchange.js';
import { FastifyHandlers } from './fastify-handlers.js';
import type { HandlerGroups } from './fastify-handlers.js';
import { reopenReply, watchReply } from './fastify-reply.js';
import type {
  FastifyHandler,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyRoute,
} from './fastify-types.js';

/** The name of the routing constraint for this package's requests. */
export const CONSTRAINT = 'restify';

/** The configuration of the routes that call Nest's handlers. */
const DISPATCHER = 'dispatcher';
const DISPATCHER_CONFIG = { [CONSTRAINT]: DISPATCHER };

/**
 * The generated routes on Fastify. Its router differs from contract 1 in trailing slashes, in the maximum length of
 * parameters and in wildcards. Therefore one route for each model is registered, and the package's own matcher selects
 * Nest's handler.
 */
export class FastifyRoutes {
  private readonly handlers: FastifyHandlers;
  private readonly generatedRoutes: GeneratedRoutes;
  private capturedCount = 0;

  /** @param defaultVersion the application's default version, if requests carry the version outside of their path. */
  constructor(
    private readonly server: RestServer,
    defaultVersion: () => unknown,
  ) {
    this.handlers = new FastifyHandlers(defaultVersion);
    this.generatedRoutes = new GeneratedRoutes(server);
  }

  /**
   * Stores the handler of a generated route in an `onRoute` hook of the instance, and moves the route to an unreachable path.
   * The routes of this class are recognized by their configuration, because other hooks replace handlers.
   */
  captureRoute(route: FastifyRoute, instance: FastifyInstance): void {
    if (route.config?.[CONSTRAINT] === DISPATCHER) return;
    if (this.generatedRoutes.addPath(route.url) === undefined) return;
    this.handlers.add({ ...route, handler: route.handler.bind(instance) });
    // Fastify's router stores paths with a common start efficiently, and no request uses these paths.
    route.url = `/${CONSTRAINT}/${String(++this.capturedCount)}`;
    route.path = route.url;
    if (typeof route.method !== 'string') route.method = route.method.slice(0, 1);
    route.constraints = { ...route.constraints, [CONSTRAINT]: 'never' };
  }

  /** Registers the routes after Nest's: one for each model, and one for all other paths of the package. */
  register(instance: FastifyInstance): void {
    this.generatedRoutes.assertSameMounts();
    // The application's parsers run before its own actions, and none before generated operations.
    instance.register((child, _options, done) => {
      child.removeContentTypeParser('application/json');
      child.addContentTypeParser('application/json', createActionParser(child));
      // Without a parser Fastify rejects a media type, whether or not there is a body.
      if (!child.hasContentTypeParser('*')) child.addContentTypeParser('*', createDeferringParser(child));
      this.registerActions(child);
      done();
    });
    instance.register((child, _options, done) => {
      child.removeAllContentTypeParsers();
      child.addContentTypeParser('*', createDeferringParser(child));
      this.registerModels(child);
      this.registerUnservedMethods(child);
      this.registerUnmatchedPaths(child);
      done();
    });
  }

  private registerActions(child: FastifyInstance): void {
    const withActions = this.findResourcesWithActions();
    for (const { resource, urls, mounted } of this.listModelUrls())
      if (withActions.has(resource))
        this.registerDispatcher(child, mounted, {
          urls,
          methods: METHODS,
          constraint: { [CONSTRAINT]: 'action' },
          errorHandler: this.handleBodyError,
        });
  }

  private registerModels(child: FastifyInstance): void {
    const isQueried = this.server.apis.some(({ routes }) => routes.some(({ queryable }) => queryable));
    for (const { urls, mounted } of this.listModelUrls())
      this.registerDispatcher(child, mounted, {
        urls,
        methods: isQueried ? [...METHODS, QUERY_METHOD] : METHODS,
        constraint: {},
        errorHandler: this.handleError,
      });
  }

  /** Fastify's router has a tree for each method: methods that no URL serves need not contain all models. */
  private registerUnservedMethods(child: FastifyInstance): void {
    const methods = child.supportedMethods.filter((method) => !isSupportedMethod(method));
    for (const mounted of this.listMounted())
      this.registerDispatcher(child, mounted, {
        urls: [`${mounted.mount}/*`],
        methods,
        constraint: { [CONSTRAINT]: 'unserved' },
        errorHandler: this.handleError,
      });
  }

  private registerUnmatchedPaths(child: FastifyInstance): void {
    child.route({
      ...createParsingHooks(child),
      config: DISPATCHER_CONFIG,
      method: child.supportedMethods,
      url: '/*',
      constraints: { [CONSTRAINT]: 'unmatched' },
      handler: respondingLater(this.handleUnmatched),
      errorHandler: ignoreBodiesOfUnserved(this.handleUnmatched, this.handleError),
    });
  }

  private listModelUrls(): readonly ModelUrls[] {
    const models = this.server.apis.flatMap((api) =>
      api.resources.map((resource) => ({ resource, path: `/${getCollectionPath(api.prefix, resource)}` })),
    );
    return this.listMounted().flatMap((mounted) =>
      models.map(({ resource, path }) => ({
        mounted,
        resource,
        urls: [mounted.mount + path, `${mounted.mount}${path}/*`],
      })),
    );
  }

  private listMounted(): readonly MountedHandlers[] {
    return this.handlers
      .listGroups()
      .flatMap((groups) => [...this.generatedRoutes.mounts].map((mount) => ({ mount, groups })));
  }

  private findResourcesWithActions(): ReadonlySet<Resource> {
    return new Set(
      this.server.apis.flatMap(({ routes }) =>
        routes.flatMap(({ parent, resource, actions }) => (actions.size > 0 ? [parent ?? resource] : [])),
      ),
    );
  }

  /** Registers routes whose handler calls Nest's handler for the path. */
  private registerDispatcher(
    child: FastifyInstance,
    mounted: MountedHandlers,
    { urls, methods, constraint, errorHandler }: DispatcherOptions,
  ): void {
    const constraints = { ...mounted.groups[0].constraints, ...constraint };
    const find = this.createFindHandler(mounted);
    const handler = respondingLater((request, reply) => {
      this.dispatch(request, reply, find);
    });
    const hooks =
      constraint[CONSTRAINT] === 'action'
        ? { preParsing: createUnannouncedParser(child) }
        : createParsingHooks(child);
    // Fastify modifies the list of methods.
    for (const url of urls)
      child.route({
        ...hooks,
        config: DISPATCHER_CONFIG,
        method: [...methods],
        url,
        constraints,
        handler,
        errorHandler: ignoreBodiesOfUnserved(handler, errorHandler),
      });
  }

  /** The handlers are cached, because all routes are registered before the first request. */
  private createFindHandler({ mount, groups }: MountedHandlers): FindHandler {
    const cache = new Map<Route, Map<string, MatchedHandler>>();
    return ({ prefix, match: { route } }, request) => {
      const { method } = request;
      const cached = cache.get(route)?.get(method);
      if (cached) return cached;
      const path = `${mount}/${getRoutePattern(prefix, route)}`;
      const handler = this.handlers.find(groups, { method, path });
      if (!handler) return undefined;
      // Reading them is slow.
      const { routeOptions } = request;
      const config = { ...routeOptions.config, url: path };
      const matched = { handler, path, routeOptions: { value: { ...routeOptions, url: path, config } } };
      if (!cache.has(route)) cache.set(route, new Map());
      cache.get(route)?.set(method, matched);
      return matched;
    };
  }

  private dispatch(request: FastifyRequest, reply: FastifyReply, find: FindHandler): void {
    const exchange = getFastifyExchange(request, reply);
    // A malformed path is rejected, as on Express.
    const target = getUnescapedUrl(request.raw) === undefined ? this.server.findTarget(exchange) : undefined;
    const matched = target?.kind === 'route' ? find(target, request) : undefined;
    if (target?.kind !== 'route' || !matched) {
      this.handleUnmatched(request, reply);
      return;
    }
    request.params = buildParameters(target.match, request.params);
    // In place of the route of the model, for hooks that run later, such as those of metrics.
    Object.defineProperty(request, 'routeOptions', matched.routeOptions);
    setRouteOfHttpSpan(matched.path);
    watchReply(reply);
    if (this.server.handleDirectly(exchange)) return;
    // Nest's handler responds by itself, to errors too; with its promise, Fastify would respond a second time.
    void Promise.resolve(matched.handler(request, reply)).catch((error: unknown) =>
      this.server.sendError(exchange, error),
    );
  }

  private readonly handleUnmatched = (request: FastifyRequest, reply: FastifyReply): void => {
    const exchange = getFastifyExchange(request, reply);
    this.server.handleUnmatched(exchange).then(
      (isHandled) => {
        if (!isHandled) reply.callNotFound();
      },
      (error: unknown) => this.server.sendError(exchange, error),
    );
  };

  /** Responds to errors of the application's hooks, and of Fastify before a route. */
  private readonly handleError = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    reopenReply(reply);
    void this.server.sendLibraryError(getFastifyExchange(request, reply), error);
  };

  /** Responds to errors of the application's own parsers: no later step has run, so nothing has been executed. */
  private readonly handleBodyError = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { code } = error as { code?: unknown };
    if (typeof code !== 'string' || !code.startsWith('FST_ERR_CTP_')) {
      this.handleError(error, request, reply);
      return;
    }
    storeReceivedBody(request.raw, describeParserError(code));
    void this.server.rejectBody(getFastifyExchange(request, reply));
  };
}

/**
 * A handler that responds after it has returned. Where a hook has wrapped it, it returns the reply, which resolves with the
 * response: for an async function that wraps a handler without a result, Fastify would send an empty response.
 */
function respondingLater(respond: (request: FastifyRequest, reply: FastifyReply) => void): FastifyHandler {
  let isWrapped: boolean | undefined;
  const handler: FastifyHandler = (request, reply) => {
    isWrapped ??= request.routeOptions.handler !== handler;
    respond(request, reply);
    return isWrapped ? reply : undefined;
  };
  return handler;
}

/** Nest's handler of a URL, with its pattern: `/rest/v1/polls/question/:pk`. */
interface MatchedHandler {
  readonly handler: FastifyHandler;
  readonly path: string;
  /** The descriptor of the request's property. */
  readonly routeOptions: { readonly value: FastifyRequest['routeOptions'] };
}

/** Finds Nest's handler for a route and the method of a request. */
type FindHandler = (
  target: Extract<RequestTarget, { kind: 'route' }>,
  request: Pick<FastifyRequest, 'method' | 'routeOptions'>,
) => MatchedHandler | undefined;

/** The mount of generated routes, and the groups that have their handlers. */
interface MountedHandlers {
  readonly mount: string;
  readonly groups: HandlerGroups;
}

interface ModelUrls {
  readonly mounted: MountedHandlers;
  readonly resource: Resource;
  readonly urls: readonly string[];
}

interface DispatcherOptions {
  readonly urls: readonly string[];
  readonly methods: readonly string[];
  readonly constraint: Readonly<Record<string, string>>;
  readonly errorHandler: NonNullable<FastifyRoute['errorHandler']>;
}

/** The parameters for `@Param`, as on Express, in addition to those of the mount. A bare `/*` has no name. */
function buildParameters(
  { keySegment, childSegment }: Pick<RouteMatch, 'keySegment' | 'childSegment'>,
  mountParameters: unknown,
): Readonly<Record<string, unknown>> {
  const parameters: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(mountParameters ?? {}))
    if (name !== '*') parameters[name] = value;
  if (keySegment !== undefined) parameters.pk = decodedSegment(keySegment) ?? keySegment;
  if (childSegment !== undefined)
    parameters.childId = childSegment.split('/').map((each) => decodedSegment(each) ?? each);
  return parameters;
}

/**
 * Sets `http.route` of the active HTTP span, which then has the name of the route; does nothing without OpenTelemetry. On
 * Fastify its instrumentation would see the route of the whole model.
 */
function setRouteOfHttpSpan(route: string): void {
  const span = probeHttpSpan();
  if (span) span.route = route;
}
