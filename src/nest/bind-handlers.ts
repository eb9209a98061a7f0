import { Req, RequestMapping, RequestMethod, Res } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor, PipeTransform, Type } from '@nestjs/common';
import { concatMap, defer } from 'rxjs';
import type { Observable } from 'rxjs';
import { isReading } from '../core/schema/operation.js';
import type { Method, Operation } from '../core/schema/operation.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { PipeLike } from '../core/contracts/enhancers.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';
import { ChildPk, getOperate, ParentPk, Pk } from '../http/action-context.js';
import type { ALL_METHODS } from '../http/execution-contexts.js';
import { setHandlerKind } from '../http/handler-kind.js';
import type { RestServer } from '../http/rest-server.js';
import { identifyRoute } from '../http/route-pattern.js';
import { assertParsed } from '../request/application-body.js';
import { BODY_PARAMETER, METADATA } from '../internals/nest.js';

/** The metadata key of @nestjs/swagger for `@ApiExcludeEndpoint`. */
const SWAGGER_EXCLUDED = 'swagger/apiExcludeEndpoint';

/** Nest's request methods by HTTP method. */
const REQUEST_METHODS: Partial<Readonly<Record<Method | typeof ALL_METHODS, RequestMethod>>> = {
  GET: RequestMethod.GET,
  POST: RequestMethod.POST,
  PUT: RequestMethod.PUT,
  PATCH: RequestMethod.PATCH,
  DELETE: RequestMethod.DELETE,
};

interface HandlerPlace {
  /** The class to which the handler is added. */
  readonly controller: Type;
  /** Unique in the class. */
  readonly name: string;
  readonly route: Route;
  /** The path without Nest's global prefix and version: `rest/v1/polls/question/:pk`. */
  readonly pattern: string;
}

/** The generated operations of a URL, for all methods. */
interface GeneratedHandler extends HandlerPlace {
  readonly kind: 'generated';
  readonly method: typeof ALL_METHODS;
  /** Whether @nestjs/swagger documents it. */
  readonly isDocumented: boolean;
}

/** A method of the application. */
interface ActionHandler extends HandlerPlace {
  readonly kind: 'action';
  readonly method: Method;
  /** The name of the action. */
  readonly action: string;
  /** The generated operation in whose place it runs. */
  readonly operation: Operation | undefined;
  /** The method of the class; undefined if the class only wraps the generated operation. */
  readonly own: string | undefined;
}

/** What Nest routes the requests of one URL to, for one method or for all. */
export type RouteHandler = GeneratedHandler | ActionHandler;

type HandlerFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Adds a handler to its class. An action that the class does not have is not bound. */
export function bindHandler(bound: RouteHandler, server: RestServer): void {
  switch (bound.kind) {
    case 'generated':
      bindGenerated(bound, server);
      break;
    case 'action':
      bindAction(bound, server);
      break;
    default:
      bound satisfies never;
  }
}

function bindGenerated(bound: GeneratedHandler, server: RestServer): void {
  const handler = (request: object, response: object): MaybePromise<void> =>
    server.handle(server.getExchange(request, response));
  routeFunction(handler, bound);
  // `RestifyOpenApi` describes it from the compiled model.
  if (!bound.isDocumented) Reflect.defineMetadata(SWAGGER_EXCLUDED, { disable: true }, handler);
  Reflect.defineMetadata(METADATA.parameters, REQUEST_AND_RESPONSE, bound.controller, bound.name);
  setHandlerKind(handler, { kind: 'generated' });
}

/** Binds a separate function with all of Nest's metadata of the method. */
function bindAction(bound: ActionHandler, server: RestServer): void {
  const { controller, route, method, action, operation, own } = bound;
  const prototype = controller.prototype as Record<string, HandlerFunction>;
  const written =
    own === undefined
      ? operation && ((request: unknown) => getOperate(request)?.(operation))
      : prototype[own];
  if (!written) return;
  const handler: HandlerFunction = function (...args) {
    return written.apply(this, args);
  };
  for (const key of Reflect.getMetadataKeys(written) as string[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, written), handler);
  routeFunction(handler, bound);
  const hasBody = bindParameters(bound, written.length);
  prependEnhancers(handler, route.resource);
  // Behind all interceptors of the application, because they may parse the body.
  if (hasBody)
    Reflect.defineMetadata(
      METADATA.interceptors,
      [...enhancersOf(METADATA.interceptors, handler), new ParsedBodyInterceptor(server)],
      handler,
    );
  setHandlerKind(handler, {
    kind: 'action',
    binding: { routeId: identifyRoute(route), method, handler: action },
  });
}

/** Defines a function as a method of its class, and routes it. */
function routeFunction(handler: object, { controller, name, pattern, method }: RouteHandler): void {
  Object.defineProperty(handler, 'name', { value: name });
  const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
  const prototype = controller.prototype as object;
  Object.defineProperty(prototype, name, descriptor);
  const request = REQUEST_METHODS[method] ?? RequestMethod.ALL;
  RequestMapping({ path: [pattern], method: request })(prototype, name, descriptor);
}

/** Nest's metadata of `(@Req() request, @Res() response)`, shared by all handlers because there can be thousands. */
const REQUEST_AND_RESPONSE = requestAndResponse();

function requestAndResponse(): unknown {
  class Example {} // eslint-disable-line @typescript-eslint/no-extraneous-class -- decorators need one
  Req()(Example.prototype, 'handle', 0);
  Res()(Example.prototype, 'handle', 1);
  return Reflect.getMetadata(METADATA.parameters, Example, 'handle');
}

/** Gives a handler the parameters of its method, of so many parameters without decorators. True if one is the body. */
function bindParameters(bound: ActionHandler, length: number): boolean {
  const { controller, name, own } = bound;
  const prototype = controller.prototype as object;
  let parameters: Readonly<Record<string, { index: number }>> = {};
  if (own !== undefined) {
    for (const key of Reflect.getMetadataKeys(prototype, own) as string[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, prototype, own), prototype, name);
    parameters = (Reflect.getMetadata(METADATA.parameters, controller, own) ?? {}) as typeof parameters;
  }
  if (Object.keys(parameters).length > 0)
    Reflect.defineMetadata(METADATA.parameters, { ...parameters }, controller, name);
  else bindPlainParameters(prototype, bound);
  // An additional response parameter, which the method does not receive, so that Nest does not send the response.
  const last = Math.max(length, ...Object.values(parameters).map(({ index }) => index + 1), 3);
  Res()(prototype, name, last);
  return Object.keys(parameters).some((key) => key.split(':')[0] === BODY_PARAMETER);
}

/**
 * `(request, pk)`, or `(request, childPk, pk)`, where none of the parameters is decorated (contract 9.2). A method that
 * replaces an operation receives the key of its object.
 */
function bindPlainParameters(prototype: object, { name, operation, route }: ActionHandler): void {
  Req()(prototype, name, 0);
  if (operation) {
    Pk()(prototype, name, 1);
    return;
  }
  const hasChild = route.kind === 'through-object';
  if (hasChild) ChildPk()(prototype, name, 1);
  ParentPk()(prototype, name, hasChild ? 2 : 1);
}

function enhancersOf(key: string, handler: object): readonly unknown[] {
  return (Reflect.getMetadata(key, handler) ?? []) as readonly unknown[];
}

/** Adds the interceptors and pipes of the model before those of the method. */
function prependEnhancers(handler: object, { interceptors, piping }: Resource): void {
  const enhancers = [
    [METADATA.interceptors, interceptors],
    [METADATA.pipes, (piping?.pipes ?? []).map(ofBodiesAndParameters)],
  ] as const;
  for (const [key, those] of enhancers)
    if (those.length > 0) Reflect.defineMetadata(key, [...those, ...enhancersOf(key, handler)], handler);
}

/** Applies pipes of the model only to input of the client, not to keys and the actor, which are already parsed. */
function ofBodiesAndParameters(pipe: PipeLike): PipeTransform {
  const own = pipe as PipeTransform<unknown, unknown>;
  return {
    transform: (value: unknown, argument) =>
      argument.type === 'body' || argument.type === 'query' ? own.transform(value, argument) : value,
  };
}

/**
 * Runs after all interceptors, which may parse the body, of a method of the application that declares `@Body`. The method
 * does not run without a body that was sent. Throws 400, 413 and 415.
 */
class ParsedBodyInterceptor implements NestInterceptor {
  constructor(private readonly server: RestServer) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const exchange = this.server.getExchange(http.getRequest<object>(), http.getResponse<object>());
    if (isReading(exchange.method)) return next.handle();
    return defer(() => assertParsed(exchange)).pipe(concatMap(() => next.handle()));
  }
}
