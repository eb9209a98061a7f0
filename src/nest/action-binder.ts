import { Req, RequestMapping, RequestMethod, Res } from '@nestjs/common';
import type { PipeTransform, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ROUTE_ARGUMENTS } from '../compiler/compile-action-body.js';
import { controllerDeclarationOf, OVERRIDE_NAMES } from '../decorators/action.decorator.js';
import type { ControllerDeclaration } from '../decorators/action.decorator.js';
import type { Operation } from '../core/schema/operation.js';
import type { PipeLike } from '../core/contracts/pipe.js';
import type { Resource } from '../core/schema/resource.js';
import { ChildPk, getOperate, ParentPk, Pk } from '../http/action-context.js';
import { setHandlerKind } from '../http/handler-kind.js';
import type { ActionBinding } from '../http/route-pattern.js';
import { ParsedBodyInterceptor } from './parsed-body.interceptor.js';
import { isOwnEnhancer } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';

/** Nest's number for `@Body()` in the keys of that metadata. */
const BODY = '3';
const INTERCEPTORS = '__interceptors__';
const PIPES = '__pipes__';

/** The used part of Nest's `InstanceWrapper` of a controller. */
interface ControllerWrapper {
  metatype: unknown;
  instance: unknown;
  isDependencyTreeStatic(): boolean;
}

/** A `@RestifyController` class of this application. */
export interface ListedController {
  readonly declaration: ControllerDeclaration;
  /** The class in the `controllers` of a module: the declared one, or a subclass by which a decorator has replaced it. */
  readonly listed: object;
  readonly wrapper: ControllerWrapper;
  /** Whether the class has interceptors, which then run around generated operations, too, and receive their results as values. */
  readonly wraps: boolean;
}

/** Metadata of the class that Nest routes: the class that a module lists. */
const LISTED_CLASS = 'restify:listed-class';

function replacedClass(metatype: unknown): object | undefined {
  return typeof metatype === 'function'
    ? (Reflect.getMetadata(LISTED_CLASS, metatype) as object | undefined)
    : undefined;
}

/**
 * All `@RestifyController` classes in the modules of this application. A decorator may have replaced a class by a subclass,
 * which a module lists in its place; beside the class itself, a subclass is a class of its own.
 */
export function listedControllers(modules: ModulesContainer): readonly ListedController[] {
  const all = [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].flatMap((wrapper: ControllerWrapper): readonly ListedController[] => {
      const listed = replacedClass(wrapper.metatype) ?? wrapper.metatype;
      const declaration = controllerDeclarationOf(listed);
      if (!declaration || typeof listed !== 'function') return [];
      return [{ declaration, listed, wrapper, wraps: hasInterceptors(listed) }];
    }),
  );
  const own = new Set(
    all.flatMap(({ declaration, listed }) => (listed === declaration.controller ? declaration : [])),
  );
  return all.filter(({ declaration, listed }) => listed === declaration.controller || !own.has(declaration));
}

function hasInterceptors(controller: object): boolean {
  const interceptors = (Reflect.getMetadata(INTERCEPTORS, controller) ?? []) as readonly unknown[];
  return !interceptors.every(isOwnEnhancer);
}

/** Own properties of the instance with names that are reserved for methods; known after Nest has created the instance. */
export function propertiesForMethods({ declaration, wrapper }: ListedController): readonly string[] {
  const { replacesOperations } = declaration;
  const instance: unknown = wrapper.instance;
  return replacesOperations && typeof instance === 'object' && instance !== null
    ? OVERRIDE_NAMES.filter((name) => Object.hasOwn(instance, name))
    : [];
}

/**
 * The class that Nest routes in place of the application's class: a subclass for each application, so that applications in
 * one process do not share handlers. Created once, before Nest maps routes.
 */
export function routedClass({ wrapper }: ListedController): Type {
  const original = wrapper.metatype as Type;
  if (replacedClass(original)) return original;
  const holder = { [original.name]: class extends original {} };
  const replacement = holder[original.name] ?? original;
  Reflect.defineMetadata(LISTED_CLASS, original, replacement);
  // Its handlers have complete paths: the class also has nested URLs of other models that end at its model.
  Reflect.defineMetadata('path', '/', replacement);
  wrapper.metatype = replacement;
  const instance: unknown = wrapper.instance;
  if (typeof instance === 'object' && instance !== null)
    Object.setPrototypeOf(instance, replacement.prototype as object);
  return replacement;
}

const EVERYTHING = 'restifyEverything';

/**
 * Makes `consumer.apply(…).forRoutes(StudentController)` apply to all URLs of its model: Nest looks for paths in the
 * application's class, but the routes are in the subclass.
 */
export function exposeToMiddleware(listed: ListedController, path: string): void {
  const controller = listed.listed as Type;
  const prototype = controller.prototype as Record<string, unknown>;
  const before: unknown = Reflect.getOwnMetadata('path', controller);
  const paths = Array.isArray(before) ? (before as string[]) : [];
  Reflect.defineMetadata('path', [...new Set([...paths, path])], controller);
  const descriptor = { value: (): void => undefined, writable: true, configurable: true, enumerable: false };
  // The routed subclass, one for each application, has routes of its own in place of this one.
  Object.defineProperty(routedClass(listed).prototype as object, EVERYTHING, {
    ...descriptor,
    value: undefined,
  });
  if (Object.hasOwn(prototype, EVERYTHING)) return;
  Object.defineProperty(prototype, EVERYTHING, descriptor);
  RequestMapping({ path: ['/', '/*path'], method: RequestMethod.ALL })(prototype, EVERYTHING, descriptor);
}

export interface ActionRoute {
  /** The name of the route's handler, unique in the class. */
  readonly name: string;
  /** The method of the application; undefined if the class only wraps the generated operation. */
  readonly method: string | undefined;
  /** The generated operation that the method replaces. */
  readonly operation: Operation | undefined;
  /** The path without Nest's global prefix and version: `rest/v1/polls/question/:pk`. */
  readonly pattern: string;
  readonly request: RequestMethod;
  readonly hasChild: boolean;
  /** The resource whose interceptors and pipes run before the method. */
  readonly resource: Resource;
  readonly binding: ActionBinding;
  readonly server: RestServer;
}

type HandlerFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Binds a method of the application to a route, by a separate function with all of Nest's metadata of the method. */
export function addActionHandler(controller: Type, route: ActionRoute): void {
  const { name, method, pattern, request, binding } = route;
  const prototype = controller.prototype as Record<string, HandlerFunction>;
  const written = method === undefined ? generatedHandler(route) : prototype[method];
  if (!written) return;
  const handler = namedFunction(name, written);
  for (const key of Reflect.getMetadataKeys(written) as string[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, written), handler);
  const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, name, descriptor);
  const parameters =
    method === undefined
      ? undefined
      : (Reflect.getMetadata(ROUTE_ARGUMENTS, controller, method) as
          Readonly<Record<string, { index: number }>> | undefined);
  if (method !== undefined)
    for (const key of Reflect.getMetadataKeys(prototype, method) as string[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, prototype, method), prototype, name);
  if (parameters && Object.keys(parameters).length > 0)
    Reflect.defineMetadata(ROUTE_ARGUMENTS, { ...parameters }, controller, name);
  else bindPlainParameters(prototype, route);
  // An additional response parameter, which the method does not receive, so that Nest does not send the response.
  Res()(
    prototype,
    name,
    Math.max(written.length, ...Object.values(parameters ?? {}).map(({ index }) => index + 1), 3),
  );
  RequestMapping({ path: [pattern], method: request })(prototype, name, descriptor);
  applyEnhancers(handler, route.resource);
  if (Object.keys(parameters ?? {}).some((key) => key.split(':')[0] === BODY))
    requireParsedBody(handler, route);
  setHandlerKind(handler, { kind: 'action', binding });
}

/** A function with this name, which only an object literal can set. */
function namedFunction(name: string, written: HandlerFunction): HandlerFunction {
  const holder = {
    [name](this: unknown, ...args: unknown[]): unknown {
      return written.apply(this, args);
    },
  };
  return holder[name] ?? written;
}

/** The handler of an operation that the class wraps without replacing it. */
function generatedHandler({ operation }: ActionRoute): HandlerFunction | undefined {
  return operation && ((request) => getOperate(request)?.(operation));
}

/** Adds the interceptors and pipes of the model before those of the method. */
function applyEnhancers(handler: object, { interceptors, piping }: Resource): void {
  const before = (key: string, those: readonly unknown[]): void => {
    if (those.length > 0)
      Reflect.defineMetadata(
        key,
        [...those, ...((Reflect.getMetadata(key, handler) ?? []) as readonly unknown[])],
        handler,
      );
  };
  before(INTERCEPTORS, interceptors);
  before(PIPES, (piping?.pipes ?? []).map(ofBodiesAndParameters));
}

/** Adds the check of the body behind all interceptors of the application, because they may parse it. */
function requireParsedBody(handler: object, { server }: ActionRoute): void {
  const own = (Reflect.getMetadata(INTERCEPTORS, handler) ?? []) as readonly unknown[];
  Reflect.defineMetadata(INTERCEPTORS, [...own, new ParsedBodyInterceptor(server)], handler);
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
 * `(request, pk)`, or `(request, childPk, pk)`, where none of the parameters is decorated (contract 9.2). A method that
 * replaces an operation receives the key of its object.
 */
function bindPlainParameters(prototype: object, { name, operation, hasChild }: ActionRoute): void {
  Req()(prototype, name, 0);
  if (operation) {
    Pk()(prototype, name, 1);
    return;
  }
  if (hasChild) ChildPk()(prototype, name, 1);
  ParentPk()(prototype, name, hasChild ? 2 : 1);
}
