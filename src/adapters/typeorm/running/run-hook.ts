import type { QueryRunner } from 'typeorm';
import { PermissionDenied, ServerError } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { CreatePlan } from '../../../model/plan.js';
import type { Row } from '../../../model/serializer.js';
import type { Dialect } from '../dialects/dialect.js';

/** Where a hook runs. */
interface Running {
  readonly runner: QueryRunner;
  readonly dialect: Dialect;
}

/** Statements of a hook are the application's: what the database refuses of them is no error of the body. */
export async function runHook<Given>(hook: ((given: Given, transaction: object) => Promise<void>) | undefined, given: Given, { runner, dialect }: Running): Promise<void> {
  try {
    await hook?.(given, runner.manager);
  } catch (error) {
    const kind = isRestError(error) ? undefined : dialect.refusal(error)?.kind;
    throw kind === undefined || kind === 'conflict' || kind === 'away' ? error : new ServerError({ cause: error });
  }
}

/** The row that was made, as it was read back: the last thing of its transaction. Throws 403 where the caller may not have it. */
export async function completed(row: Row | undefined, plan: CreatePlan, running: Running): Promise<Row> {
  if (!row) throw new PermissionDenied();
  await runHook(plan.completed, [row], running);
  return row;
}
