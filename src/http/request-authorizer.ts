import type { ExecutionContext } from '@nestjs/common';
import { NotFound, PermissionDenied } from '../core/errors/http-exceptions.js';
import type { GuardLike, RunGuard } from '../core/contracts/enhancers.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { throttleRequest } from '../request/throttle-request.js';
import { QUERY_METHOD } from '../core/schema/operation.js';
import { readQuery } from '../request/query-input.js';
import { HttpInput } from '../request/request-input.js';
import { RestContext } from '../request/rest-context.js';
import type { Route } from '../core/schema/route.js';
import { acceptsDescription } from '../pipeline/description/describe-route.stage.js';
import type { HttpExchange } from '../request/http-exchange.js';
import type { RegisteredApi } from './api-registration.js';
import type { ExecutionContexts } from './execution-contexts.js';
import type { ServerExchange } from './server-exchange.js';
import type { InterceptorChain } from '../pipeline/rest-pipeline.js';
import type { PathLocation, RequestPath, RouteMatcher } from './route-matcher.js';

/** An authenticated request that its permissions allow. */
export interface AuthorizedRequest {
  readonly context: RestContext;
  readonly state: RequestState;
  readonly registeredApi: RegisteredApi;
}

/**
 * Authenticates and authorizes the requests of one application. All methods throw or reject with the errors of
 * contract 6.1, and with `NotFound` if the path has no generated route.
 */
export class RequestAuthorizer {
  /** @param contexts for requests for which Nest calls no handler. */
  constructor(
    private readonly states: RequestStates,
    private readonly contexts: ExecutionContexts,
    private readonly runGuard: (guard: GuardLike) => RunGuard,
  ) {}

  /**
   * Runs all steps in front of the method of a request (contract 6.3): authenticates and authorizes it, runs the guards of
   * the model behind its permissions, and counts it. Throws 429 beyond the rate limit.
   */
  async admit(exchange: ServerExchange, nestContext?: ExecutionContext): Promise<AuthorizedRequest> {
    const authorized = await this.authorizeAgain(exchange, nestContext);
    const { route, actor } = authorized.context;
    const { resource } = route;
    for (const guard of resource.lateGuards) {
      const context = nestContext ?? this.contexts.createContext(route, exchange);
      if (!(await this.runGuard(guard)(context))) throw new PermissionDenied();
    }
    if (resource.throttle) await throttleRequest(resource, { actor, address: exchange.address });
    return authorized;
  }

  /** Authorizes a request, unless it already is. */
  authorizeOnce(exchange: ServerExchange): MaybePromise<AuthorizedRequest> {
    const state = this.states.getState(exchange);
    const { context, location } = state;
    if (location.kind !== 'route') throw new NotFound();
    return context
      ? { context, state, registeredApi: location.registeredApi }
      : this.authorizeAgain(exchange);
  }

  /** Authorizes a request, and replaces the result of an earlier authorization. */
  authorizeAgain(exchange: ServerExchange, nestContext?: ExecutionContext): MaybePromise<AuthorizedRequest> {
    const state = this.states.getState(exchange);
    const { location } = state;
    if (location.kind !== 'route') throw new NotFound();
    const { match, base, registeredApi } = location;
    const { route, keySegment, childSegment } = match;
    const request = {
      route,
      base,
      keySegment,
      childSegment,
      nestContext: route.resource.guarded
        ? (nestContext ?? this.contexts.createContext(route, exchange))
        : undefined,
    };
    const admit = (context: RestContext): MaybePromise<AuthorizedRequest> =>
      mapMaybe(registeredApi.pipeline.admit(context), () => {
        state.context = context;
        return { context, state, registeredApi };
      });
    if (route.queryable && exchange.method === QUERY_METHOD)
      return mapMaybe(readQuery(exchange, route.resource), (query) =>
        admit(new RestContext({ ...request, ...query })),
      );
    return admit(
      new RestContext({
        ...request,
        method: isDescriptionRequest(exchange, route) ? 'OPTIONS' : exchange.method,
        input: new HttpInput(exchange, route.resource),
        exchange,
      }),
    );
  }
}

/**
 * Whether a request is a GET of the description: it is handled as OPTIONS, which middleware for CORS may respond to
 * itself. Not at URLs whose GET is an action of the application.
 */
export function isDescriptionRequest(exchange: HttpExchange, { actions, resource }: Route): boolean {
  const { method } = exchange;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (!acceptsDescription(exchange.header('accept'), resource.renderers)) return false;
  const action = actions.get('GET');
  return action === undefined || action.operation !== undefined;
}

/** State of one request that outlives a handler of the HTTP library. */
export interface RequestState extends RequestPath {
  readonly location: PathLocation;
  /** Whether the headers of contract 7.1 are set. */
  hasInitialHeaders?: boolean;
  /** Undefined until the request is authorized. */
  context?: RestContext;
  /** Whether the operation or the action has begun, which responds itself. */
  hasBegun?: boolean;
  /** Interceptors of the model, which run around its operation. */
  interceptors?: InterceptorChain;
  /** `ETag` and `Last-Modified` of the generated operation, if a method replaces it. */
  validators?: Readonly<Record<string, string>>;
}

/** The states of the requests of one application. */
export class RequestStates {
  /** The property of Node's request that holds the state: two applications in one process have one each. */
  private readonly stateKey = Symbol('restify');

  constructor(private readonly matcher: RouteMatcher) {}

  /** The state is stored on Node's request, and created again if middleware has changed the path. */
  getState({ raw, path, mountedAt }: ServerExchange): RequestState {
    const holder = raw as object as { [key: symbol]: RequestState | undefined };
    const known = holder[this.stateKey];
    if (known && known.path === path && known.mountedAt === mountedAt) return known;
    const state: RequestState = { path, mountedAt, location: this.matcher.locate({ path, mountedAt }) };
    holder[this.stateKey] = state;
    return state;
  }

  /** The state that a request of the HTTP library has; undefined before the first one is made. */
  findState(request: object): RequestState | undefined {
    const raw = 'raw' in request ? request.raw : request;
    return (raw as { [key: symbol]: RequestState | undefined })[this.stateKey];
  }
}
