import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext, LoggerService } from '@nestjs/common';
import { CallbackQueue } from '../core/callback-queue.js';
import type { GuardLike, RunGuard } from '../core/contracts/enhancers.js';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import { MethodNotAllowed, NotFound, UnsupportedMediaType } from '../core/errors/http-exceptions.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { Actor } from '../core/schema/caller.js';
import { COMMIT_CALLS } from '../core/schema/limits.js';
import { servedMethod, statusOf } from '../core/schema/operation.js';
import { servedBy } from '../core/schema/route.js';
import type { Api, Route } from '../core/schema/route.js';
import type { Resource } from '../core/schema/resource.js';
import { assertParsed } from '../request/application-body.js';
import type { InterceptorChain } from '../pipeline/rest-pipeline.js';
import type { UnknownEntities } from '../restify.options.js';
import { setActionContext } from './action-context.js';
import {
  actionResponse,
  getAllowHeader,
  ResponseSender,
  yieldToMiddleware,
  describeRequest,
} from './response-sender.js';
import type { RegisteredApi } from './api-registration.js';
import { respondWithIndex } from './api-root.js';
import { respondWithAsset, servePage, varyByPage } from './browsable/serve-page.js';
import { ExecutionContexts } from './execution-contexts.js';
import { isDescriptionRequest, RequestAuthorizer, RequestStates } from './request-authorizer.js';
import { RouteMatcher } from './route-matcher.js';
import { identifyRoute } from './route-pattern.js';
import type { ActionBinding } from './route-pattern.js';
import type { GetExchange, RequestTarget, ServerExchange } from './server-exchange.js';
import { ServerLog } from './server-log.js';
import type { ErrorReport } from './server-log.js';

/** The call in which an error occurred; without a request for calls of the application's code. */
interface CallOfAnError {
  readonly method: string;
  readonly actor: Actor;
  readonly request: object | undefined;
}

/** What Nest runs around handlers. */
export interface NestEnhancers {
  /** Whether the application has an enhancer that Nest runs around every handler. */
  readonly isEnhanced: () => boolean;
  readonly runGuard: (guard: GuardLike) => RunGuard;
}

/**
 * The requests of all prefixes of one application, independent of its HTTP library: matches paths, authorizes requests,
 * runs the pipeline, and sends responses.
 */
export class RestServer {
  private readonly matcher = new RouteMatcher();
  private readonly states = new RequestStates(this.matcher);
  private readonly authorizer: RequestAuthorizer;
  private readonly sender: ResponseSender;
  readonly log: ServerLog;
  readonly mounts = this.matcher.mounts;
  readonly applicationRoutes = this.matcher.applicationRoutes;
  readonly executionContexts = new ExecutionContexts();
  /**
   * The path of the model for the path of each generated route, both without the global prefix:
   * `/rest/v1/polls/question` for `/rest/v1/polls/question/:pk`.
   */
  readonly modelPaths = new Map<string, string>();
  /** Routes of models without interceptors, guards or throttles. */
  readonly directRoutes = new Set<Route>();
  readonly prefixRegistry = new PrefixRegistry();
  /** The calls of `afterCommit` of all prefixes. */
  readonly commitCalls = new CallbackQueue(COMMIT_CALLS);
  private abandonsCommitCalls = false;

  constructor(
    logger: LoggerService,
    readonly getExchange: GetExchange,
    private readonly nest: NestEnhancers,
  ) {
    this.log = new ServerLog(logger);
    this.authorizer = new RequestAuthorizer(this.states, this.executionContexts, nest.runGuard);
    this.sender = new ResponseSender(this.states, this.matcher, this.log);
  }

  add(registeredApi: RegisteredApi): void {
    this.matcher.add(registeredApi);
  }

  /** Problems of declarations that cannot be detected before the application's providers are created. */
  findDeferredProblems(): readonly DeclarationProblem[] {
    const problems = this.matcher.registeredApis.flatMap((each) => each.findDeferredProblems());
    return problems.filter(
      ({ where }, index) => problems.findIndex((each) => each.where === where) === index,
    );
  }

  /** Logs the URLs with global prefix and version. Called after the routes are registered. */
  logServedModels(): void {
    this.log.logServedModels(this.apis, this.mounts.all);
  }

  /** The prefixes, in the order of the `forRoot` calls. */
  get prefixes(): readonly Pick<
    RegisteredApi,
    | 'api'
    | 'pipeline'
    | 'operations'
    | 'resourceOf'
    | 'index'
    | 'errorFormat'
    | 'findMissingIndexes'
    | 'findUnauthenticated'
    | 'missingIndexRows'
  >[] {
    return this.matcher.registeredApis;
  }

  /** The option `unknownEntities` of each prefix. */
  get unknownEntities(): readonly UnknownEntities[] {
    return this.matcher.registeredApis.map(({ unknownEntities }) => unknownEntities);
  }

  /** The longest shutdown grace period of all prefixes in milliseconds, because they share the HTTP server. */
  get shutdownGrace(): number {
    return Math.max(0, ...this.matcher.registeredApis.map(({ shutdownGrace }) => shutdownGrace));
  }

  get apis(): readonly Api[] {
    return this.matcher.registeredApis.map(({ api }) => api);
  }

  /** Whether the path is an index or below a prefix, with a route or without. */
  isGenerated(exchange: ServerExchange): boolean {
    return this.matcher.isGenerated(this.states.getState(exchange).location);
  }

  /** The route of a path; undefined for paths of the application. */
  findTarget(exchange: ServerExchange): RequestTarget | undefined {
    const { location } = this.states.getState(exchange);
    if (location.kind === 'route')
      return { kind: 'route', prefix: location.registeredApi.api.prefix, match: location.match };
    return this.matcher.isGenerated(location) ? { kind: 'unmatched' } : undefined;
  }

  /** The prefix of a request's path, and the path before it; undefined without a generated route. */
  findBase(exchange: ServerExchange): { readonly prefix: string; readonly base: string } | undefined {
    const { location } = this.states.getState(exchange);
    if (location.kind !== 'route') return undefined;
    const { prefix } = location.registeredApi.api;
    return { prefix, base: prefix === '' ? location.base : location.base.slice(0, -prefix.length - 1) };
  }

  /**
   * Sets the headers of every response, before any other code of the application handles the request: headers that it
   * sets are kept.
   */
  setInitialHeaders(exchange: ServerExchange): void {
    const state = this.states.getState(exchange);
    if (state.hasInitialHeaders === true || !this.matcher.isGenerated(state.location)) return;
    varyByPage(exchange, state.location);
    exchange.setContractHeaders(getAllowHeader(state.location));
    state.hasInitialHeaders = true;
  }

  /**
   * Runs all steps in front of the method (contract 6.3) but the guards of the application. The guard of every generated
   * route calls it, each time, because the application may dispatch a request again with another method.
   * @throws the errors of contract 6.1.
   */
  async admit(exchange: ServerExchange, nestContext: ExecutionContext): Promise<Resource> {
    const { context } = await this.authorizer.admit(exchange, nestContext);
    return context.route.resource;
  }

  /** Whether a method of the application handles a request, and not the generated handler of its URL. */
  isForAction(exchange: ServerExchange): boolean {
    const { location } = this.states.getState(exchange);
    return location.kind === 'route' && location.match.route.actions.has(servedMethod(exchange.method));
  }

  /** Whether an action is bound to the path and the method of a request. */
  matchesBinding(exchange: ServerExchange, { routeId, method, handler }: ActionBinding): boolean {
    const { location } = this.states.getState(exchange);
    if (location.kind !== 'route') return false;
    const { route } = location.match;
    return (
      identifyRoute(route) === routeId &&
      servedMethod(exchange.method) === method &&
      route.actions.get(method)?.handler === handler
    );
  }

  /** Sets the interceptors that run around the operation of this request. */
  setInterceptors(exchange: ServerExchange, interceptors: InterceptorChain): void {
    this.states.getState(exchange).interceptors = interceptors;
  }

  /** Runs the operation of a request, and sends its response. Never throws or rejects. */
  handle(exchange: ServerExchange): MaybePromise<void> {
    this.states.getState(exchange).hasBegun = true;
    return this.sender.sendResult(exchange, () =>
      mapMaybe(this.authorizer.authorizeOnce(exchange), ({ context, registeredApi, state }) =>
        registeredApi.pipeline.respond(context, state.interceptors),
      ),
    );
  }

  /** Sends the browsable page, if the request is a browser's navigation. Returns false otherwise. */
  servePage(exchange: ServerExchange): boolean {
    return servePage(exchange, this.states.getState(exchange).location);
  }

  /**
   * Sends the browsable page, or authorizes and handles a request if no enhancer of Nest and no interceptor of the model
   * runs around it. Returns false if Nest's handler has to be called.
   */
  handleDirectly(exchange: ServerExchange): boolean {
    const { location } = this.states.getState(exchange);
    if (location.kind !== 'route') return false;
    if (location.registeredApi.page && servePage(exchange, location)) return true;
    if (!this.directRoutes.has(location.match.route) || this.nest.isEnhanced()) return false;
    void yieldToMiddleware().then(() => this.handle(exchange));
    return true;
  }

  /**
   * Authorizes a request and stores the parameters of its action. Called before an action of the application runs.
   * @throws the errors of contract 6.1.
   */
  async prepareAction(exchange: ServerExchange): Promise<void> {
    this.states.getState(exchange).hasBegun = true;
    const { context, registeredApi, state } = await this.authorizer.authorizeOnce(exchange);
    const { route } = context;
    exchange.setContractHeaders(route.allow);
    const isOverride = route.actions.get(servedMethod(exchange.method))?.operation !== undefined;
    const parameters = isOverride
      ? await registeredApi.operations.prepareOverride(context, (headers) => {
          const { ETag, 'Last-Modified': modified, ...others } = headers;
          for (const [name, value] of Object.entries(others)) exchange.setHeader(name, value);
          if (ETag !== undefined)
            state.validators = modified === undefined ? { ETag } : { ETag, 'Last-Modified': modified };
        })
      : await registeredApi.operations.prepareAction(context);
    setActionContext(exchange.request, { actor: context.actor, ...parameters });
  }

  /** Whether a request gets the description of its URL in place of its data. */
  isDescriptionRequest(exchange: ServerExchange): boolean {
    const { location } = this.states.getState(exchange);
    return location.kind === 'route' && isDescriptionRequest(exchange, location.match.route);
  }

  /**
   * Sends the value that an action has returned, with status 200, 201 in place of `create`, or the one of `@HttpCode`;
   * undefined is a 204 (contract 9.5).
   */
  async sendActionResult(exchange: ServerExchange, value: unknown, code: number | undefined): Promise<void> {
    if (exchange.isResponseSent) return;
    const { context, registeredApi, state } = await this.authorizer.authorizeOnce(exchange);
    const operation = context.route.actions.get(servedMethod(exchange.method))?.operation;
    const status = code ?? statusOf(operation);
    const { validators } = state;
    const response = actionResponse(value, { status, isExplicit: code !== undefined, validators });
    await this.sender.send(
      exchange,
      operation ? registeredApi.operations.applyCacheHeaders(context, response) : response,
    );
  }

  /** Sends the value of an interceptor that has not called the operation or the action. Does nothing if it has. */
  async sendSubstitute(exchange: ServerExchange, value: unknown): Promise<void> {
    if (exchange.isResponseSent || this.states.getState(exchange).hasBegun === true) return;
    await this.sender.sendResult(exchange, () => {
      if (value === undefined)
        throw new Error(
          'An interceptor has not called the handler, and has returned no value: nothing can be sent. Return next.handle(), or of(value).',
        );
      return actionResponse(value, {
        status: exchange.responseStatus,
        isExplicit: true,
        validators: undefined,
      });
    });
  }

  /** Waits until every `afterCommit` has ended, and warns once of those that have not when the grace period is over. */
  async finishCommitCalls(): Promise<void> {
    if (this.abandonsCommitCalls) return;
    const late = new AbortController();
    const grace = pause(this.shutdownGrace, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([this.commitCalls.ended(), grace]);
    late.abort();
    const { size } = this.commitCalls;
    this.abandonsCommitCalls = size > 0;
    if (size > 0)
      this.log.warn(`Calls of afterCommit that have not ended as the application closes: ${size}.`);
  }

  /** Responds to a request that no route of Nest matched. Returns false for paths of the application. */
  async handleUnmatched(exchange: ServerExchange): Promise<boolean> {
    const { location } = this.states.getState(exchange);
    if (location.kind === 'index' && this.applicationRoutes.has(location.path)) return false;
    if (servePage(exchange, location)) return true;
    switch (location.kind) {
      case 'route':
        await this.rejectUnrouted(exchange);
        return true;
      case 'asset':
        await this.sender.sendResult(exchange, () => respondWithAsset(exchange, location));
        return true;
      case 'unknown':
        await this.sendError(exchange, new NotFound());
        return true;
      case 'index':
        await this.sender.sendResult(exchange, () =>
          respondWithIndex(exchange, location, this.executionContexts),
        );
        return true;
      case 'elsewhere':
        return false;
      default:
        return location satisfies never;
    }
  }

  /**
   * Rejects a request for a generated URL that Nest did not match: its method is unknown, or the HTTP library cannot
   * decode its path. It is never served, because the application's middleware has not run.
   */
  private async rejectUnrouted(exchange: ServerExchange): Promise<void> {
    await this.sender.sendResult(exchange, async () => {
      const { context } = await this.authorizer.admit(exchange);
      const { operations, actions } = context.route;
      const method = servedBy(context.route, exchange.method);
      throw method === 'OPTIONS' || operations.has(method) || actions.has(method)
        ? new NotFound()
        : new MethodNotAllowed(exchange.method);
    });
  }

  /** Responds to a body of an action that was rejected before any stage has run: 401, 403, 404, 406 take precedence. */
  async rejectBody(exchange: ServerExchange): Promise<void> {
    await this.sender.sendResult(exchange, async () => {
      await this.authorizer.admit(exchange);
      await this.prepareAction(exchange);
      await assertParsed(exchange);
      throw new UnsupportedMediaType('');
    });
  }

  /**
   * Reports an error that changes no response.
   * @param subject what has failed: the text of the log.
   */
  reportError(
    error: unknown,
    { subject, listener, ...call }: Pick<ErrorReport, 'subject' | 'listener'> & CallOfAnError,
  ): void {
    const state = call.request && this.states.findState(call.request);
    this.log.reportError(error, { context: describeRequest({ ...call, state }), listener, subject });
  }

  /**
   * Sends an error of a hook of the HTTP library or of middleware. Never throws or rejects. Before the request is authorized, its
   * status counts, as that of the library's own errors.
   */
  sendLibraryError(exchange: ServerExchange, error: unknown): MaybePromise<void> {
    return this.sender.sendError(exchange, error, this.states.getState(exchange).context === undefined);
  }

  /** Sends an error that other code has thrown on a generated URL. Never throws or rejects. */
  sendError(exchange: ServerExchange, error: unknown): MaybePromise<void> {
    return this.sender.sendError(exchange, error);
  }
}

/** The prefixes of the process that are booting or running, so that the second of two equal prefixes is detected. */
export class PrefixRegistry {
  private readonly claims: { readonly prefix: string; readonly owner: object }[] = [];

  /** Call it before the first `await` of a prefix's boot. */
  claim(prefix: string, owner: object): void {
    this.claims.push({ prefix, owner });
  }

  /** The prefixes that other owners have claimed too. */
  conflictingPrefixes(owner: object): readonly string[] {
    return this.claims.filter((each) => each.owner !== owner).map(({ prefix }) => prefix);
  }
}
