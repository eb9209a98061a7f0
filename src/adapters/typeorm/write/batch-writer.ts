import type { QueryRunner } from 'typeorm';
import { BulkWriteError } from '../../../core/errors/bulk-write-error.js';
import type { BulkStepError } from '../../../core/errors/bulk-write-error.js';
import type { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { Condition } from '../../../core/query/condition.js';
import type { BatchPlan, UpsertPlan } from '../../../core/query/plan.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { inSlices } from '../../../core/event-loop.js';
import { selectForUpdate } from './select-for-update.js';
import type { KeyLookup } from './foreign-key-lookup.js';
import type { RowWriter, WriterTools } from './row-writer.js';
import { runHook } from './run-hook.js';
import { notFound, NO_ERRORS } from './write-step.js';
import type { PreparedWrite, PreparableWrite } from './write-step.js';

export interface BatchTools {
  readonly writerOf: (resource: Resource) => RowWriter;
  readonly toolsOf: (resource: Resource) => WriterTools;
  readonly tools: Pick<WriterTools, 'connections' | 'dialect' | 'lookups'>;
}

const MISSING = 'missing';
const DELETED = 'deleted';

/** A row that was locked is there until it is written; one that nobody has looked for yet need not be. */
type Outcome = Row | typeof DELETED | typeof MISSING;

/** Attempts at a batch in which a row that was not there has been made by somebody else before it was written. */
const MAX_ATTEMPTS = 3;

/** Runs several writes in one transaction: first all are looked at, so that all errors are told together, then all are written. */
export class BatchWriter {
  constructor(private readonly parts: BatchTools) {}

  async write(plan: BatchPlan): Promise<readonly Row[]> {
    const steps = await this.stepsOf(plan);
    // What is wrong with a new row is known without a look at any other.
    if (plan.steps.every(({ kind }) => kind === 'create' || kind === 'refused'))
      refuse(steps.map(({ errors }) => errors));
    const upserts = plan.steps.some(({ kind }) => kind === 'upsert');
    for (let attempt = 1; ; attempt++) {
      let at: PreparableWrite<Outcome> | undefined;
      let place = 0;
      try {
        return await this.parts.tools.connections.transact(async (runner) => {
          await this.lockAll(plan, runner);
          return writeEach(steps, { runner, plan, dialect: this.parts.tools.dialect }, (step, index) => {
            at = step;
            place = index;
          });
        }, requesterOf(plan));
      } catch (error) {
        if (
          upserts &&
          attempt < MAX_ATTEMPTS &&
          !isRestException(error) &&
          this.parts.tools.dialect.errorFor(error)?.kind === 'unique'
        )
          continue;
        const judged = error instanceof BulkWriteError ? error : await at?.judged(error);
        if (!isInvalidInput(judged)) throw judged ?? error;
        await this.refuseUnchecked(plan, steps);
        throw new BulkWriteError(new Map([[place, judged.fields]]));
      }
    }
  }

  /**
   * Reports what can be checked before writing, where the database has refused one object before the others were checked: which
   * error a caller gets does not depend on how the objects are written.
   */
  private async refuseUnchecked(plan: BatchPlan, steps: readonly PreparableWrite<Outcome>[]): Promise<void> {
    if (steps.length < 2) return;
    await this.parts.tools.connections.transact(async (runner) => {
      await this.lockAll(plan, runner);
      const begun: PreparedWrite<Outcome>[] = [];
      for (const step of steps) begun.push(await step.prepare(runner));
      refuse(judge(await looked(begun), plan));
    }, requesterOf(plan));
  }

  /** Everything that is asked of the database before the transaction is asked here: within it, there may be no other connection. */
  private async stepsOf({ steps }: BatchPlan): Promise<readonly PreparableWrite<Outcome>[]> {
    const keys = steps.map((step) =>
      step.kind === 'create' ? step.keys : step.kind === 'upsert' ? step.create.keys : [],
    );
    const known = await this.parts.tools.lookups.lookUpEach(keys);
    const made: PreparableWrite<Outcome>[] = [];
    for await (const [index, step] of inSlices(steps.entries())) {
      switch (step.kind) {
        case 'create':
          made.push(mapped(await this.parts.writerOf(step.resource).creation(step, known[index]), madeRow));
          break;
        case 'update':
          made.push(mapped(await this.parts.writerOf(step.resource).change(step), changedRow));
          break;
        case 'delete':
          made.push(
            mapped(this.parts.writerOf(step.resource).deletion(step), (deleted) =>
              deleted ? DELETED : MISSING,
            ),
          );
          break;
        case 'upsert':
          made.push(await this.upsertion(step, known[index]));
          break;
        case 'refused':
          made.push({
            errors: step.errors,
            prepare: () => Promise.resolve(notFound(MISSING)),
            judged: (error) => Promise.resolve(error),
          });
          break;
        default:
          step satisfies never;
      }
    }
    return made;
  }

  /** Before the first look where that is what all others see, or a row for which a lock was waited for would be written as it was before. */
  private async lockAll({ steps }: BatchPlan, runner: QueryRunner): Promise<void> {
    if (this.parts.tools.dialect.lockRow === '' || steps.length < 2) return;
    // In one order for all: two requests that lock each other's rows would wait until the database ends one.
    const found = steps.flatMap((step) =>
      step.kind === 'upsert' ? step.update : step.kind === 'update' || step.kind === 'delete' ? step : [],
    );
    const inOrder = found
      .map(({ resource, where }) => ({ resource, where, place: placeOf(where) }))
      .sort((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));
    for (const { resource, where } of inOrder) {
      const tools = this.parts.toolsOf(resource);
      // Those who write a tree wait for each other before they lock any row of it.
      if (tools.tables.of(resource).metadata.treeType === undefined)
        await selectForUpdate(resource, { columns: resource.identity, where }, { runner, tools });
    }
  }

  /** Which of both it is, is known when the row has been looked for. */
  private async upsertion(
    { create, update }: UpsertPlan,
    known: KeyLookup | undefined,
  ): Promise<PreparableWrite<Outcome>> {
    const creation = mapped(await this.parts.writerOf(create.resource).creation(create, known), madeRow);
    const change = mapped(await this.parts.writerOf(update.resource).change(update), changedRow);
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
        const begun = await chosen.prepare(runner);
        return found ? begun : { ...begun, errors: { ...creation.errors, ...begun.errors } };
      },
      judged: (error) => chosen.judged(error),
    };
  }
}

/** By the values of the row's own columns, its key among them; what else a caller's grants say of it is the same for all rows of one request. */
function placeOf(where: Condition): string {
  if (where.kind === 'and') return where.conditions.map(placeOf).join('');
  return where.kind === 'compare' && where.operand.hops.length === 0
    ? JSON.stringify([where.operand.column.id, where.value])
    : '';
}

async function writeEach(
  steps: readonly PreparableWrite<Outcome>[],
  {
    runner,
    plan,
    dialect,
  }: { readonly runner: QueryRunner; readonly plan: BatchPlan; readonly dialect: Dialect },
  turn: (step: PreparableWrite<Outcome>, index: number) => void,
): Promise<readonly Row[]> {
  const { skipsMissing, completed } = plan;
  const begun: PreparedWrite<Outcome>[] = [];
  for (const [index, step] of steps.entries()) {
    turn(step, index);
    begun.push(
      isRefused(step.errors)
        ? { errors: step.errors, missing: false, write: () => Promise.resolve(MISSING) }
        : await step.prepare(runner),
    );
  }
  // What is wrong with any of them is told together.
  if (judge(begun, plan).some(isRefused)) refuse(judge(await looked(begun), plan));
  const written: Row[] = [];
  const refused: BulkStepError[] = [];
  for (const [index, step] of steps.entries()) {
    turn(step, index);
    const kind = plan.steps[index]?.kind;
    const first = begun[index];
    // What has been written since may have changed the row: a hook, a listener or a trigger has a say in other rows too.
    const isOld = index > 0 && first !== undefined && !first.look && (kind === 'update' || kind === 'upsert');
    const current = isOld ? await step.prepare(runner) : first;
    const { outcome, errors } =
      current && isRefused(current.errors)
        ? { outcome: undefined, errors: current.errors }
        : await judging(current);
    if (typeof outcome === 'object') written.push(outcome);
    refused.push(outcome === MISSING && !skipsMissing ? MISSING : errors);
  }
  refuse(refused);
  await runHook(completed, written, { runner, dialect });
  return written;
}

function judge(
  found: readonly Pick<PreparedWrite<Outcome>, 'errors' | 'missing'>[],
  { skipsMissing }: BatchPlan,
): readonly BulkStepError[] {
  return found.map(({ errors, missing: isMissing }) => (isMissing && !skipsMissing ? MISSING : errors));
}

/** One after the other: they share a connection. */
async function looked(
  begun: readonly PreparedWrite<Outcome>[],
): Promise<readonly Pick<PreparedWrite<Outcome>, 'errors' | 'missing'>[]> {
  const all = [];
  for (const each of begun) all.push(each.look ? await each.look() : each);
  return all;
}

/** What is wrong with one write keeps the others from being written, and not from being judged. */
async function judging(
  write: PreparedWrite<Outcome> | undefined,
): Promise<{ readonly outcome?: Outcome | undefined; readonly errors: FieldErrors }> {
  try {
    return { outcome: await write?.write(), errors: NO_ERRORS };
  } catch (error) {
    if (!isInvalidInput(error)) throw error;
    return { errors: error.fields };
  }
}

/** The application may have thrown that of another copy of the package. */
function isInvalidInput(error: unknown): error is InvalidInput {
  return isRestException(error) && 'fields' in error;
}

function madeRow(row: Row): Outcome {
  return row;
}

function changedRow(row: Row | undefined): Outcome {
  return row ? { ...row, changed: true } : MISSING;
}

function refuse(found: readonly BulkStepError[]): void {
  const refusals = new Map([...found.entries()].filter(([, each]) => isRefused(each)));
  if (refusals.size > 0) throw new BulkWriteError(refusals);
}

function isRefused(found: BulkStepError): boolean {
  return found === MISSING || Object.keys(found).length > 0;
}

function mapped<From, To>(step: PreparableWrite<From>, to: (result: From) => To): PreparableWrite<To> {
  return {
    errors: step.errors,
    judged: (error) => step.judged(error),
    prepare: async (runner) => {
      const { errors, missing: isMissing, write, look } = await step.prepare(runner);
      return { errors, missing: isMissing, write: async () => to(await write()), ...(look ? { look } : {}) };
    },
  };
}

/** All steps of a batch are one request's. */
function requesterOf({ steps }: BatchPlan): Requester | undefined {
  for (const step of steps) {
    const { requester } =
      step.kind === 'upsert' ? step.create : step.kind === 'refused' ? { requester: undefined } : step;
    if (requester) return requester;
  }
  return undefined;
}
