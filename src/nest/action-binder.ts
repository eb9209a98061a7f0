import { Req, RequestMapping, RequestMethod, Res } from '@nestjs/common';
import type { PipeTransform, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { controllerDeclarations, OVERRIDE_NAMES } from '../decorators/action.decorator.js';
import type { ControllerDeclaration } from '../decorators/action.decorator.js';
import type { Operation } from '../core/schema/operation.js';
import type { PipeLike } from '../core/contracts/pipe.js';
import type { Resource } from '../core/schema/resource.js';
import { ChildPk, getOperate, ParentPk, Pk } from '../http/action-context.js';
import type { ActionBinding } from '../http/route-pattern.js';
import { markAction, RestifyActionInterceptor } from './action.interceptor.js';

/** Under which Nest keeps what the parameters of a handler are. */
export const ROUTE_ARGUMENTS = '__routeArguments__';
const INTERCEPTORS = '__interceptors__';
const PIPES = '__pipes__';

/** The part of Nest's wrapper of a controller that is used here. */
interface ControllerWrapper {
  metatype: unknown;
  instance: unknown;
  isDependencyTreeStatic(): boolean;
}

/** A controller class of this application that joins generated endpoints. */
export interface ListedController {
  readonly declaration: ControllerDeclaration;
  readonly wrapper: ControllerWrapper;
  /** Whether interceptors of the class stand around generated answers, which are values to them then. */
  readonly wraps: boolean;
}

/** Wrappers by the class that the application wrote, kept when the class is replaced for routing. */
const REPLACED = new WeakMap<object, { original: object; replacement: Type }>();

/** All `@RestifyController` classes that modules of this application list. */
export function listedControllers(modules: ModulesContainer): readonly ListedController[] {
  const declared = controllerDeclarations();
  return [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].flatMap((wrapper: ControllerWrapper): readonly ListedController[] => {
      const original = REPLACED.get(wrapper)?.original ?? wrapper.metatype;
      const declaration = typeof original === 'function' ? declared.get(original) : undefined;
      return declaration ? [{ declaration, wrapper, wraps: hasInterceptors(declaration.controller) }] : [];
    }),
  );
}

function hasInterceptors(controller: object): boolean {
  const interceptors = (Reflect.getMetadata(INTERCEPTORS, controller) ?? []) as readonly unknown[];
  return interceptors.some((each) => each !== RestifyActionInterceptor);
}

/** Own properties of the instance under names that are for methods of the class; known once Nest has made it. */
export function propertiesForMethods({ declaration, wrapper }: ListedController): readonly string[] {
  const { replacesOperations } = declaration;
  const instance: unknown = wrapper.instance;
  return replacesOperations && typeof instance === 'object' && instance !== null
    ? OVERRIDE_NAMES.filter((name) => Object.hasOwn(instance, name))
    : [];
}

/**
 * The class that Nest routes in place of the application's own: a subclass, one an application, so that applications
 * in one process do not see each other's handlers. Made once, before Nest maps routes.
 */
export function routedClass({ wrapper }: ListedController): Type {
  const known = REPLACED.get(wrapper);
  if (known) return known.replacement;
  const original = wrapper.metatype as Type;
  const holder = { [original.name]: class extends original {} };
  const replacement = holder[original.name] ?? original;
  REPLACED.set(wrapper, { original, replacement });
  // Its handlers have whole paths: the class also holds URLs of other models that lead to its own.
  Reflect.defineMetadata('path', '/', replacement);
  wrapper.metatype = replacement;
  const instance: unknown = wrapper.instance;
  if (typeof instance === 'object' && instance !== null)
    Object.setPrototypeOf(instance, replacement.prototype as object);
  return replacement;
}

const EVERYTHING = 'restifyEverything';

/**
 * Lets `consumer.apply(…).forRoutes(StudentController)` mean all URLs of its model: Nest looks for paths on the class that the
 * application wrote, and its routes are on another.
 */
export function exposeToMiddleware(listed: ListedController, path: string): void {
  const controller = listed.declaration.controller as Type;
  const prototype = controller.prototype as Record<string, unknown>;
  const before: unknown = Reflect.getOwnMetadata('path', controller);
  const paths = Array.isArray(before) ? (before as string[]) : [];
  Reflect.defineMetadata('path', [...new Set([...paths, path])], controller);
  const descriptor = { value: (): void => undefined, writable: true, configurable: true, enumerable: false };
  // What is routed, in each application a class of its own, has routes of its own, and not this one.
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
  /** The method that the application wrote; undefined where it wraps an operation that it does not write. */
  readonly method: string | undefined;
  /** The generated operation that it stands in the place of. */
  readonly operation: Operation | undefined;
  /** Below all prefixes of Nest's own: `rest/v1/polls/question/:pk`. */
  readonly pattern: string;
  readonly request: RequestMethod;
  readonly hasChild: boolean;
  /** Whose interceptors and pipes it stands behind. */
  readonly resource: Resource;
  readonly binding: ActionBinding;
}

type HandlerFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Binds a method of the application's to a route: a function of its own with all that Nest knows of the method. */
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
  // One parameter more, which the method does not see: Nest leaves the response to us.
  Res()(
    prototype,
    name,
    Math.max(written.length, ...Object.values(parameters ?? {}).map(({ index }) => index + 1), 3),
  );
  RequestMapping({ path: [pattern], method: request })(prototype, name, descriptor);
  applyEnhancers(handler, route.resource);
  markAction(handler, binding);
}

/** A function under that name, which an object literal alone can give. */
function namedFunction(name: string, written: HandlerFunction): HandlerFunction {
  const holder = {
    [name](this: unknown, ...args: unknown[]): unknown {
      return written.apply(this, args);
    },
  };
  return holder[name] ?? written;
}

/** What answers where the class wraps an operation that it does not write. */
function generatedHandler({ operation }: ActionRoute): HandlerFunction | undefined {
  return operation && ((request) => getOperate(request)?.(operation));
}

/** The model's interceptors and pipes, in front of the method's own. */
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

/** A model's pipe is for what the client sends: keys and the actor are compiled already. */
function ofBodiesAndParameters(pipe: PipeLike): PipeTransform {
  const own = pipe as PipeTransform<unknown, unknown>;
  return {
    transform: (value: unknown, argument) =>
      argument.type === 'body' || argument.type === 'query' ? own.transform(value, argument) : value,
  };
}

/**
 * `(request, pk)`, or `(request, childPk, pk)`, where none of the parameters is decorated (contract 9.2). A method that
 * replaces an operation is told the key of its object.
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
