import type { QueryRunner } from 'typeorm';
import { ServerError } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { TransactionHooks } from '../../../model/plan.js';
import type { Dialect } from '../dialects/dialect.js';

/** Statements of a hook are the application's: what the database refuses of them is no error of the body. */
export async function runHook(hook: TransactionHooks['before'], entity: object, { runner, dialect }: { readonly runner: QueryRunner; readonly dialect: Dialect }): Promise<void> {
  try {
    await hook?.(entity, runner.manager);
  } catch (error) {
    const kind = isRestError(error) ? undefined : dialect.refusal(error)?.kind;
    throw kind === undefined || kind === 'conflict' || kind === 'away' ? error : new ServerError({ cause: error });
  }
}
