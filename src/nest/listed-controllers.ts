import { RequestMapping, RequestMethod } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { controllerDeclarationOf, OVERRIDE_NAMES } from '../decorators/action.decorator.js';
import type { ControllerDeclaration } from '../decorators/action.decorator.js';
import { DeclarationError } from '../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import {
  METADATA,
  probeController,
  replaceClass,
  routesClass,
  unknownController,
} from '../internals/nest.js';
import type { ControllerWrapper } from '../internals/nest.js';
import { isOwnEnhancer } from './tokens.js';

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
 * @throws DeclarationError if Nest describes controllers in another way.
 */
export function listedControllers(modules: ModulesContainer): readonly ListedController[] {
  const all = [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].flatMap((found: object): readonly ListedController[] => {
      const wrapper = probeController(found);
      if (!wrapper) throw new DeclarationError([unknownController('A controller')]);
      const listed = replacedClass(wrapper.metatype) ?? wrapper.metatype;
      const declaration = controllerDeclarationOf(listed);
      if (!declaration || typeof listed !== 'function') return [];
      const interceptors = (Reflect.getMetadata(METADATA.interceptors, listed) ?? []) as readonly unknown[];
      return [{ declaration, listed, wrapper, wraps: !interceptors.every(isOwnEnhancer) }];
    }),
  );
  const own = new Set(
    all.flatMap(({ declaration, listed }) => (listed === declaration.controller ? declaration : [])),
  );
  return all.filter(({ declaration, listed }) => listed === declaration.controller || !own.has(declaration));
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
 * @throws DeclarationError if Nest would route the application's class.
 */
export function routedClass({ wrapper }: ListedController): Type {
  const original = wrapper.metatype as Type;
  if (replacedClass(original)) return original;
  const holder = { [original.name]: class extends original {} };
  const replacement = holder[original.name] ?? original;
  Reflect.defineMetadata(LISTED_CLASS, original, replacement);
  // Its handlers have complete paths: the class also has nested URLs of other models that end at its model.
  Reflect.defineMetadata(METADATA.path, '/', replacement);
  if (!replaceClass(wrapper, replacement as new () => object))
    throw new DeclarationError([unknownController(original.name)]);
  return replacement;
}

/** The problem of a controller that Nest has routed with another class, known when all routes are mapped. */
export function routingProblems({ listed, wrapper }: ListedController): readonly DeclarationProblem[] {
  const { metatype } = wrapper as { readonly metatype: Type };
  const isRouted = replacedClass(metatype) === listed && routesClass(wrapper, metatype);
  return isRouted ? [] : [unknownController((listed as Type).name)];
}

const MIDDLEWARE_ROUTE_STUB = 'middlewareRouteStub';

/**
 * Makes `consumer.apply(…).forRoutes(StudentController)` apply to all URLs of its model: Nest looks for paths in the
 * application's class, but the routes are in the subclass.
 */
export function exposeToMiddleware(listed: ListedController, path: string): void {
  const controller = listed.listed as Type;
  const prototype = controller.prototype as Record<string, unknown>;
  const before: unknown = Reflect.getOwnMetadata(METADATA.path, controller);
  const paths = Array.isArray(before) ? (before as string[]) : [];
  Reflect.defineMetadata(METADATA.path, [...new Set([...paths, path])], controller);
  const descriptor = { value: (): void => undefined, writable: true, configurable: true, enumerable: false };
  // The routed subclass, one for each application, has routes of its own in place of this one.
  Object.defineProperty(routedClass(listed).prototype as object, MIDDLEWARE_ROUTE_STUB, {
    ...descriptor,
    value: undefined,
  });
  if (Object.hasOwn(prototype, MIDDLEWARE_ROUTE_STUB)) return;
  Object.defineProperty(prototype, MIDDLEWARE_ROUTE_STUB, descriptor);
  RequestMapping({ path: ['/', '/*path'], method: RequestMethod.ALL })(
    prototype,
    MIDDLEWARE_ROUTE_STUB,
    descriptor,
  );
}
