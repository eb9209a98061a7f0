import type { PipeTransform } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { loadCounter } from '../adapters/throttler/load-counter.js';
import type { CompilerInput, ResourceParts } from '../compiler/compiler-input.js';
import type { ClassesOfOptions } from '../compiler/rules/missing-methods.js';
import type {
  CompiledPermission,
  PermissionClass,
  PermissionExpression,
} from '../core/contracts/permission.js';
import type { ErrorListener } from '../core/contracts/errors.js';
import type { ResourceHooks } from '../core/contracts/hooks.js';
import type { FilterBackend } from '../core/contracts/filters.js';
import { ActorPermissionSource, PermissionSource } from '../core/contracts/permission.js';
import type { PipeLike, Piping } from '../core/contracts/enhancers.js';
import type { Serializer } from '../core/contracts/serializer.js';
import { DeclarationError } from '../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import type { ResourceSerializer } from '../core/schema/resource.js';
import type { ReportError } from '../execution/connection/connection-manager.js';
import type { InjectableClass, RestifyOptions } from '../decorators/model-options.js';
import { FieldFilter } from '../features/filtering/field-filter.js';
import { OrderingFilter } from '../features/filtering/ordering-filter.js';
import { SearchFilter } from '../features/filtering/search-filter.js';
import type { PermissionRules } from '../features/permissions/authorize.stage.js';
import { AllowAny, isBuiltIn } from '../features/permissions/built-in-permissions.js';
import { DenialWatch } from '../features/permissions/denial-watch.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { resolveAuthentication, guardsOfAuthentication } from './authentication-guards.js';
import type { BootContext } from './boot-context.js';
import type { AfterCommitCall } from './commit-recording.js';
import { CommitRecording } from './commit-recording.js';
import { afterCommitOf, controllerHooks, joinHooks, prefixHooks } from './controller-hooks.js';
import { listedControllers } from './listed-controllers.js';
import type { ListedController } from './listed-controllers.js';
import { resolveProvider } from './resolve-provider.js';

const STANDARD_BACKENDS: readonly InjectableClass<FilterBackend>[] = [
  FieldFilter,
  SearchFilter,
  OrderingFilter,
];

/**
 * Resolves the instances of all classes in declarations, the application's own providers if there are any, and adds them to
 * `instances`.
 * @throws `DeclarationError` for all classes of which there can be none
 */
export async function resolveParts(
  input: CompilerInput,
  { moduleRef, modules, options, server }: BootContext,
  {
    instances,
    reportError,
  }: { readonly instances: Map<unknown, unknown>; readonly reportError: ReportError },
): Promise<ResourceParts> {
  const problems: DeclarationProblem[] = [];
  const collect = async (step: () => Promise<unknown>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error;
      problems.push(...error.problems);
    }
  };
  const make = async (type: InjectableClass<unknown>): Promise<void> => {
    if (instances.has(type)) return;
    instances.set(type, undefined);
    await collect(async () => instances.set(type, await resolveProvider(type, { moduleRef, modules })));
  };
  const standard: readonly InjectableClass<unknown>[] = [...STANDARD_BACKENDS, ModelSerializer, AllowAny];
  const given = optionsIn(input);
  const throttled = given.some(({ throttle }) => throttle !== undefined);
  const { afterCommit } = options;
  for (const type of [
    ...standard,
    ...given.flatMap(classesOf),
    ...permissionsOfActions(input),
    ...(afterCommit ? [afterCommit] : []),
  ])
    await make(type);
  const first: ResourceHooks[] = [];
  for (const type of options.hooks)
    await collect(async () => first.push(await prefixHooks(type, { moduleRef, modules })));
  if (problems.length > 0) throw new DeclarationError(problems);
  const listed = listedControllers(modules);
  const got = <Instance>(type: InjectableClass<Instance>): Instance => instances.get(type) as Instance;
  const watches = new Map<PermissionClass, DenialWatch>();
  const watchOf = (type: PermissionClass): DenialWatch => {
    const watch =
      watches.get(type) ??
      new DenialWatch(type.name, (text) => {
        server.log.warn(text);
      });
    watches.set(type, watch);
    return watch;
  };
  const one = (type: PermissionClass): CompiledPermission => {
    const permission = got(type);
    // Not `type`: a provider of the application may replace it.
    if (permission.constructor === AllowAny) return { kind: 'anyone' };
    const allFields = isBuiltIn(permission.constructor);
    return {
      kind: 'one',
      permission,
      allFields,
      source: allFields ? undefined : type.name,
      watch: allFields || options.refusalsHide === 'rows' ? undefined : watchOf(type),
    };
  };
  const ofPrefix = afterCommit && got(afterCommit);
  const callOfPrefix: AfterCommitCall | undefined =
    ofPrefix && ((_first, ...parameters) => ofPrefix.afterCommit(...parameters));
  const recordings = new Map<string, CommitRecording | undefined>();
  const listedFor = (target: object | undefined): ListedController | undefined =>
    listed.find(({ declaration }) => declaration.entity === target);
  return {
    recording: (resource, target) => {
      if (recordings.has(resource.entity)) return recordings.get(resource.entity);
      const calls = [callOfPrefix, afterCommitOf(listedFor(target), moduleRef)].flatMap((call) => call ?? []);
      const parts = { calls, queue: server.commitCalls, reportError };
      const recording = calls.length > 0 ? new CommitRecording(resource, parts) : undefined;
      recordings.set(resource.entity, recording);
      return recording;
    },
    backends: (options) => (options.filterBackends ?? STANDARD_BACKENDS).map(got),
    serializer: (options) => compiledSerializer(got(options.serializer ?? ModelSerializer)),
    permission: (options) =>
      compilePermission({ kind: 'all-of', permissions: options.permissions ?? [AllowAny] }, one),
    interceptors: (options) => (options.interceptors ?? []).map(got),
    piping: (options, target) => modelPipes((options.pipes ?? []).map(got), target),
    hooks: (target) => {
      const own = controllerHooks(listedFor(target), moduleRef);
      return { ...own, hooks: joinHooks(first, own.hooks) };
    },
    ...(throttled ? { counter: await loadCounter((token) => findProvider(token, moduleRef)) } : {}),
    permissions: (permissions) => compilePermission({ kind: 'all-of', permissions }, one),
    refusalsThrottled: options.authenticationThrottle !== false,
    authentication: await resolveAuthentication(given, got),
  };
}

function compiledSerializer(serializer: Serializer): ResourceSerializer {
  return { serializer, hasDefaultSerializer: serializer.constructor === ModelSerializer };
}

function compilePermission(
  expression: PermissionExpression,
  one: (type: PermissionClass) => CompiledPermission,
): CompiledPermission {
  if (typeof expression === 'function') return one(expression);
  if (expression.kind === 'not-permission')
    return { kind: 'not', permission: compilePermission(expression.permission, one) };
  const permissions = expression.permissions.map((each) => compilePermission(each, one));
  const [only, ...others] = permissions;
  return only && others.length === 0 ? only : { kind: expression.kind, permissions };
}

/** Parts without instances of the application's own classes, for a verification before the application's providers exist. */
export function offlineParts(): ResourceParts {
  const serializer = new ModelSerializer();
  const backends = [new FieldFilter(), new SearchFilter(), new OrderingFilter()];
  return {
    backends: (options) => (options.filterBackends ? [] : backends),
    serializer: () => compiledSerializer(serializer),
    permission: () => ({ kind: 'all-of', permissions: [] }),
    authentication: () => ({ schemes: [], guards: [], lateGuards: [] }),
    refusalsThrottled: false,
    interceptors: () => [],
    piping: () => undefined,
    hooks: () => ({ hooks: {}, scope: undefined }),
    recording: () => undefined,
    permissions: () => ({ kind: 'all-of', permissions: [] }),
  };
}

/** Runs pipes as Nest does for a parameter. The metatype of a body is the entity's class, so that its validators apply. */
function modelPipes(pipes: readonly PipeLike[], target: object | undefined): Piping | undefined {
  if (pipes.length === 0) return undefined;
  const metatype = typeof target === 'function' ? (target as new () => unknown) : undefined;
  return {
    pipes,
    transform: async (value, argument) => {
      let piped = value;
      for (const pipe of pipes as readonly PipeTransform<unknown>[])
        piped = await pipe.transform(piped, {
          type: argument,
          metatype: argument === 'body' ? metatype : Object,
          data: undefined,
        });
      return piped;
    },
  };
}

/** The options of the prefix, of its models, and of their junctions. */
export function optionsIn({ declarations, defaults }: CompilerInput): readonly RestifyOptions[] {
  return [
    defaults,
    ...declarations.flatMap(({ declaration: { options } }) => [
      options,
      ...Object.values(options.through ?? {}),
    ]),
  ] as readonly RestifyOptions[];
}

export function permissionsOfActions({ controllers }: CompilerInput): readonly PermissionClass[] {
  return controllers.flatMap(({ declaration }) =>
    declaration.actions.flatMap(({ options }) => (options.permissions ?? []).flatMap(permissionClasses)),
  );
}

export function withPermissionClasses(options: RestifyOptions): ClassesOfOptions {
  return { ...options, permissions: (options.permissions ?? []).flatMap(permissionClasses) };
}

function classesOf(options: RestifyOptions): readonly InjectableClass<unknown>[] {
  const { filterBackends, guards, interceptors, pipes, serializer, permissions } = options;
  return [
    ...guardsOfAuthentication(options),
    ...(filterBackends ?? []),
    ...(guards ?? []),
    ...(interceptors ?? []),
    ...(pipes ?? []),
    ...(serializer ? [serializer] : []),
    ...(permissions ?? []).flatMap(permissionClasses),
  ];
}

function permissionClasses(expression: PermissionExpression): readonly PermissionClass[] {
  if (typeof expression === 'function') return [expression];
  return expression.kind === 'not-permission'
    ? permissionClasses(expression.permission)
    : expression.permissions.flatMap(permissionClasses);
}

export function permissionRules(
  { options, moduleRef, server }: BootContext,
  listener: ErrorListener | undefined,
): PermissionRules {
  return {
    // Of any module of the application, else the default.
    source:
      (findProvider(PermissionSource, moduleRef) as PermissionSource | undefined) ??
      new ActorPermissionSource(),
    refusalsHide: options.refusalsHide,
    failed: (error, { resource, method, actor, request }) => {
      const subject = `A permission of ${resource.id} failed behind one that denies ${method}, and every row counts as hidden`;
      server.reportError(error, { subject, listener, method, actor, request });
    },
  };
}

function findProvider(token: symbol, moduleRef: ModuleRef): unknown {
  try {
    return moduleRef.get<unknown>(token, { strict: false });
  } catch {
    return undefined;
  }
}
