import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type {
  BatchPlan,
  ColumnValue,
  CreatePlan,
  DeletePlan,
  Requester,
  StepReference,
  UpdatePlan,
} from '../../../core/query/plan.js';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { MISSING } from './batch-steps.js';
import type { StepOutcome } from './batch-steps.js';
import { identityOfRow } from './recorded-writes.js';
import type { LockedRows } from './lock-together.js';
import { hasErrors, NO_ERRORS } from './row-writer.js';
import type { PreparableWrite, PreparedWrite, WriterTools } from './row-writer.js';

export function referencedValue(
  { column, step, from }: StepReference,
  steps: BatchPlan['steps'],
  rows: ReadonlyMap<number, Row>,
): ColumnValue {
  const row = rows.get(step);
  const target = steps[step];
  const writes = target?.kind === 'upsert' ? target.create : target;
  if (!row || (writes?.kind !== 'create' && writes?.kind !== 'update'))
    throw new Error('A step refers to no earlier one that writes a row.');
  const at = writes.resource.identity.findIndex(({ id }) => id === from.id);
  return { column, value: identityOfRow(row)[at] ?? null };
}

export type BatchStep = BatchPlan['steps'][number];

/** Whether all of the rows are new, and have no children: their errors are known before the transaction. */
export function isOfNewRows({ steps }: BatchPlan): boolean {
  return steps.every((step) => (step.kind === 'create' ? !step.children : step.kind === 'refused'));
}

/** Whether statements of this package write each row, which is new or changed. */
export async function areWrittenBySql(
  { steps }: BatchPlan,
  toolsOf: (resource: ResourceSchema) => Pick<WriterTools, 'choices'>,
): Promise<boolean> {
  for (const step of steps) {
    if (step.kind !== 'create' && step.kind !== 'update') return false;
    const choice = toolsOf(step.resource).choices.choose(step);
    const { lane } = isPromise(choice) ? await choice : choice;
    if (lane !== 'direct' && lane !== 'locked') return false;
  }
  return true;
}

export type Checked = Pick<PreparedWrite<StepOutcome>, 'errors' | 'missing'>;

/** What is wrong with one step, if it can be known before it is written. */
export async function checkStep(
  step: PreparableWrite<StepOutcome>,
  {
    plan,
    locked,
    runner,
  }: { readonly plan: BatchStep | undefined; readonly locked: LockedRows; readonly runner: QueryRunner },
): Promise<Checked> {
  if (hasErrors(step.errors)) return { errors: step.errors, missing: false };
  const key = plan?.kind === 'update' || plan?.kind === 'delete' ? locked.get(plan) : undefined;
  const known = key === undefined ? undefined : { errors: NO_ERRORS, missing: key === null };
  if (known && plan?.kind === 'delete') return known;
  const prepared = await step.prepare(runner);
  // Nothing but the statement that writes it sees the row.
  if (known && prepared.check && plan?.kind === 'update' && plan.keys.length === 0) return known;
  return prepared.check ? prepared.check() : prepared;
}

export function keysOf(step: BatchStep): CreatePlan['keys'] {
  if (step.kind === 'create') return step.keys;
  return step.kind === 'upsert' ? step.create.keys : [];
}

/** The steps of a batch that deletes several rows of one model and does nothing else. */
export function deletionsIn({ steps, completed }: BatchPlan): readonly DeletePlan[] {
  const plans = steps.filter((step) => step.kind === 'delete');
  const isAll = plans.length === steps.length && plans.length > 1 && !completed;
  return isAll && plans.every(({ resource }) => resource === plans[0]?.resource) ? plans : [];
}

export function lockedPlans(step: BatchStep): readonly (UpdatePlan | DeletePlan)[] {
  if (step.kind === 'upsert') return [step.update];
  return step.kind === 'update' || step.kind === 'delete' ? [step] : [];
}

export function createdRow(row: Row): StepOutcome {
  return row;
}

export function changedRow(row: Row | undefined): StepOutcome {
  return row ? { ...row, changed: true } : MISSING;
}

export function mapped<From, To>(step: PreparableWrite<From>, to: (result: From) => To): PreparableWrite<To> {
  return {
    errors: step.errors,
    translateError: (error) => step.translateError(error),
    prepare: (runner) =>
      mapMaybe(step.prepare(runner), (ready) => ({ ...ready, write: async () => to(await ready.write()) })),
  };
}

/** The requester, which is the same for all steps of a batch. */
export function requesterOf({ steps }: BatchPlan): Requester | undefined {
  for (const step of steps) {
    if (step.kind === 'refused') continue;
    const { requester } = step.kind === 'upsert' ? step.create : step;
    if (requester) return requester;
  }
  return undefined;
}
