import type { InterceptorChain } from '../pipeline/rest-pipeline.js';
import type { RestContext } from '../request/rest-context.js';
import type { LocatedRoute, Path, RouteMatcher } from './route-matcher.js';
import type { ServerExchange } from './server-exchange.js';

/** State of one request that outlives a handler of the HTTP library. */
export interface RequestState extends Path {
  readonly location: LocatedRoute;
  /** Whether the headers of every response are set. */
  hasBegun?: boolean;
  /** Undefined until the request is authorized. */
  context?: RestContext;
  /** Interceptors of the model, which run around its operations. */
  interceptors?: InterceptorChain;
  /** `ETag` and `Last-Modified` of the generated operation, where a method replaces it. */
  validators?: Readonly<Record<string, string>>;
}

/** The states of the requests of one application. */
export class RequestStates {
  /** The property of Node's request that holds the state: two applications in one process have one each. */
  private readonly held = Symbol('restify');

  constructor(private readonly locations: RouteMatcher) {}

  /** Stored on Node's request, and created anew where a middleware has changed the path. */
  of({ raw, path, mountedAt }: ServerExchange): RequestState {
    const holder = raw as object as { [states: symbol]: RequestState | undefined };
    const known = holder[this.held];
    if (known && known.path === path && known.mountedAt === mountedAt) return known;
    const state: RequestState = { path, mountedAt, location: this.locations.of({ path, mountedAt }) };
    holder[this.held] = state;
    return state;
  }
}
