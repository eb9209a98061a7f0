import { Inject, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { OWN_ENHANCER, REST_SERVER } from './tokens.js';
import { NotFound } from '../core/errors/http-exceptions.js';
import { getHandlerKind } from '../http/handler-kind.js';
import { composeInterceptors } from './run-interceptors.js';
import type { RestServer } from '../http/rest-server.js';

/** Authorizes requests as a Nest guard, so that it runs before any method that replaces a handler. */
@Injectable()
export class RestifyGuard implements CanActivate {
  static readonly [OWN_ENHANCER] = true;

  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /** Throws the errors of contract 6.1; never returns false. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const exchange = this.server.getExchange(http.getRequest<object>(), http.getResponse<object>());
    const handler = getHandlerKind(context.getHandler());
    // The HTTP library matches paths in its own way: its route must be the authorized one.
    if (handler.kind === 'action' && !this.server.matchesBinding(exchange, handler.binding))
      throw new NotFound();
    const { interceptors } = await this.server.admit(exchange, context);
    if (interceptors.length > 0)
      this.server.setInterceptors(
        exchange,
        composeInterceptors(interceptors as readonly NestInterceptor[], context),
      );
    return true;
  }
}
