import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { concatMap, defaultIfEmpty, takeLast } from 'rxjs';
import type { Observable } from 'rxjs';
import { findHandlerKind } from '../http/handler-kind.js';
import type { RestServer } from '../http/rest-server.js';
import { isOwnEnhancer, OWN_ENHANCER } from './tokens.js';

/**
 * Sends the value with which an interceptor of the application responds in place of a generated operation or an action. Nest
 * itself sends nothing, because the handlers receive the response object.
 */
export class SubstituteInterceptor implements NestInterceptor {
  static readonly [OWN_ENHANCER] = true;

  constructor(private readonly server: RestServer) {}

  /** Adds one around the global interceptors, if there are any. Nest reads them when it registers its routes. */
  static add(config: ApplicationConfig | undefined, server: RestServer): void {
    const interceptors = config?.getGlobalInterceptors() ?? [];
    const hasOthers = interceptors.length > 0 || (config?.getGlobalRequestInterceptors().length ?? 0) > 0;
    if (hasOthers && !interceptors.some((each) => isOwnEnhancer(each.constructor)))
      interceptors.unshift(new SubstituteInterceptor(server));
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return findHandlerKind(context.getHandler())
      ? sendSubstitute(this.server, context, next.handle())
      : next.handle();
  }
}

/** Passes values on; where nothing has been sent for the last one, sends it. */
export function sendSubstitute(
  server: RestServer,
  context: ExecutionContext,
  values: Observable<unknown>,
): Observable<unknown> {
  const http = context.switchToHttp();
  const exchange = server.getExchange(http.getRequest<object>(), http.getResponse<object>());
  return values.pipe(
    takeLast(1),
    defaultIfEmpty(undefined),
    concatMap(async (value) => {
      await server.sendSubstitute(exchange, value);
      return value;
    }),
  );
}
