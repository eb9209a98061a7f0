import type { QueryRunner } from 'typeorm';
import { BulkWriteError } from '../../../core/errors/bulk-write-error.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import type { BatchPlan, CreatePlan, DeletePlan, UpdatePlan, UpsertPlan } from '../../../core/query/plan.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { inSlices } from '../../../core/event-loop.js';
import { BulkDeletion } from './bulk-deletion.js';
import { inLockOrder } from './lock-order.js';
import { commitError } from './commit-error.js';
import { rejectRepeatedRows } from './repeated-rows.js';
import { selectForUpdate } from './select-for-update.js';
import type { KeyLookup } from '../read/key-lookups.js';
import { NO_ERRORS, notFound } from './row-writer.js';
import type { PreparableWrite, PreparedWrite, RowWriter, WriterTools } from './row-writer.js';
import {
  checkAll,
  CompletionError,
  DELETED,
  isInvalidInput,
  MISSING,
  stepErrorsOf,
  throwStepErrors,
  writeEach,
} from './batch-steps.js';
import type { StepOutcome } from './batch-steps.js';

/** What a transaction has done, to locate an error of the database. */
interface Progress {
  /** The step that runs, or the last one that has run. */
  current: { readonly step: PreparableWrite<StepOutcome>; readonly index: number } | undefined;
  isWritten: boolean;
}

export interface BatchTools {
  readonly writerOf: (resource: ResourceSchema) => RowWriter;
  readonly toolsOf: (resource: ResourceSchema) => WriterTools;
  readonly tools: Pick<WriterTools, 'connections' | 'dialect' | 'lookups' | 'tables'>;
}

/**
 * The maximum number of attempts at a batch in which another transaction inserts a row between the lookup and the write
 * of an upsert.
 */
const MAX_ATTEMPTS = 3;

/**
 * Executes several writes in one transaction: first it checks all of them, so that all errors are reported together,
 * then it writes.
 */
export class BatchWriter {
  constructor(private readonly parts: BatchTools) {}

  async write(given: BatchPlan): Promise<readonly Row[]> {
    return (await this.deleteTogether(given)) ? [] : this.writeSteps(given);
  }

  /** False if the rows have to be deleted one by one: something runs for each of them, or the database rejects one, and has to say which. */
  private async deleteTogether(plan: BatchPlan): Promise<boolean> {
    const plans = deletionsIn(plan);
    const [first] = plans;
    const remove = first && (await this.parts.writerOf(first.resource).prepareDeletes(plans));
    if (!remove) return false;
    try {
      const { connections } = this.parts.tools;
      await connections.transact((runner) => remove(runner, plan), first.requester, plans.length);
      return true;
    } catch (error) {
      if (BulkDeletion.isOfOneRow(error, this.parts.tools.dialect)) return false;
      throw error;
    }
  }

  private async writeSteps(given: BatchPlan): Promise<readonly Row[]> {
    const plan = {
      ...given,
      steps: await rejectRepeatedRows(given.steps, requesterOf(given), this.parts.tools),
    };
    const steps = await this.prepareSteps(plan);
    // The errors of a new row are known without any lookup.
    if (plan.steps.every(({ kind }) => kind === 'create' || kind === 'refused'))
      throwStepErrors(steps.map(({ errors }) => errors));
    const upserts = plan.steps.some(({ kind }) => kind === 'upsert');
    for (let attempt = 1; ; attempt++) {
      const progress: Progress = { current: undefined, isWritten: false };
      try {
        const { connections, dialect } = this.parts.tools;
        const write = async (runner: QueryRunner): Promise<readonly Row[]> => {
          Object.assign(progress, { current: undefined, isWritten: false });
          await this.lockAll(plan, runner);
          const rows = await writeEach(steps, { runner, plan, dialect }, (step, index) => {
            progress.current = { step, index };
          });
          progress.isWritten = true;
          return rows;
        };
        return await connections.transact(write, requesterOf(plan), steps.length);
      } catch (error) {
        if (error instanceof CompletionError) throw error.cause;
        if (upserts && attempt < MAX_ATTEMPTS && this.isUniqueViolation(error)) continue;
        if (error instanceof BulkWriteError) throw error;
        const { current, isWritten } = progress;
        if (isWritten && steps.length > 1) throw await this.translateCommitError(error, plan);
        const translated = await current?.step.translateError(error);
        if (!current || !isInvalidInput(translated)) throw translated ?? error;
        await this.throwUncheckedErrors(plan, steps);
        throw new BulkWriteError(new Map([[current.index, translated.fields]]));
      }
    }
  }

  private translateCommitError(error: unknown, plan: BatchPlan): Promise<unknown> {
    const { toolsOf } = this.parts;
    const recheck = async (): Promise<void> => {
      const steps = await this.prepareSteps(plan);
      throwStepErrors(steps.map(({ errors }) => errors));
      await this.throwUncheckedErrors(plan, steps);
    };
    return commitError(error, plan, { toolsOf, recheck });
  }

  private isUniqueViolation(error: unknown): boolean {
    return !isRestException(error) && this.parts.tools.dialect.errorFor(error)?.kind === 'unique';
  }

  /**
   * Reports the errors that can be checked before writing, after the database has rejected one object before the others
   * were checked: the errors that a client receives must not depend on how the objects are written.
   */
  private async throwUncheckedErrors(
    plan: BatchPlan,
    steps: readonly PreparableWrite<StepOutcome>[],
  ): Promise<void> {
    if (steps.length < 2) return;
    await this.parts.tools.connections.transact(async (runner) => {
      await this.lockAll(plan, runner);
      const prepared: PreparedWrite<StepOutcome>[] = [];
      for await (const step of inSlices(steps)) prepared.push(await step.prepare(runner));
      throwStepErrors(stepErrorsOf(await checkAll(prepared), plan));
    }, requesterOf(plan));
  }

  /**
   * Prepares the steps, with all queries that have to run before the transaction: inside it, a second connection may
   * not be available.
   */
  private async prepareSteps({ steps }: BatchPlan): Promise<readonly PreparableWrite<StepOutcome>[]> {
    const keys = steps.map(keysOf);
    const known = await this.parts.tools.lookups.lookUpEach(keys);
    const prepared: PreparableWrite<StepOutcome>[] = [];
    for await (const [index, step] of inSlices(steps.entries())) {
      switch (step.kind) {
        case 'create':
          prepared.push(
            mapped(await this.parts.writerOf(step.resource).prepareCreate(step, known[index]), createdRow),
          );
          break;
        case 'update':
          prepared.push(mapped(await this.parts.writerOf(step.resource).prepareUpdate(step), changedRow));
          break;
        case 'delete':
          prepared.push(
            mapped(this.parts.writerOf(step.resource).prepareDelete(step), (deleted) =>
              deleted ? DELETED : MISSING,
            ),
          );
          break;
        case 'upsert':
          prepared.push(await this.prepareUpsert(step, known[index]));
          break;
        case 'refused':
          prepared.push({
            errors: step.errors,
            prepare: () => Promise.resolve(notFound(MISSING)),
            translateError: (error) => Promise.resolve(error),
          });
          break;
        default:
          step satisfies never;
      }
    }
    return prepared;
  }

  /**
   * Locks the rows before the first read of the transaction. Under snapshot isolation, a row whose lock was waited for
   * would otherwise be written as it was before.
   */
  private async lockAll({ steps }: BatchPlan, runner: QueryRunner): Promise<void> {
    if (this.parts.tools.dialect.lockRow === '' || steps.length < 2) return;
    for (const { resource, where } of inLockOrder(steps.flatMap(lockedPlans))) {
      const tools = this.parts.toolsOf(resource);
      // Writers of a tree lock the whole tree before any row of it.
      if (tools.tables.of(resource).metadata.treeType === undefined)
        await selectForUpdate(resource, { columns: resource.identity, where }, { runner, tools });
    }
  }

  /** An insert or an update, which the lookup of the row decides. */
  private async prepareUpsert(
    { create, update }: UpsertPlan,
    known: KeyLookup | undefined,
  ): Promise<PreparableWrite<StepOutcome>> {
    const creation = mapped(
      await this.parts.writerOf(create.resource).prepareCreate(create, known),
      createdRow,
    );
    const change = mapped(await this.parts.writerOf(update.resource).prepareUpdate(update), changedRow);
    let chosen = creation;
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        const { resource, where } = update;
        const found = await selectForUpdate(
          resource,
          { columns: resource.identity, where },
          { runner, tools: this.parts.toolsOf(resource) },
        );
        chosen = found ? change : creation;
        const prepared = await chosen.prepare(runner);
        return found ? prepared : { ...prepared, errors: { ...creation.errors, ...prepared.errors } };
      },
      translateError: (error) => chosen.translateError(error),
    };
  }
}

type BatchStep = BatchPlan['steps'][number];

function keysOf(step: BatchStep): CreatePlan['keys'] {
  if (step.kind === 'create') return step.keys;
  return step.kind === 'upsert' ? step.create.keys : [];
}

/** The steps of a batch that deletes several rows of one model and does nothing else. */
function deletionsIn({ steps, completed }: BatchPlan): readonly DeletePlan[] {
  const plans = steps.filter((step) => step.kind === 'delete');
  const isAll = plans.length === steps.length && plans.length > 1 && !completed;
  return isAll && plans.every(({ resource }) => resource === plans[0]?.resource) ? plans : [];
}

function lockedPlans(step: BatchStep): readonly (UpdatePlan | DeletePlan)[] {
  if (step.kind === 'upsert') return [step.update];
  return step.kind === 'update' || step.kind === 'delete' ? [step] : [];
}

function createdRow(row: Row): StepOutcome {
  return row;
}

function changedRow(row: Row | undefined): StepOutcome {
  return row ? { ...row, changed: true } : MISSING;
}

function mapped<From, To>(step: PreparableWrite<From>, to: (result: From) => To): PreparableWrite<To> {
  return {
    errors: step.errors,
    translateError: (error) => step.translateError(error),
    prepare: async (runner) => {
      const { errors, missing: isMissing, write, check } = await step.prepare(runner);
      return {
        errors,
        missing: isMissing,
        write: async () => to(await write()),
        ...(check ? { check } : {}),
      };
    },
  };
}

/** The requester, which is the same for all steps of a batch. */
function requesterOf({ steps }: BatchPlan): Requester | undefined {
  for (const step of steps) {
    if (step.kind === 'refused') continue;
    const { requester } = step.kind === 'upsert' ? step.create : step;
    if (requester) return requester;
  }
  return undefined;
}
