import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { concatMap, defer } from 'rxjs';
import type { Observable } from 'rxjs';
import { isReading } from '../core/schema/operation.js';
import type { RestServer } from '../http/rest-server.js';
import { assertParsed } from '../request/application-body.js';

/**
 * Runs after all interceptors, which may parse the body, of a method of the application that declares `@Body`. The method
 * does not run without a body that was sent. Throws 400, 413 and 415.
 */
export class ParsedBodyInterceptor implements NestInterceptor {
  constructor(private readonly server: RestServer) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const exchange = this.server.getExchange(http.getRequest<object>(), http.getResponse<object>());
    if (isReading(exchange.method)) return next.handle();
    return defer(() => assertParsed(exchange)).pipe(concatMap(() => next.handle()));
  }
}
