import type { QueryRunner } from 'typeorm';
import { BulkWriteError } from '../../../core/errors/bulk-write-error.js';
import type { BulkStepError } from '../../../core/errors/bulk-write-error.js';
import type { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import { inSlices } from '../../../core/event-loop.js';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { BatchPlan } from '../../../core/query/plan.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { runHook } from './run-hook.js';
import { NO_ERRORS } from './row-writer.js';
import type { PreparableWrite, PreparedWrite } from './row-writer.js';

export const MISSING = 'missing';
export const DELETED = 'deleted';

/**
 * The result of one step. A locked row exists until it is written; one that was not looked up before the write may be
 * missing.
 */
export type StepOutcome = Row | typeof DELETED | typeof MISSING;

/**
 * Executes the prepared steps of a batch in its transaction. It yields to the event loop between them, as a database with a
 * synchronous driver does not. `turn` is called before each step, to locate a database error.
 */
export async function writeEach(
  steps: readonly PreparableWrite<StepOutcome>[],
  {
    runner,
    plan,
    dialect,
  }: { readonly runner: QueryRunner; readonly plan: BatchPlan; readonly dialect: Dialect },
  turn: (step: PreparableWrite<StepOutcome>, index: number) => void,
): Promise<readonly Row[]> {
  const { skipsMissing, completed } = plan;
  const prepared: PreparedWrite<StepOutcome>[] = [];
  for await (const [index, step] of inSlices(steps.entries())) {
    turn(step, index);
    prepared.push(isFailedStep(step.errors) ? invalidWrite(step.errors) : await step.prepare(runner));
  }
  // The errors of all steps are reported together.
  if (stepErrorsOf(prepared, plan).some(isFailedStep))
    throwStepErrors(stepErrorsOf(await checkAll(prepared), plan));
  const written: Row[] = [];
  const stepErrors: BulkStepError[] = [];
  for await (const [index, step] of inSlices(steps.entries())) {
    turn(step, index);
    const current = isStale(plan, index, prepared[index]) ? await step.prepare(runner) : prepared[index];
    const { outcome, errors } = await tryWrite(current);
    if (typeof outcome === 'object') written.push(outcome);
    stepErrors.push(outcome === MISSING && !skipsMissing ? MISSING : errors);
  }
  throwStepErrors(stepErrors);
  try {
    await runHook(completed, written, { runner, dialect });
  } catch (error) {
    throw isRestException(error)
      ? new CompletionError('The last step of a batch failed', { cause: error })
      : error;
  }
  return written;
}

/** An error after all steps, which is the error of none of them. */
export class CompletionError extends Error {}

/** An earlier step may have changed the row since it was read, through a hook, a listener or a trigger. */
function isStale(
  { steps }: BatchPlan,
  index: number,
  write: PreparedWrite<StepOutcome> | undefined,
): boolean {
  if (index === 0 || write === undefined || write.check) return false;
  const kind = steps[index]?.kind;
  return kind === 'update' || kind === 'upsert';
}

function invalidWrite(errors: FieldErrors): PreparedWrite<StepOutcome> {
  return { errors, missing: false, write: () => Promise.resolve(MISSING) };
}

export function stepErrorsOf(
  found: readonly Pick<PreparedWrite<StepOutcome>, 'errors' | 'missing'>[],
  { skipsMissing }: BatchPlan,
): readonly BulkStepError[] {
  return found.map(({ errors, missing: isMissing }) => (isMissing && !skipsMissing ? MISSING : errors));
}

/** Sequentially, because they share a connection. */
export async function checkAll(
  prepared: readonly PreparedWrite<StepOutcome>[],
): Promise<readonly Pick<PreparedWrite<StepOutcome>, 'errors' | 'missing'>[]> {
  const all = [];
  for await (const each of inSlices(prepared)) all.push(each.check ? await each.check() : each);
  return all;
}

/**
 * Executes a write and collects its validation errors, which prevent the commit, but not the check of the other writes.
 */
async function tryWrite(
  write: PreparedWrite<StepOutcome> | undefined,
): Promise<{ readonly outcome?: StepOutcome | undefined; readonly errors: FieldErrors }> {
  if (write && isFailedStep(write.errors)) return { errors: write.errors };
  try {
    return { outcome: await write?.write(), errors: NO_ERRORS };
  } catch (error) {
    if (!isInvalidInput(error)) throw error;
    return { errors: error.fields };
  }
}

/** Tested by its shape: the application may throw the class of another copy of the package. */
export function isInvalidInput(error: unknown): error is InvalidInput {
  return isRestException(error) && 'fields' in error;
}

export function throwStepErrors(found: readonly BulkStepError[]): void {
  const refusals = new Map([...found.entries()].filter(([, each]) => isFailedStep(each)));
  if (refusals.size > 0) throw new BulkWriteError(refusals);
}

function isFailedStep(found: BulkStepError): boolean {
  return found === MISSING || Object.keys(found).length > 0;
}
