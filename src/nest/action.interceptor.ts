import { Inject, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { concatMap, defaultIfEmpty, defer, from, takeLast } from 'rxjs';
import type { Observable } from 'rxjs';
import { REST_SERVER } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';
import type { ActionBinding } from '../http/route-pattern.js';

const BINDINGS = new WeakMap<object, ActionBinding>();

/** Marks a handler as the application's own: what it returns is the body. It runs for the route that it was bound to, and for no other. */
export function markAction(handler: object, binding: ActionBinding): void {
  BINDINGS.set(handler, binding);
}

/** What a handler was bound to; undefined for a generated one. */
export function bindingOf(handler: object): ActionBinding | undefined {
  return BINDINGS.get(handler);
}

/**
 * Stands around the application's own actions: before, the checks that belong to `answer` up to the parent; behind,
 * what the method returned becomes the response. Interceptors of the application run inside.
 */
@Injectable()
export class RestifyActionInterceptor implements NestInterceptor {
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handler = context.getHandler();
    if (!bindingOf(handler)) return next.handle();
    const http = context.switchToHttp();
    const exchange = this.server.getExchange(http.getRequest<object>(), http.getResponse<object>());
    const code = Reflect.getMetadata('__httpCode__', handler) as number | undefined;
    return defer(() => this.server.prepareAction(exchange)).pipe(
      concatMap(() => next.handle()),
      // As Nest has it, the last value is the answer; what ends without one has none.
      takeLast(1),
      defaultIfEmpty(undefined),
      concatMap((value: unknown) => from(this.server.sendActionResult(exchange, value, code))),
    );
  }
}
