import type { Operation } from '../core/schema/operation.js';
import type { Route, UrlKeys } from '../core/schema/route.js';
import { challengeOf } from '../features/authentication/credentials.js';
import { withCacheHeaders } from '../features/conditional-requests/validator.stages.js';
import type { RowPages } from '../features/field-selection/expanded-list.js';
import { authorizeMethod, requiredMethod } from '../features/permissions/authorize.stage.js';
import type { RestResponse } from '../request/response/rest-response.js';
import type { RestContext, Stage } from '../request/rest-context.js';
import { runStages } from '../request/rest-context.js';
import { openList, planListRows, readAll, withAggregates } from './operations/list.js';
import { prepareAction, prepareOverride } from './override.js';
import type { ActionArguments, Override } from './override.js';
import { resolveParent } from './resolve-parent.js';
import { compileHandler, OPERATION_DEFINITIONS } from './rest-pipeline.js';
import type { RequestHandler } from './rest-pipeline.js';
import type { PipelineServices } from './pipeline-services.js';

/** One operation of a route, as run by methods of the application. */
interface OperationStages {
  readonly handler: RequestHandler;
  /** Without HTTP: one object, or complete lists. */
  readonly alone: readonly Stage[];
}

/**
 * What the code of the application calls: the checks around its actions and overrides, and operations without HTTP. They
 * run the same stages as requests.
 */
export class ApplicationOperations {
  private readonly operations = new Map<Route, Map<Operation, OperationStages>>();

  constructor(private readonly services: PipelineServices) {}

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
      handlerOf: (operation) => this.operationStages(context.route, operation).handler,
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
    await authorizeMethod(context, {
      rules,
      challenge,
      method: requiredMethod(context.route, context.method),
    });
    context.keys = keys();
    if (context.route.parent) await resolveParent(adapter)(context);
    return context;
  }

  /** Runs operations in a transaction of the application, if there is one. */
  join<Result>(manager: object | undefined, work: () => Promise<Result>): Promise<Result> {
    return manager === undefined ? work() : this.services.adapter.join(manager, work);
  }

  /** Runs one operation without HTTP: a list is complete, whatever the pagination of the model. */
  async run(operation: Operation, context: RestContext): Promise<unknown> {
    await runStages(this.operationStages(context.route, operation).alone, context);
    return context.result?.value;
  }

  /** Reads a complete list, page by page. */
  async openList(context: RestContext): Promise<RowPages> {
    // It is authorized for aggregates alone.
    if (context.isAggregate) throw new Error('Aggregates are read by aggregate(), and not row by row.');
    await runStages(planListRows(context.route, this.services), context);
    return openList(context, this.services.adapter);
  }

  private operationStages(route: Route, operation: Operation): OperationStages {
    let known = this.operations.get(route);
    if (!known) this.operations.set(route, (known = new Map<Operation, OperationStages>()));
    let stages = known.get(operation);
    if (!stages) known.set(operation, (stages = compileOperation(route, operation, this.services)));
    return stages;
  }
}

function compileOperation(route: Route, operation: Operation, services: PipelineServices): OperationStages {
  const definition = OPERATION_DEFINITIONS[operation];
  return {
    handler: compileHandler(route, definition, services),
    alone:
      operation === 'list'
        ? withAggregates(route, services, [...planListRows(route, services), readAll(services.adapter)])
        : definition.operate(route, services),
  };
}
