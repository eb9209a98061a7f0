import type { QueryRunner } from 'typeorm';
import type {
  Requester,
  BatchPlan,
  ColumnValue,
  StepReference,
  UpsertPlan,
  WritePlan,
} from '../../../core/query/plan.js';
import type { StoredValues } from '../../../core/contracts/hooks.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { BulkWriteError, isRestException } from '../../../core/errors/rest-exception.js';
import type { BulkStepError, FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import type { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { eachInSlices, inSlices } from '../../../core/event-loop.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { NotInsertedTogether } from './insert-together.js';
import type { LockedRows } from './lock-together.js';
import { writeTogether } from './write-together.js';
import { identityOfRow, WriteRecorder } from './recorded-writes.js';
import { NO_ERRORS, runHook } from './row-writer.js';
import type { PreparableWrite, PreparedWrite, WriterTools } from './row-writer.js';

export const MISSING = 'missing';
export const DELETED = 'deleted';

/**
 * The result of one step. A locked row exists until it is written; one that was not looked up before the write may be
 * missing.
 */
export type StepOutcome = Row | typeof DELETED | typeof MISSING;

/** The transaction of a batch. */
interface BatchTransaction {
  readonly runner: QueryRunner;
  readonly plan: BatchPlan;
  readonly toolsOf: (resource: ResourceSchema) => WriterTools;
  readonly connections: WriterTools['connections'];
  readonly dialect: Dialect;
  /** The rows that the steps have written, by their index. */
  readonly rows: Map<number, Row>;
  /** The rows that were locked before. */
  readonly locked: LockedRows;
  /**
   * Whether rows may be written together, and no new one is looked up again before it is written. `only`: they are, or none is written, and
   * there is no savepoint.
   */
  readonly isTogether: boolean | 'only';
}

/** Called before each step, to locate a database error. */
type Turn = (step: PreparableWrite<StepOutcome>, index: number) => void;

interface OneByOne {
  readonly prepared: readonly PreparedWrite<StepOutcome>[];
  readonly recorder: WriteRecorder | undefined;
  readonly turn: Turn;
}

/**
 * Executes the prepared steps of a batch in its transaction. It yields to the event loop between them, as a database with a
 * synchronous driver does not.
 */
export async function writeSteps(
  steps: readonly PreparableWrite<StepOutcome>[],
  transaction: BatchTransaction,
  turn: Turn,
): Promise<readonly Row[]> {
  const { runner, plan, toolsOf, dialect, isTogether, locked } = transaction;
  const prepared = await prepareEach(steps, transaction, turn);
  const recorder = WriteRecorder.of(plan.steps, toolsOf);
  if (recorder) await recorder.begin(runner, knownImages(plan, prepared));
  const together = { steps: plan.steps, locked, ...(isTogether === 'only' ? { least: 1 } : {}) };
  const written: Row[] = isTogether ? [...((await writeTogether(prepared, together, runner)) ?? [])] : [];
  if (isTogether === 'only' && written.length === 0) return [];
  for (const [index, row] of written.entries()) recordStep(recorder, plan.steps[index], { outcome: row });
  // Further lookups follow other writes.
  locked.clear();
  if (written.length === 0)
    written.push(...(await writeOneByOne(steps, transaction, { prepared, recorder, turn })));
  if (recorder) await recorder.end(runner);
  await runHook(plan.completed, written, { runner, dialect }).catch((error: unknown) => {
    throw isRestException(error)
      ? new CompletionError('The last step of a batch failed', { cause: error })
      : error;
  });
  return written;
}

/** Writes each step by statements of its own, and reports the errors of all of them together. */
async function writeOneByOne(
  steps: readonly PreparableWrite<StepOutcome>[],
  transaction: BatchTransaction,
  { prepared, recorder, turn }: OneByOne,
): Promise<readonly Row[]> {
  const { runner, plan, isTogether } = transaction;
  const written: Row[] = [];
  const stepErrors: BulkStepError[] = [];
  const dependent = new DependentSteps(plan, transaction);
  for await (const [index, step] of inSlices(steps.entries())) {
    turn(step, index);
    const isKnown = index === 0 || (isTogether !== false && prepared[index]?.insertable !== undefined);
    const current =
      !isKnown && isStale(plan, index, prepared[index]) ? await step.prepare(runner) : prepared[index];
    await recorder?.beginLate(plan.steps[index], current, runner);
    const { outcome, errors } = await dependent.write(step, index, current);
    if (typeof outcome === 'object') written.push(outcome);
    recordStep(recorder, plan.steps[index], { outcome, identity: current?.identity });
    stepErrors.push(outcome === MISSING && !plan.skipsMissing ? MISSING : errors);
  }
  throwStepErrors(stepErrors);
  return written;
}

/** What the rows have stored that the steps have locked. */
function knownImages(
  { steps }: BatchPlan,
  prepared: readonly PreparedWrite<StepOutcome>[],
): ReadonlyMap<WritePlan, StoredValues> {
  const known = new Map<WritePlan, StoredValues>();
  for (const [index, step] of steps.entries()) {
    const stored = prepared[index]?.stored;
    if (stored && step.kind === 'update') known.set(step, stored);
    if (stored && step.kind === 'upsert') known.set(step.update, stored);
  }
  return known;
}

/** Prepares the steps, and reports the errors of all of them together. */
async function prepareEach(
  steps: readonly PreparableWrite<StepOutcome>[],
  { runner, plan }: BatchTransaction,
  turn: Turn,
): Promise<readonly PreparedWrite<StepOutcome>[]> {
  const prepared: PreparedWrite<StepOutcome>[] = [];
  const add = (each: PreparedWrite<StepOutcome>): void => {
    prepared.push(each);
  };
  await eachInSlices(steps.entries(), ([index, step]) => {
    turn(step, index);
    const { errors } = step;
    if (!isFailedStep(errors)) return mapMaybe(step.prepare(runner), add);
    add({ errors, missing: false, write: () => Promise.resolve(MISSING) });
  });
  if (stepErrorsOf(prepared, plan).some(isFailedStep))
    throwStepErrors(stepErrorsOf(await checkAll(prepared), plan));
  return prepared;
}

function recordStep(
  recorder: WriteRecorder | undefined,
  step: Step | undefined,
  { outcome, identity }: WrittenStep,
): void {
  if (!recorder || !step || step.kind === 'refused' || !outcome || outcome === MISSING) return;
  const key = outcome === DELETED ? identity : identityOfRow(outcome);
  const isChange = typeof outcome === 'object' && outcome.changed === true;
  const plan = step.kind === 'upsert' ? step[isChange ? 'update' : 'create'] : step;
  if (key) recorder.add(plan, key);
}

interface TriedWrite {
  readonly outcome?: StepOutcome | undefined;
  readonly errors: FieldErrors;
}

interface WrittenStep {
  readonly outcome: StepOutcome | undefined;
  readonly identity?: readonly Json[] | undefined;
}

/**
 * Writes the steps of a batch. Where steps refer to rows of earlier ones, each has a savepoint, so that an error of the database is
 * translated while these rows are there.
 */
class DependentSteps {
  private readonly exist: boolean;

  constructor(
    private readonly plan: BatchPlan,
    private readonly transaction: BatchTransaction,
  ) {
    this.exist = plan.steps.some((step) => referencesOf(step).length > 0);
    transaction.rows.clear();
  }

  async write(
    step: PreparableWrite<StepOutcome>,
    index: number,
    prepared: PreparedWrite<StepOutcome> | undefined,
  ): Promise<TriedWrite> {
    if (!this.exist || !prepared) return tryWrite(prepared);
    const { rows } = this.transaction;
    const references = referencesOf(this.plan.steps[index]);
    // The errors of the earlier step are reported.
    if (references.some((each) => !rows.has(each.step))) return { errors: NO_ERRORS };
    const tried = await this.tryInSavepoint(step, prepared);
    if (typeof tried.outcome === 'object') rows.set(index, tried.outcome);
    return tried;
  }

  private async tryInSavepoint(
    step: PreparableWrite<StepOutcome>,
    prepared: PreparedWrite<StepOutcome>,
  ): Promise<TriedWrite> {
    const { runner, connections, dialect } = this.transaction;
    try {
      return { outcome: await connections.joined.nest(runner, () => prepared.write()), errors: NO_ERRORS };
    } catch (error) {
      if (error instanceof NotInsertedTogether) throw error;
      if (isTemporary(isRestException(error) ? undefined : dialect.errorFor(error))) throw error;
      const translated = isRestException(error)
        ? error
        : await connections.joined.run(runner, () => step.translateError(error), true);
      if (!isInvalidInput(translated)) throw translated;
      return { errors: translated.fields };
    }
  }
}

function referencesOf(step: Step | undefined): readonly StepReference[] {
  return step?.kind === 'create' ? (step.references ?? []) : [];
}

/** An error after all steps, which is the error of none of them. */
export class CompletionError extends Error {}

/** An earlier step may have changed the row since it was read, through a hook, a listener or a trigger; or another transaction has inserted it. */
function isStale(
  { steps }: BatchPlan,
  index: number,
  write: PreparedWrite<StepOutcome> | undefined,
): boolean {
  if (write === undefined || write.check) return false;
  const kind = steps[index]?.kind;
  return kind === 'update' || kind === 'upsert';
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
  const all: Pick<PreparedWrite<StepOutcome>, 'errors' | 'missing'>[] = [];
  await eachInSlices(prepared, (each) =>
    mapMaybe(each.check?.() ?? each, (found) => {
      all.push(found);
    }),
  );
  return all;
}

/**
 * Executes a write and collects its validation errors, which prevent the commit, but not the check of the other writes.
 */
async function tryWrite(write: PreparedWrite<StepOutcome> | undefined): Promise<TriedWrite> {
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
  const rejections = failedSteps(found);
  if (rejections.size > 0) throw new BulkWriteError(rejections);
}

/** The errors of the steps that have any, by their index. */
export function failedSteps(found: readonly BulkStepError[]): ReadonlyMap<number, BulkStepError> {
  return new Map([...found.entries()].filter(([, each]) => isFailedStep(each)));
}

function isFailedStep(found: BulkStepError): boolean {
  return found === MISSING || Object.keys(found).length > 0;
}

type Step = BatchPlan['steps'][number];
type Tools = Pick<WriterTools, 'connections' | 'dialect' | 'tables'>;

/** The steps, where upserts that identify the row of an earlier one are rejected: the result would depend on their order. */
export async function rejectRepeatedRows(
  steps: readonly Step[],
  requester: Requester | undefined,
  tools: Tools,
): Promise<readonly Step[]> {
  const upserts = steps.filter((step) => step.kind === 'upsert');
  if (upserts.length < 2) return steps;
  const firstOf = await equalTexts(upserts, requester, tools);
  const seen = new Set<string>();
  return steps.map((step) => {
    if (step.kind !== 'upsert') return step;
    const row = JSON.stringify(step.identifying.map((each) => firstOf(each)));
    if (seen.has(row)) return { kind: 'refused', errors: step.repeated };
    seen.add(row);
    return step;
  });
}

/** Maps a value to the first one that the database takes for equal. Values of other kinds than texts have one form each. */
async function equalTexts(
  upserts: readonly UpsertPlan[],
  requester: Requester | undefined,
  { connections, dialect, tables }: Tools,
): Promise<(value: ColumnValue) => Json> {
  const byColumn = new Map<Column, ReadonlyMap<Json, Json>>();
  const [first] = upserts;
  for (const [index, { column }] of (first?.identifying ?? []).entries()) {
    if (!first || column.type.kind !== 'string') continue;
    const texts = [...new Set(upserts.map(({ identifying }) => String(identifying[index]?.value)))];
    const table = tables.of(first.update.resource);
    const named = { path: table.path, name: table.name(column), type: column.type };
    const statement = dialect.equalTexts(named, texts);
    const found =
      statement && texts.length > 1 ? await connections.read(statement, 'primary', requester) : [];
    byColumn.set(
      column,
      new Map(found.map(([place, same]) => [texts[Number(place)] ?? '', texts[Number(same)] ?? ''])),
    );
  }
  return ({ column, value }) => byColumn.get(column)?.get(value) ?? value;
}
