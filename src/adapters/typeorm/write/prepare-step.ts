import type { QueryRunner } from 'typeorm';
import { addErrors, emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { BatchPlan, CreatePlan, DeletePlan, UpdatePlan, UpsertPlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { KeyLookup } from '../../../execution/read/key-lookups.js';
import { changedRow, createdRow, mapped, referencedValue } from './batch-plans.js';
import type { BatchStep } from './batch-plans.js';
import { DELETED, MISSING } from './batch-steps.js';
import type { StepOutcome } from './batch-steps.js';
import type { LockedRows } from './lock-together.js';
import { selectForUpdate } from './row-locks.js';
import { inTransaction, NO_ERRORS, notFound, prepared } from './row-writer.js';
import type { PreparableWrite, RowWriter, WriterTools } from './row-writer.js';

/** The batch of a step. */
interface StepBatch {
  readonly writerOf: (resource: ResourceSchema) => RowWriter;
  readonly toolsOf: (resource: ResourceSchema) => WriterTools;
  readonly steps: BatchPlan['steps'];
  readonly locked: LockedRows;
  /** The rows that earlier steps have written. */
  readonly rows: ReadonlyMap<number, Row>;
}

/** Prepares one step of a batch. `known` is what its keys refer to. */
export function prepareStep(
  step: BatchStep,
  known: KeyLookup | undefined,
  batch: StepBatch,
): MaybePromise<PreparableWrite<StepOutcome>> {
  const { writerOf } = batch;
  switch (step.kind) {
    case 'create':
      return mapMaybe(
        step.references
          ? prepareDependent(step, known, batch)
          : writerOf(step.resource).prepareCreate(step, known),
        (creation) => mapped(creation, createdRow),
      );
    case 'update':
      return mapMaybe(writerOf(step.resource).prepareUpdate(step), (change) => mapped(change, changedRow));
    case 'delete':
      return mapMaybe(writerOf(step.resource).prepareDelete(step), (deletion) =>
        mapped(deletion, (deleted) => (deleted ? DELETED : MISSING)),
      );
    case 'upsert':
      return prepareUpsert(step, known, batch);
    case 'refused':
      return {
        errors: step.errors,
        prepare: () => notFound(MISSING),
        translateError: (error) => Promise.resolve(error),
      };
    default:
      return step satisfies never;
  }
}

/** A new row with values of rows that earlier steps have written. */
function prepareDependent(
  step: CreatePlan,
  known: KeyLookup | undefined,
  { steps, rows, writerOf }: StepBatch,
): PreparableWrite<Row> {
  const errors = emptyFieldErrors();
  for (const each of [step.errors, known?.errors ?? NO_ERRORS]) addErrors(errors, each);
  let creation: PreparableWrite<Row> | undefined;
  const write = async (runner: QueryRunner): Promise<Row> => {
    const given = (step.references ?? []).map((reference) => referencedValue(reference, steps, rows));
    const plan: CreatePlan = { ...step, fixed: [...step.fixed, ...given], references: undefined };
    creation = await writerOf(step.resource).prepareCreate(plan, known);
    return inTransaction(creation, runner);
  };
  return {
    errors,
    prepare: (runner) => prepared(() => write(runner)),
    translateError: (error) => creation?.translateError(error) ?? Promise.resolve(error),
  };
}

/** An insert or an update, which the lookup of the row decides. */
function prepareUpsert(
  { create, update }: UpsertPlan,
  known: KeyLookup | undefined,
  batch: StepBatch,
): MaybePromise<PreparableWrite<StepOutcome>> {
  const { writerOf, locked } = batch;
  return mapMaybe(writerOf(create.resource).prepareCreate(create, known), (created) =>
    mapMaybe(writerOf(update.resource).prepareUpdate(update), (changed) => {
      const [creation, change] = [mapped(created, createdRow), mapped(changed, changedRow)];
      let chosen = creation;
      return {
        errors: NO_ERRORS,
        prepare: (runner) => {
          const key = locked.get(update);
          return mapMaybe(key === undefined ? isFound(update, batch, runner) : key !== null, (isChange) => {
            chosen = isChange ? change : creation;
            return mapMaybe(chosen.prepare(runner), (prepared) => {
              const errors = isChange ? prepared.errors : { ...creation.errors, ...prepared.errors };
              return { ...prepared, isChange, errors };
            });
          });
        },
        translateError: (error) => chosen.translateError(error),
      };
    }),
  );
}

/** Locks the row. */
export async function isFound(
  { resource, where }: UpdatePlan | DeletePlan,
  { toolsOf }: Pick<StepBatch, 'toolsOf'>,
  runner: QueryRunner,
): Promise<boolean> {
  const tools = toolsOf(resource);
  return (
    (await selectForUpdate(resource, { columns: resource.identity, where }, { runner, tools })) !== undefined
  );
}
