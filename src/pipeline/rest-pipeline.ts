import { takesMany } from '../core/contracts/bulk.js';
import { MethodNotAllowed, NotFound } from '../core/errors/http-exceptions.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { METHODS, servedMethod } from '../core/schema/operation.js';
import type { Method, Operation } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import { authenticate, throwGuardError } from '../features/authentication/authenticate.stage.js';
import { challengeOf } from '../features/authentication/credentials.js';
import { writeMany } from '../features/bulk/bulk-write.stage.js';
import { readPrecondition } from '../features/conditional-requests/precondition.stages.js';
import { addValidators, applyCacheHeaders } from '../features/conditional-requests/validator.stages.js';
import { nameSearchErrors } from '../features/filtering/search-filter.js';
import { identifyIdempotentRequest } from '../features/idempotency/idempotency.stage.js';
import { authorize, authorizeMethod } from '../features/permissions/authorize.stage.js';
import { negotiateFormat } from '../features/rendering/negotiate-format.stage.js';
import { renderResult } from '../features/rendering/render.stage.js';
import { parseKeys } from '../request/parse/parse-keys.stage.js';
import { locationHeader } from '../request/resource-urls.js';
import { valueResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';
import { runStages } from '../request/rest-context.js';
import type { RestContext, Stage } from '../request/rest-context.js';
import { describeRoute } from './description/describe-route.stage.js';
import { create } from './operations/create.js';
import { destroy } from './operations/destroy.js';
import { list } from './operations/list.js';
import { purge, restore } from './operations/restore.js';
import { retrieve } from './operations/retrieve.js';
import { partialUpdate, update } from './operations/update.js';
import type { OperationDefinition, PipelineServices } from './pipeline-services.js';
import { resolveParent, resolveParentOfList } from './resolve-parent.js';

/** The same URL authorized for another method. Throws 403 and 404. */
export async function reauthorize(
  context: RestContext,
  method: string,
  { permissions: rules, adapter }: PipelineServices,
): Promise<RestContext> {
  const { route } = context;
  const fork = context.fork({
    method,
    parentCheck: undefined,
    queryAccess: undefined,
    fieldSelection: undefined,
    precondition: undefined,
    deferredChecks: [],
  });
  await authorizeMethod(fork, { rules, challenge: challengeOf(route.resource.schemes), method });
  if (route.parent) await resolveParent(adapter)(fork);
  return fork;
}

/** Runs interceptors around an operation; they may change its value, which for a list is an array or a page. */
export type InterceptorChain = (operate: () => Promise<unknown>) => Promise<unknown>;

/** The stages of one route and method: a feature that the model does not use has no stage. */
export interface RequestHandler {
  /** 406: the format of the response; 404 and 405 for what the URL does not serve. */
  readonly negotiate: readonly Stage[];
  /** 404 503: parses keys, looks up the parent, and reads what later stages need of the request. */
  readonly prepare: readonly Stage[];
  /** 400 403 404 409 412 413 415 422 428 503: plans, runs and represents; sets `context.result` or `context.response`. */
  readonly operate: readonly Stage[];
  /** Status, headers and body, 304 412; sets `context.response`. */
  readonly respond: readonly Stage[];
  /** All of these, for a request without interceptors. */
  readonly all: readonly Stage[];
}

/** The handlers of one route. OPTIONS and unsupported methods have handlers too: 401 and 403 precede 405. */
interface RouteHandlers {
  /** 401 403 404 429 503, and the status of a guard that authenticates. */
  readonly admit: readonly Stage[];
  readonly byMethod: ReadonlyMap<string, RequestHandler>;
  readonly otherwise: RequestHandler;
}

/**
 * Processes the requests below a prefix, in the order of contract 6.3: `admit`, then `respond`. `RestServer` runs both, one
 * after the other. Where guards, interceptors or filters of the application surround the request, `RestifyGuard` runs the
 * first and the handler of the generated controller the second.
 */
export class RestPipeline {
  private readonly handlers = new Map<Route, RouteHandlers>();

  constructor(readonly services: PipelineServices) {}

  /** Authenticates and authorizes. Throws 401, 403, 404, 429 and 503, and the errors of guards that authenticate. */
  admit(context: RestContext): MaybePromise<void> {
    return runStages(this.handlersOf(context.route).admit, context);
  }

  /**
   * Runs the handler: negotiation, lookup of the rows, operation, response. Interceptors surround lookup and operation.
   */
  respond(context: RestContext, interceptors?: InterceptorChain): MaybePromise<RestResponse> {
    const handler = this.handlerOf(context);
    if (interceptors) return intercept(handler, context, interceptors);
    context.needsValue = false;
    return mapMaybe(runStages(handler.all, context), () => responseOf(context));
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

/** The definitions of all operations by name. */
export const OPERATION_DEFINITIONS: Readonly<Record<Operation, OperationDefinition>> = {
  list,
  create,
  retrieve,
  update,
  partialUpdate,
  destroy,
  restore,
  purge,
};

function compileRoute(route: Route, services: PipelineServices): RouteHandlers {
  const { resource, operations, actions } = route;
  const byMethod = new Map<Method, RequestHandler>();
  for (const method of METHODS) {
    // HEAD is looked up as GET.
    const operation = operations.get(method);
    // An action has permissions of its own: the operation that it replaces is not served in its place.
    if (actions.has(method))
      byMethod.set(
        method,
        rejecting(() => new NotFound()),
      );
    else if (operation)
      byMethod.set(method, compileHandler(route, OPERATION_DEFINITIONS[operation], services));
  }
  byMethod.set('OPTIONS', responding([describeRoute(route, services.routesOf)]));
  return {
    admit: [
      authenticate(resource, services.authenticator),
      authorize(route, { rules: services.permissions, challenge: challengeOf(resource.schemes) }),
      ...(resource.guarded ? [throwGuardError] : []),
    ],
    byMethod,
    otherwise: rejecting((method) => new MethodNotAllowed(method)),
  };
}

export function compileHandler(
  route: Route,
  operation: OperationDefinition,
  services: PipelineServices,
): RequestHandler {
  const { resource } = route;
  const { adapter } = services;
  const isBulk = takesMany(route, operation.name);
  const findParent = operation.name === 'list' ? resolveParentOfList : resolveParent;
  return concatenate({
    negotiate: [negotiateFormat(resource, operation.name)],
    prepare: [
      parseKeys,
      ...identifyIdempotentRequest(resource, operation.method),
      ...(route.parent ? [findParent(adapter)] : []),
      ...(isBulk ? [] : readPrecondition(resource, operation.name, adapter)),
    ],
    operate: nameSearchErrors(resource, [
      ...operateStages(route, operation.name, services),
      // A bulk write adds them itself, to the result of a body of one object.
      ...(resource.conditional && !isBulk ? [addValidators(adapter)] : []),
    ]),
    respond: [
      ...(resource.renderers.length > 0 ? [renderResult] : []),
      respondWithResult(operation.status),
      ...applyCacheHeaders(resource),
    ],
  });
}

function concatenate(handler: Omit<RequestHandler, 'all'>): RequestHandler {
  const { negotiate, prepare, operate, respond } = handler;
  return { ...handler, all: [...negotiate, ...prepare, ...operate, ...respond] };
}

/** The stages that set the result, for one object or for many. */
function operateStages(route: Route, name: Operation, services: PipelineServices): readonly Stage[] {
  const stages = OPERATION_DEFINITIONS[name].operate(route, services);
  if (!takesMany(route, name)) return stages;
  const one = [...stages, ...(route.resource.conditional ? [addValidators(services.adapter)] : [])];
  return [
    writeMany(name, {
      ...services,
      one: (context) => runStages(one, context),
      reauthorize: (context, method) => reauthorize(context, method, services),
    }),
  ];
}

function rejecting(error: (method: string) => Error): RequestHandler {
  return responding([
    (context) => {
      throw error(context.method);
    },
  ]);
}

function responding(stages: readonly Stage[]): RequestHandler {
  return concatenate({ negotiate: stages, prepare: [], operate: [], respond: [] });
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
  if (!response) throw new Error(`No stage has made a response of ${route.resource.className}.`);
  return response;
}

/** Header of responses that an earlier request with the same `Idempotency-Key` created. */
const REPLAYED_HEADER = { 'Idempotency-Replayed': 'true' };

/** Responds with the result as JSON, unless an earlier stage has responded. */
function respondWithResult(status: 200 | 201): Stage {
  return (context) => {
    context.response ??= valueResponse(
      context.result?.status ?? status,
      context.result?.value,
      resultHeaders(context),
    );
  };
}

/** The headers that describe the result of an operation. */
export function resultHeaders(context: RestContext): Readonly<Record<string, string>> {
  const { result } = context;
  return {
    ...(result?.key ? locationHeader(result.key, context) : {}),
    ...result?.headers,
    ...(result?.isReplayed === true ? REPLAYED_HEADER : {}),
  };
}
