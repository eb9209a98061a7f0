import type { ExecutionContext } from '@nestjs/common';
import { NotFound } from '../core/errors/http-exceptions.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { HttpInput } from '../request/http-input.js';
import { RestContext } from '../request/rest-context.js';
import type { RegisteredApi } from './api-registration.js';
import { ExecutionContexts } from './execution-contexts.js';
import type { RequestState, RequestStates } from './request-state.js';
import type { ServerExchange } from './server-exchange.js';

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
  /** For requests for which Nest calls no handler. */
  readonly executionContexts = new ExecutionContexts();

  constructor(private readonly states: RequestStates) {}

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
    const context = new RestContext({
      route,
      base,
      method: exchange.method,
      input: new HttpInput(exchange, route.resource),
      exchange,
      keySegment,
      childSegment,
      nestContext: route.resource.guarded
        ? (nestContext ?? this.executionContexts.createContext(route, exchange))
        : undefined,
    });
    return mapMaybe(registeredApi.pipeline.admit(context), () => {
      state.context = context;
      return { context, state, registeredApi };
    });
  }
}
