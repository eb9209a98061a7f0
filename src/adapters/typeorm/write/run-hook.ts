import type { QueryRunner } from 'typeorm';
import { PermissionDenied, ServerError } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import type { CreatePlan } from '../../../core/query/plan.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { isSystemCode } from '../../../sql/dialects/error-codes.js';

/** Where a hook runs. */
interface Running {
  readonly runner: QueryRunner;
  readonly dialect: Dialect;
}

/**
 * Statements of a hook are the application's: what the database refuses of them is no error of the body. What the database fails at
 * goes on as it is, so that it is tried again or told as a database that is away.
 */
export async function runHook<Given>(
  hook: ((given: Given, transaction: object) => Promise<void>) | undefined,
  given: Given,
  { runner, dialect }: Running,
): Promise<void> {
  try {
    await hook?.(given, runner.manager);
  } catch (error) {
    if (isRestException(error)) throw error;
    const refusal = dialect.errorFor(error);
    if (!refusal) throw await lostOr(error, { runner, dialect });
    throw isTemporary(refusal) ? error : new ServerError({ cause: error });
  }
}

/**
 * The operating system's code for a server that is not there may be of this database, which the hook has asked over another connection,
 * or of any other server. The error of the transaction's own connection, where that is lost too.
 */
async function lostOr(error: unknown, { runner, dialect }: Running): Promise<unknown> {
  if (!isSystemCode((error as { code?: unknown } | null | undefined)?.code)) return error;
  try {
    await runner.query('SELECT 1');
    return error;
  } catch (found) {
    return dialect.errorFor(found)?.kind === 'away' ? found : error;
  }
}

/** The row that was made, as it was read back: the last thing of its transaction. Throws 403 where the caller may not have it. */
export async function completed(row: Row | undefined, plan: CreatePlan, running: Running): Promise<Row> {
  if (!row) throw new PermissionDenied();
  await runHook(plan.completed, [row], running);
  return row;
}
