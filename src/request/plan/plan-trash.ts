import type { CompletedRows, DeletePlan, RestorePlan } from '../../core/query/plan.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { RestContext } from '../rest-context.js';
import { planDelete } from './plan-write.js';
import { originOf, transactionHooks } from './transaction-hooks.js';

/** A deleted row that is written. */
interface DeletedTarget extends Pick<DeletePlan, 'where' | 'expected'> {
  /** The view on the deleted rows. */
  readonly deleted: ResourceSchema;
}

/** Plans the deletion for good of the deleted row that `where` selects. `completed` gets no row. */
export function planPurge(
  context: RestContext,
  { deleted, where, expected, completed }: DeletedTarget & { readonly completed: CompletedRows | undefined },
): DeletePlan {
  const hooks = transactionHooks('purge', context);
  const after = async (entity: object, transaction: object): Promise<void> => {
    await hooks.after?.(entity, transaction);
    await completed?.([], transaction);
  };
  return {
    ...planDelete(context, where, expected),
    resource: deleted,
    hooks: completed ? { ...hooks, after } : hooks,
    origin: originOf('purge', context),
  };
}

/** Plans the restoration of the deleted row that `where` selects. */
export function planRestore(
  context: RestContext,
  { deleted, where, expected, visible }: DeletedTarget & Pick<RestorePlan, 'visible'>,
): RestorePlan {
  return {
    ...planDelete(context, where, expected),
    kind: 'restore',
    resource: deleted,
    shown: context.resource,
    visible,
    hooks: transactionHooks('restore', context),
    origin: originOf('restore', context),
  };
}
