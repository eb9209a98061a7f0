import { Inject, Injectable } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { takesMany } from '../core/contracts/bulk.js';
import { servedMethod } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import { parseUpsert } from '../features/bulk/bulk-write.stage.js';
import type { RestServer } from '../http/rest-server.js';
import type { HttpExchange } from '../request/http-exchange.js';
import { parseQueryString } from '../request/parse/parse-query-string.js';
import { REST_SERVER } from './tokens.js';

/**
 * Returns the operations of a request, for guards and interceptors: they cannot be derived from the method.
 *
 * ```ts
 * canActivate(context: ExecutionContext): boolean {
 *   return !this.operations.of(context).includes('update') || isEditor(context);
 * }
 * ```
 */
@Injectable()
export class RestifyOperations {
  /** @internal */
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /**
   * `create` and `update` for an upsert. None for OPTIONS, for a method that the URL does not support, for an action that is
   * not an operation, and for other URLs. Can be used in global guards, too.
   */
  of(context: ExecutionContext): readonly Operation[] {
    const http = context.switchToHttp();
    const exchange = this.server.getExchange(http.getRequest<object>(), http.getResponse<object>());
    const place = this.server.findTarget(exchange);
    return place?.kind === 'route' ? listCurrentOperations(place.match.route, exchange) : [];
  }
}

/** The operations that a request to this route performs. */
function listCurrentOperations(
  route: Route,
  exchange: Pick<HttpExchange, 'method' | 'query'>,
): readonly Operation[] {
  const method = servedMethod(exchange.method);
  const action = route.actions.get(method);
  const operation = action ? action.operation : route.operations.get(method);
  if (!operation) return [];
  return operation === 'create' && takesMany(route, operation) && mayUpsert(route, exchange)
    ? ['create', 'update']
    : [operation];
}

/** Whether the query may request an upsert. An invalid parameter is rejected later. */
function mayUpsert({ resource }: Route, { query }: Pick<HttpExchange, 'query'>): boolean {
  const { bulk } = resource;
  if (!bulk || bulk.upsert.length === 0) return false;
  try {
    return parseUpsert(parseQueryString(query), bulk, resource);
  } catch {
    return true;
  }
}
