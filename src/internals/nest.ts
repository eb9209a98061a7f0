import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import { QUERY_METHOD } from '../core/schema/operation.js';
import { describePackage } from './installed-version.js';

/** The keys of Nest's metadata of classes and methods. */
export const METADATA = {
  guards: '__guards__',
  interceptors: '__interceptors__',
  filters: '__exceptionFilters__',
  pipes: '__pipes__',
  parameters: '__routeArguments__',
  path: 'path',
  httpCode: '__httpCode__',
  scope: 'scope:options',
} as const;

/** Nest's number for `@Body()` in the keys of the metadata of a method's parameters. */
export const BODY_PARAMETER = '3';

type DecorateClass = (target: new () => object) => void;
type DecorateMethod = (target: object, name: string, descriptor: PropertyDescriptor) => unknown;

/** Nest's documented decorators that write this metadata. */
export interface NestDecorators {
  readonly UseGuards: (enhancer: new () => object) => DecorateClass;
  readonly UseInterceptors: (enhancer: new () => object) => DecorateClass;
  readonly UseFilters: (enhancer: new () => object) => DecorateClass;
  readonly UsePipes: (enhancer: new () => object) => DecorateClass;
  readonly Controller: (path: string) => DecorateClass;
  readonly Injectable: (options: { readonly scope: number }) => DecorateClass;
  readonly HttpCode: (code: number) => DecorateMethod;
  readonly Body: () => (target: object, name: string, index: number) => void;
}

/** The names in `METADATA` under which the decorators write nothing, or something else. */
export function findUnknownMetadata(decorators: NestDecorators): readonly string[] {
  class Enhancer {} // eslint-disable-line @typescript-eslint/no-extraneous-class -- decorators need one
  class Sample {
    handle(): void {
      return undefined;
    }
  }
  const { UseGuards, UseInterceptors, UseFilters, UsePipes, Controller, Injectable, HttpCode, Body } =
    decorators;
  for (const decorate of [UseGuards, UseInterceptors, UseFilters, UsePipes]) decorate(Enhancer)(Sample);
  Controller('sample')(Sample);
  Injectable({ scope: 2 })(Enhancer);
  const descriptor = Object.getOwnPropertyDescriptor(Sample.prototype, 'handle') ?? {};
  HttpCode(299)(Sample.prototype, 'handle', descriptor);
  Body()(Sample.prototype, 'handle', 0);
  const read = (name: keyof typeof METADATA, ...of: readonly [object, string?]): unknown =>
    Reflect.getMetadata(METADATA[name], ...(of as [object])) as unknown;
  const holds = (name: keyof typeof METADATA): boolean =>
    (read(name, Sample) as readonly unknown[] | undefined)?.includes(Enhancer) === true;
  const parameters = Object.entries((read('parameters', Sample, 'handle') ?? {}) as ParameterMetadata);
  const known: Readonly<Record<keyof typeof METADATA, boolean>> = {
    guards: holds('guards'),
    interceptors: holds('interceptors'),
    filters: holds('filters'),
    pipes: holds('pipes'),
    parameters:
      parameters.length === 1 &&
      parameters.every(([key, { index }]) => key.split(':')[0] === BODY_PARAMETER && index === 0),
    path: read('path', Sample) === 'sample',
    httpCode: read('httpCode', descriptor.value as object) === 299,
    scope: (read('scope', Enhancer) as { readonly scope?: unknown } | undefined)?.scope === 2,
  };
  return Object.entries(known).flatMap(([name, isKnown]) => (isKnown ? [] : name));
}

type ParameterMetadata = Readonly<Record<string, { readonly index: number }>>;

/** The used part of Nest's `InstanceWrapper` of a controller. */
export interface ControllerWrapper {
  readonly metatype: unknown;
  readonly instance: unknown;
  isDependencyTreeStatic(): boolean;
}

/** Undefined if Nest describes the controllers of its modules in another way. */
export function probeController(wrapper: object): ControllerWrapper | undefined {
  const { metatype, isDependencyTreeStatic } = wrapper as Partial<ControllerWrapper>;
  return typeof metatype === 'function' &&
    typeof isDependencyTreeStatic === 'function' &&
    'instance' in wrapper
    ? (wrapper as ControllerWrapper)
    : undefined;
}

/** Makes Nest route a subclass in the place of a controller's class. False if the controller does not show it afterwards. */
export function replaceClass(wrapper: ControllerWrapper, replacement: new () => object): boolean {
  (wrapper as { metatype: unknown }).metatype = replacement;
  const { instance } = wrapper;
  if (isObject(instance)) Object.setPrototypeOf(instance, replacement.prototype as object);
  return routesClass(wrapper, replacement);
}

/** Whether a controller has this class, also by the prototype of its instance, if it has been created. */
export function routesClass(
  { metatype, instance }: ControllerWrapper,
  replacement: { readonly prototype: unknown },
): boolean {
  return (
    metatype === replacement &&
    (!isObject(instance) || (isObject(replacement.prototype) && inherits(instance, replacement.prototype)))
  );
}

function inherits(instance: object, prototype: object): boolean {
  return Object.prototype.isPrototypeOf.call(prototype, instance);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function unknownNest(where: string, what: string): DeclarationProblem {
  return {
    where,
    what: `${describePackage('@nestjs/core')} ${what} in another way than this package knows`,
    repair: 'Install the version of NestJS that the application had before, and report it.',
  };
}

/** The problem at start of decorators whose metadata is not found: authorization would not run, or parameters would be missing. */
export function unknownMetadata(names: readonly string[]): DeclarationProblem {
  return unknownNest('NestJS', `keeps the metadata of decorators (${names.join(', ')})`);
}

/** The problem at start of a controller whose class is not replaced: its routes would have neither authorization nor handlers. */
export function unknownController(name: string): DeclarationProblem {
  return unknownNest(name, 'keeps the classes of controllers');
}

/** The problem of `query: true` where Node cannot parse QUERY, or Nest does not know it, so that middleware cannot be bound to it. */
export function unknownQuery(
  parsed: readonly string[],
  known: object,
): Omit<DeclarationProblem, 'where'> | undefined {
  if (!parsed.includes(QUERY_METHOD))
    return {
      what: `query is set, and Node ${process.versions.node} does not read requests of the method QUERY`,
      repair: 'Remove the option, or update Node: 20.19, 22 and later read them.',
    };
  if (!(QUERY_METHOD in known))
    return {
      what: 'query is set, and the installed @nestjs/common has no RequestMethod.QUERY, with which middleware is bound to the method',
      repair: 'Remove the option, or update @nestjs/common.',
    };
  return undefined;
}
