import { Scope } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import { types } from 'node:util';
import { DeclarationError } from '../core/errors/declaration-error.js';
import { METADATA } from '../internals/nest.js';
import type { InjectableClass } from '../decorators/model-options.js';

/** The used part of Nest's `InstanceWrapper` of a provider. */
interface InstanceWrapper {
  readonly instance: unknown;
  readonly isTransient: boolean;
  /** False for a provider that is created for each request. */
  isDependencyTreeStatic(): boolean;
}

/**
 * Resolves a class of a declaration: the application's provider of any module, else a new instance. A provider may not be
 * initialized while the prefix boots, so it is looked up at each use.
 */
export async function resolveProvider(
  type: InjectableClass<unknown>,
  { moduleRef, modules }: { moduleRef: ModuleRef; modules: ModulesContainer },
): Promise<unknown> {
  if (typeof type !== 'function') {
    throw new DeclarationError([
      {
        where: 'filterBackends, permissions, guards, interceptors, pipes or serializer',
        what: `${String(type)} is not a class`,
        repair: 'Look for files that import each other in a circle.',
      },
    ]);
  }
  const token = type as unknown as Type;
  const wrapper = findWrapper(token, modules);
  if (wrapper?.isDependencyTreeStatic() === false) throw severalInstances(token, 'request');
  rejectTransient(token, wrapper);
  return wrapper ? lazyProvider(token, wrapper) : await createInstance(token, moduleRef);
}

/** @throws DeclarationError for a class of which there are several instances, even for one request. */
export function rejectTransient(token: Type, wrapper: InstanceWrapper | undefined): void {
  if (wrapper?.isTransient === true) throw severalInstances(token, 'class that injects it');
}

/**
 * The application's provider of a class, as `ModuleRef.get` finds it: the last one, also of a guard that a controller uses,
 * which `overrideGuard` of a test replaces.
 */
export function findWrapper(token: Type, modules: ModulesContainer): InstanceWrapper | undefined {
  const all = [...modules.values()];
  if (!all.some(({ providers }) => providers.has(token))) return undefined;
  return all
    .flatMap(({ providers, injectables }) => [providers.get(token), injectables.get(token)])
    .filter((each) => each !== undefined)
    .at(-1);
}

function severalInstances({ name }: Type, user: string): DeclarationError {
  return new DeclarationError([
    {
      where: name,
      what: `it is created for each ${user}, while this option keeps one instance`,
      repair:
        'Give it the default scope; its methods get the actor, and those of permissions and guards the request, too.',
    },
  ]);
}

function scopeOf(token: Type): Scope | undefined {
  const options = Reflect.getMetadata(METADATA.scope, token) as { readonly scope?: Scope } | undefined;
  return options?.scope;
}

/** Creates an instance of a class that no module provides; its dependencies must be global. */
export async function createInstance(token: Type, moduleRef: ModuleRef): Promise<unknown> {
  if (scopeOf(token) === Scope.REQUEST) throw severalInstances(token, 'request');
  try {
    return await moduleRef.create<unknown>(token);
  } catch (error) {
    if (
      (error as { name?: unknown }).name !== 'UnknownDependenciesException' &&
      !/can't resolve dependencies/i.test(String(error))
    )
      throw error;
    throw new DeclarationError([
      {
        where: token.name,
        what: 'no module lists it, and it has dependencies',
        repair: `Add ${token.name} to the providers of the module that has them.`,
      },
    ]);
  }
}

/** A proxy of the provider, whose instance Nest replaces while it boots. */
function lazyProvider(token: Type, provider: InstanceWrapper): object {
  return new Proxy(Object.create(token.prototype as object) as object, {
    get: (_target, key): unknown => {
      // Nest may find a dependency of the scope REQUEST after the prefix has booted. The instance would lack all of them.
      if (!provider.isDependencyTreeStatic()) throw severalInstances(token, 'request');
      // While the prefix boots, this can be the prototype, whose methods work without dependencies, or null for a factory.
      const instance = provider.instance as object | null;
      if (key === 'constructor') return instance ? unchangedClassOf(instance) : undefined;
      // Read by `await`.
      if (!instance && key === 'then') return undefined;
      if (!instance) throw new Error(`${token.name} is used before its factory has created it.`);
      const value: unknown = Reflect.get(instance, key);
      return typeof value === 'function' ? (value.bind(instance) as unknown) : value;
    },
  });
}

/**
 * The class of an instance, by which built-in classes are known; undefined if methods of the instance replace those of its
 * class.
 */
function unchangedClassOf(instance: object): unknown {
  const prototype = Reflect.getPrototypeOf(instance);
  const isChanged =
    types.isProxy(instance) ||
    Reflect.ownKeys(instance).some((key) => typeof Reflect.get(instance, key) === 'function');
  return !isChanged && prototype && Object.hasOwn(prototype, 'constructor')
    ? (prototype as { readonly constructor: unknown }).constructor
    : undefined;
}
