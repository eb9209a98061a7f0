import type { Bulk } from '../../core/contracts/bulk.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { Row } from '../../core/contracts/serializer.js';
import { BulkWriteError, NON_FIELD_ERRORS } from '../../core/errors/rest-exception.js';
import type { BulkStepError, Json } from '../../core/errors/rest-exception.js';
import { inSlices } from '../../core/event-loop.js';
import { conjunction } from '../../core/query/condition.js';
import type { BatchPlan, DeletePlan, UpdatePlan } from '../../core/query/plan.js';
import { copyOf } from '../../core/values/exact-numbers.js';
import { keyText, noSuchObject } from '../../core/values/keys.js';
import { foldFieldSelection, rejectParametersExcept } from '../../request/parse/query-parameters.js';
import { requireObject } from '../../request/request-input.js';
import type { JsonObject } from '../../request/request-input.js';
import { keyFieldsOf, keyOfItem } from '../../request/plan/key-fields.js';
import { planItems, refusedPlan } from '../../request/plan/plan-items.js';
import { keyCondition } from '../../request/plan/row-conditions.js';
import { assertFewWrites, rejectNested } from '../../request/plan/nested-values.js';
import { parseBody, planDelete, planUpdate } from '../../request/plan/plan-write.js';
import { leaveUnchangedKeys } from '../../request/plan/unchanged-keys.js';
import { WrittenRows } from '../../request/represent-row.js';
import type { OperationResult, RestContext } from '../../request/rest-context.js';
import { selectFields } from '../field-selection/select-fields.stage.js';
import type { FieldSelector } from '../field-selection/select-fields.stage.js';
import { errorsAt, itemErrors, rejectDuplicates, assertItemCount, writeBatch } from './batch.js';
import { selectionErrors, selectObjects } from './select-objects.js';

export interface ChangeServices {
  readonly adapter: DataAdapter;
  readonly selector: FieldSelector;
}

/**
 * Changes a list of objects with their keys, each by its own values; or all objects that the parameters select, by one
 * body.
 */
export async function changeMany(
  context: RestContext,
  bulk: Bulk,
  { adapter, selector }: ChangeServices,
): Promise<OperationResult> {
  if (context.resource.fieldSelection) await selectFields(selector, false)(context);
  const body = await context.items();
  const written = new WrittenRows(context);
  if (Array.isArray(body)) {
    const items: readonly unknown[] = body;
    rejectParametersExcept(foldFieldSelection(await context.parameters(), context.resource), true, () =>
      fieldSelectionParameters(context.resource.fieldSelection),
    );
    assertItemCount(items.length, bulk);
    assertFewWrites(context.route, items);
    const { steps, keys, name } = await planChanges(items, context);
    const plan: BatchPlan = { kind: 'batch', steps, skipsMissing: false, completed: written.completed };
    const rows = await writeChanges(adapter, plan, (rejections) =>
      itemErrors(rejections, items.length, (index) => errorsAt(name, noSuchObject(keys.get(index) ?? []))),
    );
    return { value: await written.represent(rows) };
  }
  const selected = await selectObjects(context, bulk, adapter);
  const given = requireObject(body);
  rejectNested(context.route, given, 'Objects are not written by a change of several objects.');
  const parsed = parseBody(context, 'partialUpdate', given);
  const steps: UpdatePlan[] = [];
  for await (const where of inSlices(selected.conditions))
    steps.push(await planUpdate(context, { operation: 'partialUpdate', body: parsed, where }));
  // An invalid body is an error even if no object is selected.
  if (steps.length === 0 && Object.keys(parsed.errors).length > 0) throw new InvalidInput(parsed.errors);
  const rows = await writeChanges(
    adapter,
    {
      kind: 'batch',
      steps,
      skipsMissing: selected.keys === undefined,
      completed: written.completed,
    },
    (rejections) => selectionErrors(rejections, selected),
  );
  return { value: await written.represent(rows) };
}

/** Writes a batch; once more without unchanged keys of deleted objects, where these are an error. */
async function writeChanges(
  adapter: DataAdapter,
  plan: BatchPlan,
  toError: (rejections: ReadonlyMap<number, BulkStepError>) => Error,
): Promise<readonly Row[]> {
  try {
    return await writeBatch(adapter, plan, (rejections) => new BulkWriteError(rejections));
  } catch (error) {
    if (!(error instanceof BulkWriteError)) throw error;
    const steps = [...plan.steps];
    for (const [index, errors] of error.rejections) {
      const step = steps[index];
      if (step?.kind === 'update' && errors !== 'missing')
        steps[index] = (await leaveUnchangedKeys(step, errors, adapter)) ?? step;
    }
    if (steps.every((step, index) => step === plan.steps[index])) throw toError(error.rejections);
    return writeBatch(adapter, { ...plan, steps }, toError);
  }
}

/** Deletes all objects that the parameters select. */
export async function deleteMany(
  context: RestContext,
  bulk: Bulk,
  { adapter }: ChangeServices,
): Promise<void> {
  const selected = await selectObjects(context, bulk, adapter);
  const steps: readonly DeletePlan[] = selected.conditions.map((where) => planDelete(context, where));
  await writeBatch(
    adapter,
    { kind: 'batch', steps, skipsMissing: selected.keys === undefined },
    (rejections) => selectionErrors(rejections, selected),
  );
}

/** The change of each item, applied to the object of its key. */
async function planChanges(
  items: readonly unknown[],
  context: RestContext,
): Promise<{
  readonly steps: BatchPlan['steps'];
  readonly keys: ReadonlyMap<number, readonly Json[]>;
  readonly name: string;
}> {
  const { resource, scope } = context;
  const fields = keyFieldsOf(resource);
  const name = fields.length === 1 ? (fields[0]?.name ?? NON_FIELD_ERRORS) : NON_FIELD_ERRORS;
  const keys = new Map<number, readonly Json[]>();
  const planChange = async (item: JsonObject, index: number): Promise<UpdatePlan> => {
    const key = keyOfItem(item, fields, resource);
    keys.set(index, key);
    // A read-only key is not part of the change.
    const own = copyOf(
      item,
      Object.fromEntries(
        Object.entries(item).filter(([each]) => !fields.some((field) => field.name === each)),
      ),
    );
    const body = parseBody(context, 'partialUpdate', own);
    return planUpdate(context, {
      operation: 'partialUpdate',
      body,
      where: conjunction([scope, keyCondition(key, resource)]),
    });
  };
  const plans = await planItems(items, planChange, refusedPlan);
  return {
    steps: rejectDuplicates(
      plans,
      (plan, index) => (plan.kind === 'update' ? keyText(keys.get(index) ?? []) : undefined),
      name,
    ),
    keys,
    name,
  };
}
