import { ContextIdFactory } from '@nestjs/core';
import type { ModuleRef } from '@nestjs/core';
import type { Type } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { HookName } from '../decorators/action.decorator.js';
import type { ResourceHooks, WriteContext } from '../core/contracts/hooks.js';
import { allow } from '../core/contracts/permission.js';
import type { AccessContext, Permission } from '../core/contracts/permission.js';
import { withSource } from '../core/query/row-filter.js';
import { RowScope } from '../features/permissions/built-in-permissions.js';
import type { ListedController } from './listed-controllers.js';
import type { ResourceController } from './resource.controller.js';

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
  const at = (context: HookCaller): Promise<Hooked> => instanceOf(listed, context, moduleRef);
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

/** The instance that Nest routes to; for a request-scoped class the one of the request. */
async function instanceOf(
  { listed, wrapper }: ListedController,
  { request, actor }: HookCaller,
  moduleRef: ModuleRef,
): Promise<Hooked> {
  const type = listed as Type<Hooked>;
  if (wrapper.isDependencyTreeStatic()) return moduleRef.get(type, { strict: false });
  const requestOrActor = request ?? { user: actor };
  const contextId = ContextIdFactory.getByRequest(requestOrActor);
  moduleRef.registerRequestByContextId(requestOrActor, contextId);
  return moduleRef.resolve(type, contextId, { strict: false });
}
