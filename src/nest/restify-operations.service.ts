import { Inject, Injectable } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Operation } from '../core/schema/operation.js';
import { REST_SERVER } from './tokens.js';
import { listCurrentOperations } from '../http/current-operations.js';
import type { RestServer } from '../http/rest-server.js';

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
