import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Completed, CreatePlan, DeletePlan, UpdatePlan, WritePlan } from '../../../core/query/plan.js';
import type { KeyLookup } from '../../../execution/read/key-lookups.js';
import { NotInsertedTogether } from './insert-together.js';
import { identityOfRow, WriteRecorder } from './recorded-writes.js';
import { throwStepError } from './row-writer.js';
import type { DeleteTogether, PreparableWrite, PreparedWrite, RowWriter, WriterTools } from './row-writer.js';

/** A writer whose writes are prepared steps. A single write runs in its own transaction. */
export abstract class StepWriter implements RowWriter {
  constructor(readonly tools: WriterTools) {}

  abstract prepareCreate(plan: CreatePlan, known?: KeyLookup): MaybePromise<PreparableWrite<Row>>;
  abstract prepareUpdate(plan: UpdatePlan): PreparableWrite<Row | undefined>;
  abstract prepareDelete(plan: DeletePlan): PreparableWrite<boolean>;
  abstract prepareDeletes(plans: readonly DeletePlan[]): Promise<DeleteTogether | undefined>;

  async create(plan: CreatePlan): Promise<Row> {
    return inOwnTransaction(await this.prepareCreate(plan), plan, this.tools);
  }

  update(plan: UpdatePlan): Promise<Row | undefined> {
    return inOwnTransaction(this.prepareUpdate(plan), plan, this.tools);
  }

  delete(plan: DeletePlan): Promise<boolean> {
    return inOwnTransaction(this.prepareDelete(plan), plan, this.tools);
  }
}

/** Executes a write in its own transaction. */
export async function inOwnTransaction<Result extends WriteResult>(
  step: PreparableWrite<Result>,
  plan: WritePlan,
  tools: WriterTools,
): Promise<Result> {
  throwStepError(step.errors);
  const write = async (runner: QueryRunner): Promise<Result> => {
    const ready = await step.prepare(runner);
    throwStepError(ready.errors);
    const recorder = ready.missing ? undefined : WriteRecorder.of([plan], () => tools);
    if (!recorder) return ready.write();
    await recorder.begin(runner, ready.stored && new Map([[plan, ready.stored]]));
    recorder.beginRow(plan, runner);
    const result = await ready.write();
    const key = keyOf(result, ready);
    if (key) recorder.add(plan, key);
    await recorder.end(runner);
    return result;
  };
  const begin = (): Promise<Result> => tools.connections.transact(write, plan.requester);
  try {
    return await begin().catch((error: unknown) => {
      if (error instanceof NotInsertedTogether) return begin();
      throw error;
    });
  } catch (error) {
    throw await step.translateError(error);
  }
}

/** The written row, or whether one was deleted; undefined or false if there was none. */
type WriteResult = Row | boolean | undefined;

/** The key of the row that a write has left or deleted; undefined if it has done nothing. */
function keyOf(
  result: WriteResult,
  { identity }: Pick<PreparedWrite<unknown>, 'identity'>,
): Completed['key'] | undefined {
  if (typeof result === 'object') return identityOfRow(result);
  return result === true ? identity : undefined;
}
