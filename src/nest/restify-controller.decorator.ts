import { Controller, Inject, Injectable } from '@nestjs/common';
import type { Type, CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { actionsOf, declareController, overridesOf } from '../decorators/action.decorator.js';
import { RestifyExceptionFilter, RestifyGuard, sendSubstitute } from './controller-enhancers.js';
import { METADATA } from '../internals/nest.js';
import { isOwnEnhancer, OWN_ENHANCER, REST_SERVER } from './tokens.js';
import { concatMap, defaultIfEmpty, defer, from, ignoreElements, takeLast } from 'rxjs';
import type { Observable } from 'rxjs';
import { getHandlerKind } from '../http/handler-kind.js';
import type { RestServer } from '../http/rest-server.js';

/**
 * Runs around actions of the application: before them, the checks of the pipeline up to the parent; after them, it converts
 * the result to the response. Interceptors of the application run inside of it.
 */
@Injectable()
class RestifyActionInterceptor implements NestInterceptor {
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
    const code = Reflect.getMetadata(METADATA.httpCode, handler) as number | undefined;
    return defer(() => this.server.prepareAction(exchange)).pipe(
      concatMap(() => next.handle()),
      // As in Nest, the last value is the result; undefined if there is none.
      takeLast(1),
      defaultIfEmpty(undefined),
      concatMap((value: unknown) => from(this.server.sendActionResult(exchange, value, code))),
    );
  }
}

/**
 * Declares a controller class with actions and overrides for the generated endpoints of an entity, in every prefix. List it
 * in the `controllers` of a module like any other; all features of Nest work in it.
 */
export function RestifyController(entity: object): ClassDecorator {
  return (target) => {
    const controller = target as unknown as Type;
    Controller()(controller);
    // Before the guards and filters of the class, so that authorization always runs first; Nest calls the last filter first.
    prepend(METADATA.guards, RestifyGuard, controller);
    prepend(METADATA.interceptors, RestifyActionInterceptor, controller);
    prepend(METADATA.filters, RestifyExceptionFilter, controller);
    declareController({
      controller,
      name: controller.name,
      entity,
      actions: actionsOf(controller),
      plainRoutes: plainRoutes(controller),
      ...overridesOf(controller),
    });
  };
}

function plainRoutes(controller: Type): readonly string[] {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(controller.prototype as object));
  return methods.flatMap(([name, { value }]) =>
    typeof value === 'function' &&
    name !== 'constructor' &&
    Reflect.hasMetadata(METADATA.path, value as object)
      ? name
      : [],
  );
}

/** Reads own metadata only, so that a subclass does not get our guards and filters twice. */
function prepend(key: string, enhancer: Type, controller: Type): void {
  const own = (Reflect.getMetadata(key, controller) ?? []) as readonly unknown[];
  Reflect.defineMetadata(key, [enhancer, ...own.filter((each) => !isOwnEnhancer(each))], controller);
}
