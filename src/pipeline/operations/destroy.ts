import type { Representation } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import { keyText } from '../../core/values/keys.js';
import { grantRelatedKeys } from '../../features/permissions/grant-related-keys.js';
import { restrictFields } from '../../features/permissions/restrict-fields.js';
import { keyFieldsOf } from '../../request/plan/key-fields.js';
import { planDelete } from '../../request/plan/plan-write.js';
import { objectCondition } from '../../request/plan/row-conditions.js';
import { represent } from '../../request/represent-row.js';
import type { Stage, RestContext } from '../../request/rest-context.js';
import type { PipelineServices, OperationDefinition } from '../pipeline-services.js';
import { rejectParameters } from './reject-parameters.js';
import { deferObjectCheck } from './update.js';

/** The representation that GET would return to this caller, whatever the method of the request; only the key if GET hides more. */
async function visibleToGet(
  context: RestContext,
  where: Condition,
  adapter: DataAdapter,
): Promise<Representation> {
  const { route } = context;
  const access = await context.access.tryAuthorize(route.resource, 'GET');
  if (!access) return keyOnly(context);
  const resource = await grantRelatedKeys(
    restrictFields(route.resource, access),
    context.access,
    context.method,
  );
  const row = await adapter.read(
    { kind: 'retrieve', resource, where: conjunction([where, access.grantCondition]), forWriting: true },
    'rows',
  );
  if (!row) return keyOnly(context);
  const visible = represent(row, context.fork({ resource, fieldSelection: undefined }));
  // Values of the application may have no JSON: nothing is written then.
  JSON.stringify(visible);
  return visible;
}

function keyOnly({ route, keys }: RestContext): Representation {
  const key: readonly Json[] = (route.parent ? keys.childKey : keys.key) ?? [];
  const fields = keyFieldsOf(route.resource);
  return Object.fromEntries(
    fields.map(({ name }, index) => [
      name,
      fields.length === 1 && key.length > 1 ? keyText(key) : (key[index] ?? null),
    ]),
  );
}

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
