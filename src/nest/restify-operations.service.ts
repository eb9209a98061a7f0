import { Inject, Injectable } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Operation } from '../core/schema/operation.js';
import { REST_SERVER } from './tokens.js';
import { listCurrentOperations } from '../http/current-operations.js';
import type { RestServer } from '../http/rest-server.js';

/**
 * The operations that a request asks for, for guards and interceptors: the method does not tell them.
 *
 * ```ts
 * canActivate(context: ExecutionContext): boolean {
 *   return !this.operations.of(context).includes('update') || isEditor(context);
 * }
 * ```
 */
@Injectable()
export class RestifyOperations {
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /**
   * `create` and `update` for an upsert. None for OPTIONS, for a method that the URL does not serve, for an action that is
   * no operation, and for a URL that is not generated. Also before the model's own guards, in a global one.
   */
  of(context: ExecutionContext): readonly Operation[] {
    const http = context.switchToHttp();
    const exchange = this.server.getExchange(http.getRequest<object>(), http.getResponse<object>());
    const place = this.server.findTarget(exchange);
    return place?.kind === 'route' ? listCurrentOperations(place.match.route, exchange) : [];
  }
}
