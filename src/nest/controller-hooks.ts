import { ContextIdFactory } from '@nestjs/core';
import type { ContextId, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { Type } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { writeHooksOf } from '../compiler/rules/hook-classes.js';
import type { WriteHookName } from '../compiler/rules/hook-classes.js';
import type { HookName } from '../decorators/action.decorator.js';
import type { InjectableClass } from '../decorators/model-options.js';
import type { ResourceHooks, WriteContext } from '../core/contracts/hooks.js';
import { allow } from '../core/contracts/permission.js';
import type { AccessContext, Permission } from '../core/contracts/permission.js';
import { withSource } from '../core/query/row-filter.js';
import { RowScope } from '../features/permissions/built-in-permissions.js';
import type { AfterCommitCall } from './commit-recording.js';
import type { ListedController } from './listed-controllers.js';
import { createInstance, findWrapper, rejectTransient } from './resolve-provider.js';
import type { ResourceController, WriteHooks } from './resource.controller.js';

/** The hooks of an application's controller class in the operations of its entity. */
export interface ControllerHooks {
  readonly hooks: ResourceHooks;
  /** `scope` as an additional permission. */
  readonly scope: Permission | undefined;
}

const NO_HOOKS: ControllerHooks = { hooks: {}, scope: undefined };

export function controllerHooks(listed: ListedController | undefined, moduleRef: ModuleRef): ControllerHooks {
  if (!listed) return NO_HOOKS;
  const has = (name: HookName): boolean => listed.declaration.hooks.includes(name);
  const type = listed.listed as Type<Hooked>;
  const at = (context: HookCaller): Promise<Hooked> => instanceOf({ type, ...listed }, context, moduleRef);
  return {
    scope: has('scope')
      ? new RowScope(async (context) => allowed(await (await at(context)).scope?.(context), listed))
      : undefined,
    hooks: {
      ...(has('valuesOnCreate')
        ? { values: async (context) => (await (await at(context)).valuesOnCreate?.(context)) ?? {} }
        : {}),
      ...(has('beforeWrite')
        ? { before: async (step) => (await at(step)).beforeWrite?.(writeOf(step)) }
        : {}),
      ...(has('afterWrite') ? { after: async (step) => (await at(step)).afterWrite?.(writeOf(step)) } : {}),
    },
  };
}

/** Calls `afterCommit` of an application's controller class; undefined if it has none. */
export function afterCommitOf(
  listed: ListedController | undefined,
  moduleRef: ModuleRef,
): AfterCommitCall | undefined {
  if (listed?.declaration.hooks.includes('afterCommit') !== true) return undefined;
  const type = listed.listed as Type<Hooked>;
  return async (first, ...parameters) =>
    (await instanceOf({ type, ...listed }, first, moduleRef)).afterCommit?.(...parameters);
}

type Hooked = Pick<ResourceController, HookName>;
type HookCaller = Pick<AccessContext, 'actor' | 'request'>;

/** A `scope` that returns nothing grants no rows. */
function allowed(
  rows: Awaited<ReturnType<NonNullable<ResourceController['scope']>>> | undefined | null,
  { declaration }: ListedController,
): ReturnType<typeof allow> {
  if (rows === undefined || rows === null)
    throw new Error(`${declaration.name}.scope returned nothing. Return a filter, or 'all'.`);
  return rows === 'all' ? allow() : allow({ rows: withSource(rows, `${declaration.name}.scope`) });
}

/** The transaction handle of the adapter is TypeORM's query runner. */
function writeOf({ transaction, ...step }: WriteContext): WriteContext & { readonly manager: EntityManager } {
  return { ...step, transaction, manager: transaction as EntityManager };
}

/** A class of the application, and Nest's description of it. */
interface Provided<Instance> {
  readonly type: Type<Instance>;
  readonly wrapper: { isDependencyTreeStatic(): boolean };
}

/** The instance of the application; for a request-scoped class the one of the request. */
async function instanceOf<Instance>(
  { type, wrapper }: Provided<Instance>,
  { request, actor }: HookCaller,
  moduleRef: ModuleRef,
): Promise<Instance> {
  if (wrapper.isDependencyTreeStatic()) return moduleRef.get(type, { strict: false });
  const requestOrActor = request ?? { user: actor };
  const contextId = contextOf(requestOrActor);
  moduleRef.registerRequestByContextId(requestOrActor, contextId);
  return moduleRef.resolve(type, contextId, { strict: false });
}

const CONTEXT = Symbol('restify:context');

/** Nest marks requests only where the controller itself is request-scoped: hooks of one request share an instance elsewhere, too. */
function contextOf(request: object & { [CONTEXT]?: ContextId }): ContextId {
  return (request[CONTEXT] ??= ContextIdFactory.getByRequest(request));
}

/** The hooks of a class of `forRoot`, with the instance of the application's provider, if there is one. */
export async function prefixHooks(
  given: InjectableClass<object>,
  { moduleRef, modules }: { readonly moduleRef: ModuleRef; readonly modules: ModulesContainer },
): Promise<ResourceHooks> {
  const type = given as unknown as Type<WriteHooks>;
  const wrapper = findWrapper(type, modules);
  rejectTransient(type, wrapper);
  const alone = wrapper ? undefined : ((await createInstance(type, moduleRef)) as WriteHooks);
  const run =
    (name: WriteHookName) =>
    async (step: WriteContext): Promise<void> => {
      const instance = wrapper ? await instanceOf({ type, wrapper }, step, moduleRef) : alone;
      const hook = instance?.[name];
      if (!hook) throw new Error(`What provides ${type.name} has no method ${name}, which the class has.`);
      await hook.call(instance, writeOf(step));
    };
  const names = writeHooksOf(type);
  return {
    ...(names.includes('beforeWrite') ? { before: run('beforeWrite') } : {}),
    ...(names.includes('afterWrite') ? { after: run('afterWrite') } : {}),
  };
}

/** Hooks that run one after the other. Only a controller class has `values`. */
export function joinHooks(first: readonly ResourceHooks[], own: ResourceHooks): ResourceHooks {
  if (first.length === 0) return own;
  const all = [...first, own];
  const before = all.flatMap((hooks) => hooks.before ?? []);
  const after = all.flatMap((hooks) => hooks.after ?? []);
  return {
    ...own,
    ...(before.length > 0 ? { before: inTurn(before) } : {}),
    ...(after.length > 0 ? { after: inTurn(after) } : {}),
  };
}

type WriteHook = (step: WriteContext) => Promise<void>;

function inTurn(hooks: readonly WriteHook[]): WriteHook {
  return async (step) => {
    for (const hook of hooks) await hook(step);
  };
}
