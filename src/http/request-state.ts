import type { InterceptorChain } from '../pipeline/rest-pipeline.js';
import type { RestContext } from '../request/rest-context.js';
import type { PathLocation, RequestPath, RouteMatcher } from './route-matcher.js';
import type { ServerExchange } from './server-exchange.js';

/** State of one request that outlives a handler of the HTTP library. */
export interface RequestState extends RequestPath {
  readonly location: PathLocation;
  /** Whether the headers of contract 7.1 are set. */
  hasInitialHeaders?: boolean;
  /** Undefined until the request is authorized. */
  context?: RestContext;
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
}
