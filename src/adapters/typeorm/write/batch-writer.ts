import type { QueryRunner } from 'typeorm';
import { BulkWriteError, isRestException } from '../../../core/errors/rest-exception.js';
import type { BulkStepError } from '../../../core/errors/rest-exception.js';
import type { BatchPlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { eachInSlices, inSlices } from '../../../core/event-loop.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import { BulkDeletion } from './bulk-deletion.js';
import { lockTogether } from './lock-together.js';
import { inLockOrder } from './row-locks.js';
import { NotInsertedTogether } from './insert-together.js';
import { commitError } from './translate-write-error.js';
import {
  rejectRepeatedRows,
  checkAll,
  failedSteps,
  CompletionError,
  isInvalidInput,
  stepErrorsOf,
  throwStepErrors,
  writeSteps,
} from './batch-steps.js';
import { isFound, prepareStep } from './prepare-step.js';
import type { PreparableWrite, PreparedWrite, RowWriter, WriterTools } from './row-writer.js';
import {
  areWrittenBySql,
  checkStep,
  deletionsIn,
  isOfNewRows,
  keysOf,
  lockedPlans,
  requesterOf,
} from './batch-plans.js';
import type { Checked } from './batch-plans.js';
import type { LockedRows } from './lock-together.js';
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
 * The maximum number of further attempts at a batch in which another transaction inserts a row between the lookup and the write of an
 * upsert. The first attempt looks up all rows together, the further ones each row before it is written.
 */
const MAX_FURTHER = 3;

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
    const locked: LockedRows = new Map();
    const rows = new Map<number, Row>();
    const steps = await this.prepareSteps(plan, locked, rows);
    // The errors of a new row are known without any lookup.
    if (isOfNewRows(plan)) throwStepErrors(steps.map(({ errors }) => errors));
    const upserts = plan.steps.some(({ kind }) => kind === 'upsert');
    for (let further = 0; ; further++) {
      const progress: Progress = { current: undefined, isWritten: false };
      try {
        const { toolsOf, tools } = this.parts;
        const { connections, dialect } = tools;
        const write = async (runner: QueryRunner): Promise<readonly Row[]> => {
          Object.assign(progress, { current: undefined, isWritten: false });
          await this.lockAll(plan, locked, runner);
          const written = await writeSteps(
            steps,
            { runner, plan, toolsOf, connections, dialect, rows, locked, isTogether: further === 0 },
            (step, index) => {
              progress.current = { step, index };
            },
          );
          progress.isWritten = true;
          return written;
        };
        return await connections.transact(write, requesterOf(plan), steps.length);
      } catch (error) {
        if (error instanceof CompletionError) throw error.cause;
        if (error instanceof NotInsertedTogether) continue;
        if (upserts && further < MAX_FURTHER && this.isUniqueViolation(error)) continue;
        if (error instanceof BulkWriteError) throw error;
        const { current, isWritten } = progress;
        if (isWritten && steps.length > 1) throw await this.translateCommitError(error, plan);
        const translated = await current?.step.translateError(error);
        if (!current || !isInvalidInput(translated)) throw translated ?? error;
        await this.throwUncheckedErrors(plan, steps, locked);
        throw new BulkWriteError(new Map([[current.index, translated.fields]]));
      }
    }
  }

  /**
   * Writes all rows by few statements in the joined transaction. False if nothing has been written.
   * @throws NotInsertedTogether if the transaction has to begin again.
   */
  async tryWriteTogether(plan: BatchPlan): Promise<boolean> {
    const { toolsOf, tools, writerOf } = this.parts;
    const runner = tools.connections.joined.current?.session;
    if (!runner) return false;
    try {
      const [first] = deletionsIn(plan);
      if (first) {
        const remove = await writerOf(first.resource).prepareDeletes(deletionsIn(plan));
        await remove?.(runner, plan);
        return remove !== undefined;
      }
      if (!(await areWrittenBySql(plan, toolsOf))) return false;
      const locked: LockedRows = new Map();
      const steps = await this.prepareSteps(plan, locked);
      await this.lockAll(plan, locked, runner);
      const together = { isTogether: 'only', rows: new Map<number, Row>(), locked } as const;
      const transaction = { ...tools, runner, plan, toolsOf, ...together };
      return (await writeSteps(steps, transaction, () => undefined)).length > 0;
    } catch (error) {
      throw BulkDeletion.isOfOneRow(error, tools.dialect)
        ? NotInsertedTogether.by(error, tools.dialect)
        : error;
    }
  }

  /** The errors of the steps that are known before any of them is written, in the joined transaction. */
  async check(plan: BatchPlan): Promise<ReadonlyMap<number, BulkStepError>> {
    const locked: LockedRows = new Map();
    const steps = await this.prepareSteps(plan, locked);
    if (isOfNewRows(plan)) return failedSteps(steps.map(({ errors }) => errors));
    const { connections } = this.parts.tools;
    const check = async (runner: QueryRunner): Promise<ReadonlyMap<number, BulkStepError>> => {
      await this.lockAll(plan, locked, runner);
      const found: Checked[] = [];
      for await (const [index, step] of inSlices(steps.entries()))
        found.push(await checkStep(step, { plan: plan.steps[index], locked, runner }));
      return failedSteps(stepErrorsOf(found, plan));
    };
    const joined = connections.joined.current;
    return joined ? check(joined.session) : connections.transact(check, requesterOf(plan));
  }

  private translateCommitError(error: unknown, plan: BatchPlan): Promise<unknown> {
    const { toolsOf } = this.parts;
    const recheck = async (): Promise<void> => {
      const locked: LockedRows = new Map();
      const steps = await this.prepareSteps(plan, locked);
      throwStepErrors(steps.map(({ errors }) => errors));
      await this.throwUncheckedErrors(plan, steps, locked);
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
    locked: LockedRows,
  ): Promise<void> {
    if (steps.length < 2) return;
    await this.parts.tools.connections.transact(async (runner) => {
      await this.lockAll(plan, locked, runner);
      const prepared: PreparedWrite<StepOutcome>[] = [];
      for await (const step of inSlices(steps)) prepared.push(await step.prepare(runner));
      throwStepErrors(stepErrorsOf(await checkAll(prepared), plan));
    }, requesterOf(plan));
  }

  /**
   * Prepares the steps, with all queries that have to run before the transaction: inside it, a second connection may
   * not be available.
   */
  private async prepareSteps(
    { steps }: BatchPlan,
    locked: LockedRows,
    rows: ReadonlyMap<number, Row> = new Map(),
  ): Promise<readonly PreparableWrite<StepOutcome>[]> {
    const keys = steps.map(keysOf);
    const known = await this.parts.tools.lookups.lookUpEach(keys);
    const all: PreparableWrite<StepOutcome>[] = [];
    await eachInSlices(steps.entries(), ([index, step]) =>
      mapMaybe(prepareStep(step, known[index], { ...this.parts, steps, locked, rows }), (each) => {
        all.push(each);
      }),
    );
    return all;
  }

  /**
   * Locks the rows before the first read of the transaction, by one statement, and finds which of them exist. Under snapshot isolation, a row
   * whose lock was waited for would otherwise be written as it was before.
   */
  private async lockAll({ steps }: BatchPlan, locked: LockedRows, runner: QueryRunner): Promise<void> {
    locked.clear();
    if (steps.length < 2) return;
    const { tables, dialect } = this.parts.tools;
    // Writers of a tree lock the whole tree before any row of it.
    const plans = steps
      .flatMap(lockedPlans)
      .filter(({ resource }) => tables.of(resource).metadata.treeType === undefined);
    const [first] = plans;
    const found = first && (await lockTogether(plans, this.parts.toolsOf(first.resource), runner));
    for (const [index, plan] of plans.entries()) locked.set(plan, found?.[index]);
    if (!found && dialect.lockRow !== '')
      for (const plan of inLockOrder(plans)) await isFound(plan, this.parts, runner);
  }
}
