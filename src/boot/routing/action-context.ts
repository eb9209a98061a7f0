import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Actor } from '../../model/actor.js';
import type { Json } from '../../errors/rest-error.js';

/** What an action of the application's is told of its request. */
export interface ActionContext {
  readonly actor: Actor;
  /** The key of the parent, or of the object, in its type; of a composite key the text that stands in the URL. */
  readonly parentPk: Json | undefined;
  /** As it stands in the URL, decoded. */
  readonly childPk: string | undefined;
}

const CONTEXTS = new WeakMap<object, ActionContext>();

export function setActionContext(request: object, context: ActionContext): void {
  CONTEXTS.set(request, context);
}

function contextOf(context: ExecutionContext): ActionContext | undefined {
  return CONTEXTS.get(context.switchToHttp().getRequest<object>());
}

/** The key of the parent in a nested URL, of the object in a detail action; converted to its type. */
export const ParentPk = createParamDecorator((_data: unknown, context: ExecutionContext) => contextOf(context)?.parentPk);

/** The key of the child in a nested detail URL: the text, as a client wrote it. */
export const ChildPk = createParamDecorator((_data: unknown, context: ExecutionContext) => contextOf(context)?.childPk);

/** Who asks; null for an anonymous caller. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext) => contextOf(context)?.actor ?? null);
