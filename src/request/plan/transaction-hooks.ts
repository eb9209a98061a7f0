import type { HookContext, StoredValues, WriteOperation } from '../../core/contracts/hooks.js';
import type { TransactionHooks, WriteOrigin } from '../../core/query/plan.js';
import type { RestContext } from '../rest-context.js';

const NO_HOOKS: TransactionHooks = {};

export function hookContextOf({ resource, actor, exchange }: RestContext): HookContext {
  return { actor, resource, request: exchange?.request };
}

/** Undefined where no `afterCommit` is called. */
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
  let stored: StoredValues | undefined;
  const run = (hook: typeof before): TransactionHooks['before'] =>
    hook && ((entity, transaction) => hook({ ...hookContext, operation, stored, entity, transaction }));
  const keepStored = (values: StoredValues | undefined): void => {
    stored = values;
  };
  return { before: run(before), after: run(after), ...(operation === 'create' ? {} : { keepStored }) };
}
