import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Actor } from '../core/schema/actor.js';
import type { ActionKeys, Operate } from '../pipeline/override.js';

/** What a method of the application's is told of its request. */
export interface ActionContext extends ActionKeys {
  readonly actor: Actor;
  /** The key of the object that an operation is about, in its type. */
  readonly pk?: ActionKeys['parentPk'];
  /** Runs the generated operation, where the method replaces one. */
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

/** Undefined for anything but a request whose operation is replaced. */
export function getOperate(request: unknown): Operate | undefined {
  return typeof request === 'object' && request !== null
    ? (request as RequestWithContext)[ACTION_CONTEXT]?.operate
    : undefined;
}

function getActionContext(context: ExecutionContext): ActionContext | undefined {
  return context.switchToHttp().getRequest<RequestWithContext>()[ACTION_CONTEXT];
}

/**
 * The key of the parent in a nested URL, of the object in any other; converted to its type, of a composite key the text
 * that stands in the URL.
 */
export const ParentPk = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => getActionContext(context)?.parentPk,
);

/** The key of the child in a nested detail URL: the text, as a client wrote it. */
export const ChildPk = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => getActionContext(context)?.childPk,
);

/** The key of the object, converted to its type: in an action with `detail`, and in a method that replaces an operation. */
export const Pk = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => getActionContext(context)?.pk,
);

/** Who asks; null for an anonymous caller. */
export const CurrentActor = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => getActionContext(context)?.actor ?? null,
);
