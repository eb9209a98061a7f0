import type { Admission } from '../request/rest-context.js';
import type { InterceptorChain } from '../pipeline/rest-pipeline.js';
import type { ServerExchange } from './server-exchange.js';
import type { LocatedRoute, RouteMatcher, Path } from './route-matcher.js';

/** What is known of one request, from the first that asks to the answer. */
export interface RequestState extends Path {
  readonly location: LocatedRoute;
  /** Whether the headers of every response stand there. */
  begun?: boolean;
  admission?: Admission;
  /** What stands around the generated answer. */
  around?: InterceptorChain;
  /** What the generated operation has told of the state of its answer, where a method replaces it. */
  validators?: Readonly<Record<string, string>>;
}

/** The requests of one application, each with what is known of it. */
export class RequestStates {
  /** Where a request keeps its visit: two applications in one process have one each. */
  private readonly held = Symbol('restify');

  constructor(private readonly locations: RouteMatcher) {}

  /** Kept on Node's own request, and begun anew where somebody has given it another path. */
  of({ raw, path, mountedAt }: ServerExchange): RequestState {
    const holder = raw as object as { [visits: symbol]: RequestState | undefined };
    const known = holder[this.held];
    if (known && known.path === path && known.mountedAt === mountedAt) return known;
    const visit: RequestState = { path, mountedAt, location: this.locations.of({ path, mountedAt }) };
    holder[this.held] = visit;
    return visit;
  }
}
