import type { DataAdapter } from '../../core/data-adapter.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { CompletedRows } from '../../core/query/plan.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { WriteRows } from '../../features/idempotency/idempotency.stage.js';
import { selectFields } from '../../features/field-selection/select-fields.stage.js';
import { assertFewWrites } from '../../request/plan/nested-values.js';
import { writeWithPairs } from '../../request/plan/write-with-pairs.js';
import { planCreate } from '../../request/plan/plan-write.js';
import { representExpanded, mayFail, WrittenRows } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import type { PipelineServices, OperationDefinition } from '../pipeline-services.js';
import { rejectParameters } from './reject-parameters.js';

export const create: OperationDefinition = {
  name: 'create',
  method: 'POST',
  status: 201,
  operate: ({ resource }, services) => [
    ...(resource.fieldSelection ? [selectFields(services.selector, false)] : []),
    ...rejectParameters(resource),
    resource.idempotency ? createOnce(services) : createRow(services.adapter),
  ],
};

/** Throws the errors of a write. */
function createRow(adapter: DataAdapter): Stage {
  return (context) => {
    const written = mayFail(context) ? new WrittenRows(context) : undefined;
    return mapMaybe(insert(context, adapter, written?.completed), (row) =>
      setCreated(context, row, { written, isReplayed: false }),
    );
  };
}

/** Creates the row of a request with an `Idempotency-Key` once. */
function createOnce({ adapter, idempotentWrites }: PipelineServices): Stage {
  return async (context) => {
    const written = new WrittenRows(context);
    const write: WriteRows = async (read, completed) => [await insert(read, adapter, completed)];
    const { rows, replayed } = await idempotentWrites.runOnce(context, {
      write,
      completed: written.completed,
    });
    const [row] = rows;
    if (!row) throw new Error(`No row of ${context.resource.className} was created.`);
    await setCreated(context, row, { written, isReplayed: replayed });
  };
}

function insert(
  context: RestContext,
  adapter: DataAdapter,
  completed: CompletedRows | undefined,
): MaybePromise<Row> {
  return mapMaybe(context.body(), (body) => {
    assertFewWrites(context.route, [body]);
    return mapMaybe(planCreate(context, body), (planned) => {
      const plan = completed ? { ...planned, completed } : planned;
      return plan.pairs || plan.children
        ? writeWithPairs(plan, () => adapter.write(plan))
        : adapter.write(plan);
    });
  });
}

function setCreated(
  context: RestContext,
  row: Row,
  { written, isReplayed }: { readonly written: WrittenRows | undefined; readonly isReplayed: boolean },
): MaybePromise<void> {
  const represented = written
    ? mapMaybe(written.represent([row]), ([value]) => value)
    : representExpanded(row, context);
  return mapMaybe(represented, (value) => {
    context.result = { value, row, key: row.key, isReplayed };
  });
}
