import type { ObjectLiteral, QueryRunner } from 'typeorm';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import type { CreatePlan, KeyCheck, StartedPairs, UpdatePlan } from '../../../core/query/plan.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import { NO_ERRORS } from './row-writer.js';
import type { WriterTools } from './row-writer.js';

const NO_PAIRS: StartedPairs = {
  keys: [],
  errors: NO_ERRORS,
  changes: false,
  write: () => Promise.resolve(),
};

interface Transaction {
  readonly runner: QueryRunner;
  readonly tools: Pick<WriterTools, 'adapter' | 'connections' | 'dialect'>;
}

/** Finds the pairs that a body changes, under the lock of the row. */
export async function beginPairs(
  { pairs }: Pick<CreatePlan, 'pairs'>,
  identity: readonly Json[] | undefined,
  transaction: Transaction,
): Promise<StartedPairs> {
  const within = { adapter: transaction.tools.adapter, transaction: transaction.runner.manager };
  return pairs ? runJoined(() => pairs.begin(identity, within), transaction) : NO_PAIRS;
}

/** Writes the pairs of a written row. */
export async function writePairs(
  pairs: StartedPairs,
  identity: readonly Json[],
  transaction: Transaction,
): Promise<void> {
  if (pairs !== NO_PAIRS) await runJoined(() => pairs.write(identity), transaction);
}

/** The row that is written, as the children see it. */
interface WrittenParent {
  readonly entity: ObjectLiteral;
  /** Undefined for a new row. */
  readonly identity: readonly Json[] | undefined;
}

/** The errors of the children of a row that is about to be written. */
export async function checkChildren(
  { children }: Pick<CreatePlan, 'children'>,
  { entity, identity }: WrittenParent,
  transaction: Transaction,
): Promise<FieldErrors> {
  if (!children) return NO_ERRORS;
  const within = { adapter: transaction.tools.adapter, transaction: transaction.runner.manager };
  return runJoined(() => children.check(entity, identity, within), transaction);
}

/** Writes the children of a written row. Returns whether the row is known to be as it was written. */
export async function writeChildren(
  { children, hooks, pairs }: Pick<CreatePlan, 'children' | 'hooks' | 'pairs'>,
  { entity, identity }: WrittenParent & { readonly identity: readonly Json[] },
  transaction: Transaction,
): Promise<boolean> {
  if (!children) return true;
  const within = {
    adapter: transaction.tools.adapter,
    transaction: transaction.runner.manager,
    isRepeatable: !hooks.before && !hooks.after && !pairs,
  };
  return runJoined(() => children.write(entity, identity, within), transaction);
}

/**
 * Runs operations of the adapter in the transaction of the row. A conflict is thrown as the database has reported it, so that the whole
 * transaction is repeated.
 */
async function runJoined<Result>(
  work: () => Promise<Result>,
  { runner, tools: { connections, dialect } }: Transaction,
): Promise<Result> {
  try {
    return await connections.joined.run(runner, work, true);
  } catch (error) {
    const cause = error instanceof DatabaseUnavailable ? error.cause : undefined;
    throw isTemporary(dialect.errorFor(cause)) ? cause : error;
  }
}

/** The keys of a change, and those of the pairs that it creates. */
export function keysOf({ keys }: Pick<UpdatePlan, 'keys'>, pairs: StartedPairs): readonly KeyCheck[] {
  return pairs.keys.length === 0 ? keys : [...keys, ...pairs.keys];
}
