import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { KEY_PARAMETER } from '../core/schema/action.js';
import type { KeyParameter } from '../core/schema/action.js';
import type { Actor } from '../core/schema/caller.js';
import type { ActionKeys, Operate } from '../pipeline/override.js';

/** The parameters of a request that the decorators of this file pass to an action. */
export interface ActionContext extends ActionKeys {
  readonly actor: Actor;
  /** The key of the object of an operation, converted to its type. */
  readonly pk?: ActionKeys['parentPk'];
  /** Runs the generated operation, if the method replaces one. */
  readonly operate?: Operate;
}

/** Shared by all copies of the package in a process. */
const ACTION_CONTEXT = Symbol.for('nestjs-restify.actionContext');

interface RequestWithContext {
  [ACTION_CONTEXT]?: ActionContext;
}

export function setActionContext(request: object, context: ActionContext): void {
  (request as RequestWithContext)[ACTION_CONTEXT] = context;
}

/** Runs the generated operation of a request; undefined unless a method replaces that operation. */
export function getOperate(request: unknown): Operate | undefined {
  return typeof request === 'object' && request !== null
    ? (request as RequestWithContext)[ACTION_CONTEXT]?.operate
    : undefined;
}

/** @throws where Restify has not prepared the request: the handler is a route of the application's own. */
function getActionContext(context: ExecutionContext): ActionContext {
  const known = context.switchToHttp().getRequest<RequestWithContext>()[ACTION_CONTEXT];
  if (known) return known;
  throw new Error(
    `${context.getClass().name}.${context.getHandler().name}: @Pk(), @ParentPk(), @ChildPk() and @CurrentActor() have values only in actions and replaced operations of a @RestifyController. In other routes, read the request.`,
  );
}

/** The factory of a parameter decorator, which errors at start recognize by its own property. */
function keyFactory(
  parameter: KeyParameter,
): (data: unknown, context: ExecutionContext) => ActionKeys['parentPk'] {
  return Object.assign((_data: unknown, context: ExecutionContext) => getActionContext(context)[parameter], {
    [KEY_PARAMETER]: parameter,
  });
}

/**
 * The key of the parent in a nested URL, of the object in any other; converted to its type, a composite key as the
 * text in the URL.
 */
export const ParentPk = createParamDecorator(keyFactory('parentPk'));

/** The key of the child in a nested detail URL, as the text in the URL. */
export const ChildPk = createParamDecorator(keyFactory('childPk'));

/** The key of the object, converted to its type: in an action with `detail`, and in a method that replaces an operation. */
export const Pk = createParamDecorator(keyFactory('pk'));

/** The authenticated user; null for an anonymous caller. */
export const CurrentActor = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => getActionContext(context).actor ?? null,
);
