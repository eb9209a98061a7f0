import { conjunction } from '../../core/query/condition.js';
import { visibleToGet } from '../../features/serialization/visible-to-get.js';
import { planDelete } from '../../request/plan/plan-write.js';
import type { Stage } from '../../request/rest-context.js';
import type { PipelineServices } from '../pipeline-services.js';
import type { OperationDefinition } from './operation-definition.js';
import { rejectParameters } from './reject-parameters.js';
import { deferObjectCheck } from './update.js';
import { objectCondition } from '../../request/plan/row-conditions.js';

export const destroy: OperationDefinition = {
  name: 'destroy',
  method: 'DELETE',
  status: 200,
  operate: ({ resource }, services) => [
    ...(resource.strict ? [deferObjectCheck(services), ...rejectParameters(resource)] : []),
    deleteRow(services),
  ],
};

/**
 * Deletes the row; the value is the deleted object, if the model returns it. Throws 404 and 412 beside the errors of a
 * write.
 */
function deleteRow({ adapter, preconditions }: PipelineServices): Stage {
  return async (context) => {
    context.clearDeferredChecks();
    const { precondition, resource } = context;
    const where = objectCondition(context);
    const value = resource.returnDeleted ? await visibleToGet(context, where, adapter) : undefined;
    const selected = precondition ? conjunction([where, precondition.where]) : where;
    const isDeleted = await adapter.write(planDelete(context, selected, precondition?.expected));
    if (!isDeleted) throw await preconditions.explainFailure(context, where);
    context.result = { value };
  };
}
