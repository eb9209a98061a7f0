import type { HookContext, WriteOperation } from '../../core/contracts/hooks.js';
import type { TransactionHooks, WriteOrigin } from '../../core/query/plan.js';
import type { RestContext } from '../rest-context.js';

const NO_HOOKS: TransactionHooks = {};

export function hookContextOf({ resource, actor, exchange }: RestContext): HookContext {
  return { actor, resource, request: exchange?.request };
}

/** Undefined where nothing is told of writes. */
export function originOf(
  operation: WriteOperation,
  { resource, actor, requester }: RestContext,
): WriteOrigin | undefined {
  return resource.recording && { operation, actor, requester };
}

export function transactionHooks(operation: WriteOperation, context: RestContext): TransactionHooks {
  const { before, after } = context.resource.hooks;
  if (!before && !after) return NO_HOOKS;
  const hookContext = hookContextOf(context);
  return {
    before: before && ((entity, transaction) => before({ ...hookContext, operation, entity, transaction })),
    after: after && ((entity, transaction) => after({ ...hookContext, operation, entity, transaction })),
  };
}
