import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { servedMethod } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import { challengeOf } from '../features/authentication/challenge.js';
import { authorizeMethod } from '../features/permissions/authorize.stage.js';
import type { UrlKeys } from '../request/parse/parse-url-keys.js';
import { withCacheHeaders } from '../features/conditional-requests/conditional.stages.js';
import type { RowPages } from '../features/field-selection/expanded-list.js';
import { nameSearchErrors } from '../features/filtering/name-search-errors.js';
import type { RestContext } from '../request/rest-context.js';
import type { RestResponse } from '../request/response/rest-response.js';
import type { Stage } from '../request/stage.js';
import { openList, planListRows, readAll } from './operations/list.js';
import { prepareAction, prepareOverride } from './override.js';
import type { ActionArguments, Override } from './override.js';
import { resolveParent } from './resolve-parent.js';
import { compileHandler, compileRoute, OPERATION_DEFINITIONS } from './request-handler.js';
import type { RequestHandler, RouteHandlers } from './request-handler.js';
import { runStages } from '../request/stage.js';
import { pipelineServices } from './services.js';
import type { PipelineParts, PipelineServices } from './services.js';

/** Runs interceptors around an operation; they may change its value, which for a list is an array or a page. */
export type InterceptorChain = (operate: () => Promise<unknown>) => Promise<unknown>;

/**
 * Processes the requests below a prefix, in the order of contract 6.3: `admit`, run by the Nest guard, then `answer`, run
 * by the generated handler. The stages of each route and method are in `request-handler.ts`.
 */
export class RestPipeline {
  readonly services: PipelineServices;
  private readonly handlers = new Map<Route, RouteHandlers>();
  private readonly operations = new Map<Route, Map<Operation, OperationStages>>();

  constructor(parts: PipelineParts) {
    this.services = pipelineServices(parts);
  }

  /** Authenticates and authorizes. Throws 401, 403, 404, 429 and 503, and the errors of guards that authenticate. */
  admit(context: RestContext): MaybePromise<void> {
    return runStages(this.handlersOf(context.route).admit, context);
  }

  /**
   * Runs the handler: negotiation, lookup of the rows, operation, response. Interceptors surround lookup and operation.
   */
  answer(context: RestContext, interceptors?: InterceptorChain): MaybePromise<RestResponse> {
    const handler = this.handlerOf(context);
    return nameSearchErrors(context.route.resource, () => {
      if (interceptors) return intercept(handler, context, interceptors);
      context.needsValue = false;
      return mapMaybe(runStages(handler.all, context), () => responseOf(context));
    });
  }

  /** Prepares an action of the application: checks `Accept` and the keys in the URL. Throws 404 and 406. */
  prepareAction(context: RestContext): Promise<ActionArguments> {
    return prepareAction(context, this.services);
  }

  /**
   * Prepares a method that replaces an operation: checks `Accept`, keys, parent and precondition. The method can run the
   * generated operation, or another one of the same URL, for which the caller is authorized again. `onHeaders` receives
   * the response headers of each.
   */
  prepareOverride(
    context: RestContext,
    onHeaders: (headers: Readonly<Record<string, string>>) => void,
  ): Promise<Override> {
    return prepareOverride(context, {
      services: this.services,
      handlerOf: (operation) => this.operationHandler(context.route, operation),
      onHeaders,
    });
  }

  /** Sets cache headers on the response of a method that replaced an operation. Throws 412. */
  applyCacheHeaders(context: RestContext, response: RestResponse): RestResponse {
    const { conditional, cacheControl } = context.route.resource;
    if (!conditional && !cacheControl) return response;
    context.isIntercepted = true;
    return withCacheHeaders(response, context);
  }

  /** Authorizes an operation that the application runs itself, then resolves its parent. Throws 401, 403 and 404. */
  async begin(context: RestContext, keys: () => UrlKeys): Promise<RestContext> {
    const { resource } = context.route;
    const { permissions: rules, adapter } = this.services;
    const challenge = challengeOf(resource.schemes);
    await authorizeMethod(context, { rules, challenge, method: context.method });
    context.keys = keys();
    if (context.route.parent) await resolveParent(adapter)(context);
    return context;
  }

  /** Runs one operation without HTTP: a list is complete, whatever the pagination of the model. */
  async run(operation: Operation, context: RestContext): Promise<unknown> {
    await runStages(this.operationStages(context.route, operation).alone, context);
    return context.result?.value;
  }

  /** Reads a complete list, page by page. */
  async openList(context: RestContext): Promise<RowPages> {
    await runStages(planListRows(context.route, this.services), context);
    return openList(context, this.services.adapter);
  }

  private operationHandler(route: Route, operation: Operation): RequestHandler {
    return this.operationStages(route, operation).handler;
  }

  private operationStages(route: Route, operation: Operation): OperationStages {
    let known = this.operations.get(route);
    if (!known) this.operations.set(route, (known = new Map<Operation, OperationStages>()));
    let stages = known.get(operation);
    if (!stages) known.set(operation, (stages = compileOperation(route, operation, this.services)));
    return stages;
  }

  private handlerOf({ route, method }: RestContext): RequestHandler {
    const { byMethod, otherwise } = this.handlersOf(route);
    return byMethod.get(servedMethod(method)) ?? otherwise;
  }

  /** Compiled on the first request of a route, and cached. */
  private handlersOf(route: Route): RouteHandlers {
    let handlers = this.handlers.get(route);
    if (!handlers) {
      handlers = compileRoute(route, this.services);
      this.handlers.set(route, handlers);
    }
    return handlers;
  }
}

/** One operation of a route, as run by methods of the application. */
interface OperationStages {
  readonly handler: RequestHandler;
  /** Without HTTP: one object, or complete lists. */
  readonly alone: readonly Stage[];
}

function compileOperation(route: Route, operation: Operation, services: PipelineServices): OperationStages {
  const definition = OPERATION_DEFINITIONS[operation];
  return {
    handler: compileHandler(route, definition, services),
    alone:
      operation === 'list'
        ? [...planListRows(route, services), readAll(services.adapter)]
        : definition.operate(route, services),
  };
}

/** An interceptor may run the operation more than once or not at all, and may change its value. */
async function intercept(
  handler: RequestHandler,
  context: RestContext,
  interceptors: InterceptorChain,
): Promise<RestResponse> {
  await runStages(handler.negotiate, context);
  // OPTIONS is not an operation.
  if (context.response) return context.response;
  let operated: RestContext | undefined;
  let result: RestContext['result'];
  const value = await interceptors(async () => {
    const attempt = context.fork();
    await runStages(handler.prepare, attempt);
    operated = attempt;
    await runStages(handler.operate, attempt);
    result = attempt.result;
    return result?.value;
  });
  const last = operated ?? context;
  // A value that no operation returned is sent as JSON.
  if (!operated) last.renderer = undefined;
  last.result = { ...result, value };
  last.response = undefined;
  last.isIntercepted = true;
  await runStages(handler.respond, last);
  return responseOf(last);
}

function responseOf({ response, route }: RestContext): RestResponse {
  if (!response) throw new Error(`No stage has made a response of ${route.resource.label}.`);
  return response;
}
