import type { ExecutionContext, Type } from '@nestjs/common';
import { servedMethod } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import type { ServerExchange } from './server-exchange.js';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** What Nest would call for a request, so that guards find its metadata. */
interface ContextTarget {
  readonly controller: Type;
  readonly handler: Handler;
}

/** In the place of a method: all that have no handler of their own. */
export const ALL = 'ALL';

/** The handlers at one URL, by method. */
class UrlTargets {
  private readonly targets = new Map<string, ContextTarget>();

  /** `name` is that of a method of the class. */
  add(method: string, controller: Type, name: string): void {
    const handler = (controller.prototype as Readonly<Record<string, Handler | undefined>>)[name];
    if (handler) this.targets.set(method, { controller, handler });
  }

  of(method: string): ContextTarget | undefined {
    return this.targets.get(method) ?? this.targets.get(ALL) ?? [...this.targets.values()][0];
  }
}

/** The `ExecutionContext` of requests for which Nest calls no handler. */
export class ExecutionContexts {
  private readonly urls = new Map<Route, UrlTargets>();

  at(route: Route): UrlTargets {
    const known = this.urls.get(route) ?? new UrlTargets();
    this.urls.set(route, known);
    return known;
  }

  of(route: Route, { request, response, method }: ServerExchange): ExecutionContext {
    const target = this.urls.get(route)?.of(servedMethod(method));
    if (!target) throw new Error(`No handler stands at ${route.kind} of ${route.resource.id}`);
    return new RequestExecutionContext(target, request, response);
  }
}

/**
 * The `ExecutionContext` of a request for which Nest calls no handler, because its method is not routed or its body was
 * refused: guards that stand for authentication are asked all the same.
 */
class RequestExecutionContext implements ExecutionContext {
  private readonly args: readonly unknown[];

  constructor(
    private readonly target: ContextTarget,
    request: object,
    response: object,
  ) {
    this.args = [request, response, (): void => undefined];
  }

  // The caller says of which type it takes something to be, as with Nest's own.
  getClass(): never {
    return this.target.controller as never;
  }

  getHandler(): Handler {
    return this.target.handler;
  }

  getArgs(): never {
    return [...this.args] as never;
  }

  getArgByIndex(index: number): never {
    return this.args[index] as never;
  }

  getType(): never {
    return 'http' as never;
  }

  switchToHttp(): ReturnType<ExecutionContext['switchToHttp']> {
    const [request, response, next] = this.args;
    return {
      getRequest: () => request as never,
      getResponse: () => response as never,
      getNext: () => next as never,
    };
  }

  switchToRpc(): never {
    throw new Error('This is a request over HTTP.');
  }

  switchToWs(): never {
    throw new Error('This is a request over HTTP.');
  }
}
