import type { ExecutionContext, Type } from '@nestjs/common';
import { servedMethod } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import type { ServerExchange } from './server-exchange.js';

type NestHandler = ReturnType<ExecutionContext['getHandler']>;

/** The handler that Nest would call for a request, by which guards find its metadata. */
interface BoundHandler {
  readonly controller: Type;
  readonly handler: NestHandler;
}

/** The key of the handler for all methods without a handler of their own. */
export const ALL_METHODS = 'ALL';

/** The handlers of one URL by method. */
class HandlersByMethod {
  private readonly targets = new Map<string, BoundHandler>();

  /** @param name the name of the controller's method. */
  add(method: string, controller: Type, name: string): void {
    const handler = (controller.prototype as Readonly<Record<string, NestHandler | undefined>>)[name];
    if (handler) this.targets.set(method, { controller, handler });
  }

  find(method: string): BoundHandler | undefined {
    return this.targets.get(method) ?? this.targets.get(ALL_METHODS) ?? [...this.targets.values()][0];
  }
}

/** The `ExecutionContext` of requests for which Nest calls no handler. */
export class ExecutionContexts {
  private readonly targets = new Map<Route, HandlersByMethod>();

  targetsOf(route: Route): HandlersByMethod {
    const known = this.targets.get(route) ?? new HandlersByMethod();
    this.targets.set(route, known);
    return known;
  }

  createContext(route: Route, { request, response, method }: ServerExchange): ExecutionContext {
    const target = this.targets.get(route)?.find(servedMethod(method));
    if (!target) throw new Error(`No handler is bound to the ${route.kind} of ${route.resource.id}`);
    return new RequestExecutionContext(target, request, response);
  }
}

/**
 * The `ExecutionContext` of a request for which Nest calls no handler, because its method has no route or its body was
 * rejected: authentication guards still run.
 */
class RequestExecutionContext implements ExecutionContext {
  private readonly args: readonly unknown[];

  constructor(
    private readonly target: BoundHandler,
    request: object,
    response: object,
  ) {
    this.args = [request, response, (): void => undefined];
  }

  // The caller chooses the type parameter, as with Nest's own context.
  getClass(): never {
    return this.target.controller as never;
  }

  getHandler(): NestHandler {
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
