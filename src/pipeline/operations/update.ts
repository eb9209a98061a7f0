import type { ParsedBody } from '../../core/contracts/serializer.js';
import { conjunction } from '../../core/query/condition.js';
import type { Resource } from '../../core/schema/resource.js';
import { selectFields } from '../../features/field-selection/select-fields.stage.js';
import { assertFewWrites } from '../../request/plan/nested-values.js';
import { writeWithPairs } from '../../request/plan/write-with-pairs.js';
import { parseBody, planUpdate } from '../../request/plan/plan-write.js';
import { writeChange } from '../../request/plan/unchanged-keys.js';
import { WrittenRows } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import type { PipelineServices, OperationDefinition } from '../pipeline-services.js';
import { rejectParameters } from './reject-parameters.js';
import { objectCondition } from '../../request/plan/row-conditions.js';

export const update: OperationDefinition = {
  name: 'update',
  method: 'PUT',
  status: 200,
  operate: ({ resource }, services) => updateStages('update', resource, services),
};

export const partialUpdate: OperationDefinition = {
  name: 'partialUpdate',
  method: 'PATCH',
  status: 200,
  operate: ({ resource }, services) => updateStages('partialUpdate', resource, services),
};

/** The object and its precondition precede the query and the body in the order of checks. */
function updateStages(
  operation: 'update' | 'partialUpdate',
  resource: Resource,
  services: PipelineServices,
): readonly Stage[] {
  return [
    deferObjectCheck(services),
    ...(resource.fieldSelection ? [selectFields(services.selector, false)] : []),
    ...rejectParameters(resource),
    async (context) => {
      const given = await context.body();
      assertFewWrites(context.route, [given]);
      const body = parseBody(context, operation, given);
      await updateRow(context, { operation, body }, services);
    },
  ];
}

/** Defers errors of parsing and of pipes until the lookup of the object and its precondition. */
export function deferObjectCheck({ preconditions }: PipelineServices): Stage {
  return (context) => {
    const where = objectCondition(context);
    context.defer(() => preconditions.assertMet(context, where));
  };
}

/** Writes the changes. Throws 404 and 412 beside the errors of a write. */
async function updateRow(
  context: RestContext,
  { operation, body }: { readonly operation: 'update' | 'partialUpdate'; readonly body: ParsedBody },
  { adapter, preconditions }: PipelineServices,
): Promise<void> {
  const { precondition } = context;
  const where = objectCondition(context);
  const plan = await planUpdate(context, {
    operation,
    body,
    where: precondition ? conjunction([where, precondition.where]) : where,
    expected: precondition?.expected,
  });
  // The denial of children is an error of the body.
  context.clearDeferredChecks();
  const written = new WrittenRows(context);
  const { completed } = written;
  const row = await writeWithPairs(plan, () =>
    writeChange(plan, (each) => adapter.write(completed ? { ...each, completed } : each), adapter),
  );
  if (!row) throw await preconditions.explainFailure(context, where);
  const [value] = await written.represent([row]);
  context.result = { value, row };
}
