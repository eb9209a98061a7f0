import type { ExecutionContext, LoggerService } from '@nestjs/common';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import {
  BodyTooLarge,
  MethodNotAllowed,
  NotFound,
  UnsupportedMediaType,
} from '../core/errors/http-exceptions.js';
import { servedMethod, statusOf } from '../core/schema/operation.js';
import type { Api, Route } from '../core/schema/route.js';
import type { Resource } from '../core/schema/resource.js';
import { throttleRequest } from '../features/throttling/throttle.stage.js';
import { yieldToMiddleware, responseTo, describeError } from './to-error-response.js';
import { unsendable } from './send-response.js';
import { valueResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';
import { isPromise, mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { UnknownEntities } from '../restify.options.js';
import { HttpInput } from '../request/http-input.js';
import { RestContext } from '../request/rest-context.js';
import type { InterceptorChain } from '../pipeline/rest-pipeline.js';
import { setActionContext } from './action-context.js';
import { respondWithIndex } from './api-root.js';
import type { ServerExchange, ExchangeOf, Place } from './server-exchange.js';
import { RouteMatcher } from './route-matcher.js';
import { ExecutionContexts } from './execution-contexts.js';
import type { LocatedRoute } from './route-matcher.js';
import { PrefixRegistry } from './prefix-registry.js';
import { urlOf } from './route-pattern.js';
import type { ActionBinding } from './route-pattern.js';
import type { RegisteredApi } from './api-registration.js';
import { methodLocations } from './method-locations.js';
import { RequestStates } from './request-state.js';
import type { RequestState } from './request-state.js';

/** A request that its permissions allow. */
interface AuthorizedRequest {
  readonly context: RestContext;
  readonly state: RequestState;
  readonly served: RegisteredApi;
}

const INDEX_ALLOW = 'GET, HEAD, OPTIONS';

/** All prefixes of one application, behind its HTTP library. */
export class RestServer {
  private readonly locations = new RouteMatcher();
  readonly mounts = this.locations.mounts;
  readonly foreign = this.locations.foreign;
  /** Paths of models by the registered path of each generated route, without the global prefix: `/rest/v1/polls/question/:pk`. */
  readonly models = new Map<string, string>();
  private readonly states = new RequestStates(this.locations);
  /** Routes of models without interceptors, guards or throttles. */
  readonly alone = new Set<Route>();
  readonly claims = new PrefixRegistry();
  /** Of requests for which Nest calls no handler. */
  readonly contexts = new ExecutionContexts();

  constructor(
    private readonly logger: LoggerService,
    readonly exchangeOf: ExchangeOf,
    /** Whether the application has something that Nest runs around every handler. */
    private readonly isEnhanced: () => boolean,
  ) {}

  add(served: RegisteredApi): void {
    this.locations.add(served);
  }

  /** What is wrong with what was declared, and could not be known before the application's providers were made. */
  addDeferredProblems(): readonly DeclarationProblem[] {
    const problems = this.locations.served.flatMap((each) => each.lateProblems());
    return problems.filter(
      ({ where }, index) => problems.findIndex((each) => each.where === where) === index,
    );
  }

  /** Logs the URLs with global prefix and version, when the routes are registered. */
  addMethodLocations(): void {
    try {
      this.logger.log(methodLocations(this.apis, this.mounts.all));
    } catch {
      // A logger that throws must not fail the request.
    }
  }

  /** Also while requests are answered: none of them fails of a logger. */
  warn(text: string): void {
    try {
      this.logger.warn(text);
    } catch {
      // A logger that throws must not fail the request.
    }
  }

  /** What is served, in the order of the `forRoot` calls. */
  get prefixes(): readonly Pick<
    RegisteredApi,
    'api' | 'pipeline' | 'resourceOf' | 'index' | 'errorFormat'
  >[] {
    return this.locations.served;
  }

  /** What the prefixes say of entities that no data source knows. */
  get unknownEntities(): readonly UnknownEntities[] {
    return this.locations.served.map(({ unknownEntities }) => unknownEntities);
  }

  /** The longest of all prefixes: they share the server. */
  get shutdownGrace(): number {
    return Math.max(0, ...this.locations.served.map(({ shutdownGrace }) => shutdownGrace));
  }

  get apis(): readonly Api[] {
    return this.locations.served.map(({ api }) => api);
  }

  /** Whether the path is the index or below a prefix, a route or not. */
  isGenerated(exchange: ServerExchange): boolean {
    return this.owns(this.states.of(exchange).location);
  }

  /** The route of a path; undefined for paths of the application. */
  placeOf(exchange: ServerExchange): Place | undefined {
    const { location } = this.states.of(exchange);
    if (location.kind === 'route')
      return { kind: 'route', prefix: location.served.api.prefix, match: location.match };
    return this.owns(location) ? { kind: 'rest' } : undefined;
  }

  /** The prefix of a request's path, and the path before it; undefined for paths of the application. */
  baseOf(exchange: ServerExchange): { readonly prefix: string; readonly base: string } | undefined {
    const { location } = this.states.of(exchange);
    if (location.kind !== 'route') return undefined;
    const { prefix } = location.served.api;
    return { prefix, base: prefix === '' ? location.base : location.base.slice(0, -prefix.length - 1) };
  }

  /** Sets the headers of every response, before anything else of the application sees the request: what it sets later is kept. */
  begin(exchange: ServerExchange): void {
    const state = this.states.of(exchange);
    if (state.hasBegun !== true && this.owns(state.location))
      exchange.setContractHeaders(allowOf(state.location));
    state.hasBegun = true;
  }

  /**
   * Authenticates and authorizes, run by the guard of every generated route: each time, because the application may dispatch a
   * request again with another method. Throws the errors of contract 6.1.
   */
  async admit(exchange: ServerExchange, nestContext: ExecutionContext): Promise<Resource> {
    const { context } = await this.authorizedAnew(exchange, nestContext);
    return context.route.resource;
  }

  /** Whether a request's own path and method are those that an action was bound to. */
  leadsTo(exchange: ServerExchange, { url, method, handler }: ActionBinding): boolean {
    const { location } = this.states.of(exchange);
    if (location.kind !== 'route') return false;
    const { route } = location.match;
    return (
      urlOf(route) === url &&
      servedMethod(exchange.method) === method &&
      route.actions.get(method)?.handler === handler
    );
  }

  /** After the guards. Throws 429. */
  async throttle(exchange: ServerExchange): Promise<void> {
    const { context } = this.states.of(exchange);
    if (context)
      await throttleRequest(context.route.resource, { actor: context.actor, address: exchange.address });
  }

  /** Sets the interceptors that run around the operation of this request. */
  intercept(exchange: ServerExchange, interceptors: InterceptorChain): void {
    this.states.of(exchange).interceptors = interceptors;
  }

  /** Answers the request. Never throws, nor rejects. */
  handle(exchange: ServerExchange): MaybePromise<void> {
    return this.writing(exchange, () =>
      mapMaybe(this.authorized(exchange), ({ context, served, state }) =>
        served.pipeline.answer(context, state.interceptors),
      ),
    );
  }

  /**
   * Authorizes and answers a request, where no enhancer of Nest and no interceptor of the model runs around it. False where
   * Nest's handler has to be called.
   */
  handleDirectly(exchange: ServerExchange): boolean {
    const { location } = this.states.of(exchange);
    if (location.kind !== 'route' || !this.alone.has(location.match.route) || this.isEnhanced()) return false;
    void yieldToMiddleware().then(() => this.handle(exchange));
    return true;
  }

  /** Before an action of the application runs. Throws the errors of contract 6.1. */
  async beginAction(exchange: ServerExchange): Promise<void> {
    const { context, served, state } = await this.authorized(exchange);
    const { route } = context;
    exchange.setContractHeaders(route.allow);
    const replaces = route.actions.get(servedMethod(exchange.method))?.operation !== undefined;
    const parameters = replaces
      ? await served.pipeline.prepareOverride(context, (headers) => {
          const { ETag, 'Last-Modified': modified, ...others } = headers;
          for (const [name, value] of Object.entries(others)) exchange.setHeader(name, value);
          if (ETag !== undefined)
            state.validators = modified === undefined ? { ETag } : { ETag, 'Last-Modified': modified };
        })
      : await served.pipeline.prepareAction(context);
    setActionContext(exchange.request, { actor: context.actor, ...parameters });
  }

  /**
   * Sends what an action returned: 200, or what `@HttpCode` says; undefined is 204 (contract 9.5). In place of `create` it is
   * 201.
   */
  async endAction(exchange: ServerExchange, value: unknown, code: number | undefined): Promise<void> {
    if (exchange.answered) return;
    const { context, served, state } = await this.authorized(exchange);
    const operation = context.route.actions.get(servedMethod(exchange.method))?.operation;
    const response =
      value === undefined && code !== undefined
        ? { status: code }
        : valueResponse(code ?? statusOf(operation), value, state.validators);
    await this.send(exchange, operation ? served.pipeline.applyCacheHeaders(context, response) : response);
  }

  /** Responds to a request that no route of Nest matched. False for paths of the application. */
  async handleRest(exchange: ServerExchange): Promise<boolean> {
    const { location } = this.states.of(exchange);
    switch (location.kind) {
      case 'route':
        await this.rejectUnrouted(exchange);
        return true;
      case 'unknown':
        await this.fail(exchange, new NotFound());
        return true;
      case 'index':
        if (this.foreign.has(location.path)) return false;
        await this.writing(exchange, () =>
          respondWithIndex(exchange, { apis: location.prefixes.map(({ api }) => api), base: location.base }),
        );
        return true;
      case 'elsewhere':
        return false;
      default:
        return location satisfies never;
    }
  }

  /**
   * A generated URL that Nest did not match: an unknown method, or a path that the HTTP library cannot decode. Always rejected,
   * because middleware of the application has not seen the request.
   */
  private async rejectUnrouted(exchange: ServerExchange): Promise<void> {
    await this.writing(exchange, async () => {
      const { context } = await this.authorizedAnew(exchange);
      const { operations, actions } = context.route;
      const method = servedMethod(exchange.method);
      throw method === 'OPTIONS' || operations.has(method) || actions.has(method)
        ? new NotFound()
        : new MethodNotAllowed(exchange.method);
    });
  }

  /** A body that was rejected before any stage has run: 401 and 403 come first. */
  async rejectBody(exchange: ServerExchange, kind: 'too-large' | 'unsupported'): Promise<void> {
    await this.writing(exchange, async () => {
      await this.authorizedAnew(exchange);
      throw kind === 'too-large'
        ? new BodyTooLarge()
        : new UnsupportedMediaType(exchange.header('content-type')?.slice(0, 200) ?? '');
    });
  }

  /** Writes an error that something else threw on one of our URLs. */
  fail(exchange: ServerExchange, error: unknown): MaybePromise<void> {
    const served = this.servedOf(exchange);
    // What the application's own code has asked the database for may have failed as our statements do.
    const { response, logged } = responseTo(
      served ? served.reported(error) : error,
      served?.errorFormat ?? 'drf',
    );
    if (logged) this.log(exchange, error);
    return this.send(exchange, response);
  }

  private writing(exchange: ServerExchange, answer: () => MaybePromise<RestResponse>): MaybePromise<void> {
    try {
      const given = answer();
      if (!isPromise(given)) return this.send(exchange, given);
      return given.then(
        (response) => this.send(exchange, response),
        (error: unknown) => this.fail(exchange, error),
      );
    } catch (error) {
      return this.fail(exchange, error);
    }
  }

  /** A stream that fails half-way has broken the connection off; all that is left is the log. */
  private send(exchange: ServerExchange, response: RestResponse): MaybePromise<void> {
    const wrong = unsendable(response);
    if (wrong) return this.fail(exchange, wrong);
    try {
      const sent = exchange.send(response, allowOf(this.states.of(exchange).location));
      if (isPromise(sent))
        return sent.catch((error: unknown) => {
          this.log(exchange, error);
        });
    } catch (error) {
      this.log(exchange, error);
    }
  }

  private log({ method, path }: ServerExchange, error: unknown): void {
    this.report(`${method} ${path} failed`, error);
  }

  /** Logs an error. Never throws. */
  report(what: string, error: unknown): void {
    try {
      this.logger.error(`${what}: ${describeError(error)}`);
    } catch {
      // A logger that throws must not fail the request.
    }
  }

  /** The prefix that the URL belongs to; the first where it belongs to several, or to none. */
  private servedOf(exchange: ServerExchange): RegisteredApi | undefined {
    const { location } = this.states.of(exchange);
    return 'served' in location
      ? location.served
      : (location.kind === 'index' ? location.prefixes : this.locations.served)[0];
  }

  /** The request's context, authorized once. */
  private authorized(exchange: ServerExchange): MaybePromise<AuthorizedRequest> {
    const state = this.states.of(exchange);
    const { context, location } = state;
    if (location.kind !== 'route') throw new NotFound();
    return context ? { context, state, served: location.served } : this.authorizedAnew(exchange);
  }

  private authorizedAnew(
    exchange: ServerExchange,
    nestContext?: ExecutionContext,
  ): MaybePromise<AuthorizedRequest> {
    const state = this.states.of(exchange);
    const { location } = state;
    if (location.kind !== 'route') throw new NotFound();
    const { match, base, served } = location;
    const { route, keySegment, childSegment } = match;
    const context = new RestContext({
      route,
      base,
      method: exchange.method,
      input: new HttpInput(exchange, route.resource),
      exchange,
      keySegment,
      childSegment,
      nestContext: route.resource.guarded ? (nestContext ?? this.contexts.of(route, exchange)) : undefined,
    });
    return mapMaybe(served.pipeline.admit(context), () => {
      state.context = context;
      return { context, state, served };
    });
  }

  private owns(location: LocatedRoute): boolean {
    return location.kind === 'index' ? !this.foreign.has(location.path) : location.kind !== 'elsewhere';
  }
}

function allowOf(location: LocatedRoute): string {
  if (location.kind === 'route') return location.match.route.allow;
  return location.kind === 'index' ? INDEX_ALLOW : '';
}
