import { Req, RequestMapping, Res } from '@nestjs/common';
import type { RequestMethod, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { controllerDeclarations } from '../../declare/action-declaration.js';
import type { ControllerDeclaration } from '../../declare/action-declaration.js';
import { ChildPk, ParentPk } from './action-context.js';
import type { ActionBinding } from './rest-server.js';
import { markAction } from './restify-action.interceptor.js';

const ROUTE_ARGUMENTS = '__routeArguments__';

/** The part of Nest's wrapper of a controller that is used here. */
interface ControllerWrapper {
  metatype: unknown;
  instance: unknown;
}

/** A controller class of this application that joins generated endpoints. */
export interface ListedController {
  readonly declaration: ControllerDeclaration;
  readonly wrapper: ControllerWrapper;
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
      return declaration ? [{ declaration, wrapper }] : [];
    }),
  );
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
  wrapper.metatype = replacement;
  const instance: unknown = wrapper.instance;
  if (typeof instance === 'object' && instance !== null) Object.setPrototypeOf(instance, replacement.prototype as object);
  return replacement;
}

export interface ActionRoute {
  /** The name of the route's handler, unique in the class. */
  readonly name: string;
  /** The method that the application wrote. */
  readonly method: string;
  readonly pattern: string;
  readonly request: RequestMethod;
  readonly hasChild: boolean;
  readonly binding: ActionBinding;
}

/** Binds a method of the application's to a route: a function of its own with all that Nest knows of the method. */
export function addActionHandler(controller: Type, { name, method, pattern, request, hasChild, binding }: ActionRoute): void {
  const prototype = controller.prototype as Record<string, (...args: unknown[]) => unknown>;
  const written = prototype[method];
  // A second prefix finds it bound: one class answers below all of them.
  if (!written || Object.hasOwn(prototype, name)) return;
  const handler = {
    [name](this: unknown, ...args: unknown[]): unknown {
      return written.apply(this, args);
    },
  }[name];
  if (!handler) return;
  for (const key of Reflect.getMetadataKeys(written) as string[]) Reflect.defineMetadata(key, Reflect.getMetadata(key, written), handler);
  const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
  Object.defineProperty(prototype, name, descriptor);
  for (const key of Reflect.getMetadataKeys(prototype, method) as string[]) Reflect.defineMetadata(key, Reflect.getMetadata(key, prototype, method), prototype, name);
  const parameters = Reflect.getMetadata(ROUTE_ARGUMENTS, controller, method) as Readonly<Record<string, { index: number }>> | undefined;
  if (parameters && Object.keys(parameters).length > 0) Reflect.defineMetadata(ROUTE_ARGUMENTS, { ...parameters }, controller, name);
  else bindPlainParameters(prototype, name, hasChild);
  // One parameter more, which the method does not see: Nest leaves the response to us.
  Res()(prototype, name, Math.max(written.length, ...Object.values(parameters ?? {}).map(({ index }) => index + 1), 3));
  RequestMapping({ path: pattern, method: request })(prototype, name, descriptor);
  markAction(handler, binding);
}

/** `(request, pk)`, or `(request, childPk, pk)`, where none of the parameters is decorated (contract 9). */
function bindPlainParameters(prototype: object, name: string, hasChild: boolean): void {
  Req()(prototype, name, 0);
  if (hasChild) ChildPk()(prototype, name, 1);
  ParentPk()(prototype, name, hasChild ? 2 : 1);
}
