import { Inject, Injectable, Catch } from '@nestjs/common';
import type {
  CanActivate,
  ExecutionContext,
  NestInterceptor,
  CallHandler,
  ArgumentsHost,
  ExceptionFilter,
} from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { defer, lastValueFrom, concatMap, defaultIfEmpty, takeLast } from 'rxjs';
import type { Observable } from 'rxjs';
import { NotFound } from '../core/errors/http-exceptions.js';
import { getHandlerKind, findHandlerKind } from '../http/handler-kind.js';
import type { RestServer } from '../http/rest-server.js';
import type { InterceptorChain } from '../pipeline/rest-pipeline.js';
import { OWN_ENHANCER, REST_SERVER, isOwnEnhancer } from './tokens.js';

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

/** Runs interceptors around an operation as Nest runs them around a handler: the first is the outermost. */
function composeInterceptors(
  interceptors: readonly NestInterceptor[],
  context: ExecutionContext,
): InterceptorChain {
  return async (operate) => {
    const handlerAt = (index: number): CallHandler<unknown> => ({
      handle: (): Observable<unknown> =>
        defer(async () =>
          index < interceptors.length
            ? lastOf(await interceptors[index]?.intercept(context, handlerAt(index + 1)))
            : operate(),
        ),
    });
    return lastOf(handlerAt(0).handle());
  };
}

/** Undefined for an observable that completes without a value. */
function lastOf(values: Observable<unknown> | undefined): Promise<unknown> {
  return values ? lastValueFrom(values, { defaultValue: undefined }) : Promise.resolve(undefined);
}

/** Converts every error of a generated route to a body of contract 6.1, including errors of the application's guards. */
@Catch()
export class RestifyExceptionFilter implements ExceptionFilter {
  static readonly [OWN_ENHANCER] = true;

  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    await this.server.sendError(
      this.server.getExchange(http.getRequest<object>(), http.getResponse<object>()),
      error,
    );
  }
}

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
