import type { QueryRunner } from 'typeorm';
import { ServerError } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { isSystemCode } from '../../../sql/dialects/error-codes.js';

/** The connection and the dialect of a hook's transaction. */
interface Running {
  readonly runner: QueryRunner;
  readonly dialect: Dialect;
}

/**
 * Runs a hook of the application. A constraint violation in its own statements is not an error of the body. Other
 * database errors are rethrown unchanged, so that they are retried, or reported as an unavailable database.
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
    if (!refusal) throw await connectionErrorOr(error, { runner, dialect });
    throw isTemporary(refusal) ? error : new ServerError({ cause: error });
  }
}

/**
 * An operating system error may come from this database, which the hook has queried over another connection, or from
 * any other server. If the transaction's own connection is lost too, its error is returned.
 */
async function connectionErrorOr(error: unknown, { runner, dialect }: Running): Promise<unknown> {
  if (!isSystemCode((error as { code?: unknown } | null | undefined)?.code)) return error;
  try {
    await runner.query('SELECT 1');
    return error;
  } catch (found) {
    return dialect.errorFor(found)?.kind === 'away' ? found : error;
  }
}
