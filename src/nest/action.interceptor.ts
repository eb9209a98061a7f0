import { Inject, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { concatMap, defaultIfEmpty, defer, from, ignoreElements, takeLast } from 'rxjs';
import type { Observable } from 'rxjs';
import { sendSubstitute } from './substitute.interceptor.js';
import { OWN_ENHANCER, REST_SERVER } from './tokens.js';
import { getHandlerKind } from '../http/handler-kind.js';
import type { RestServer } from '../http/rest-server.js';

/**
 * Runs around actions of the application: before them, the checks of the pipeline up to the parent; after them, it converts
 * the result to the response. Interceptors of the application run inside of it.
 */
@Injectable()
export class RestifyActionInterceptor implements NestInterceptor {
  static readonly [OWN_ENHANCER] = true;

  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handler = context.getHandler();
    if (getHandlerKind(handler).kind === 'generated')
      return sendSubstitute(this.server, context, next.handle());
    const http = context.switchToHttp();
    const exchange = this.server.getExchange(http.getRequest<object>(), http.getResponse<object>());
    // An action that replaces an operation does not describe its URL.
    if (this.server.isDescriptionRequest(exchange))
      return defer(async () => this.server.handle(exchange)).pipe(ignoreElements());
    const code = Reflect.getMetadata('__httpCode__', handler) as number | undefined;
    return defer(() => this.server.prepareAction(exchange)).pipe(
      concatMap(() => next.handle()),
      // As in Nest, the last value is the result; undefined if there is none.
      takeLast(1),
      defaultIfEmpty(undefined),
      concatMap((value: unknown) => from(this.server.sendActionResult(exchange, value, code))),
    );
  }
}
