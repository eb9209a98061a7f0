import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { BatchPlan, PairWrites } from '../../core/query/plan.js';
import { MAX_BULK_KEYS } from '../../core/schema/limits.js';

/** Another transaction has written a pair between the read of the pairs and their write. */
export class PairsChanged extends Error {
  /** @param otherwise the error of the write if that is not the reason. */
  constructor(readonly otherwise?: Error) {
    super('Pairs have changed');
  }
}

/** Further attempts at a write of which another transaction has changed the pairs meanwhile. */
export const MAX_FURTHER = 3;

/** Writes rows with related keys, again where another transaction has changed pairs of them meanwhile. */
export async function writeWithPairs<Result>(
  pairs: PairWrites | undefined,
  write: () => MaybePromise<Result>,
): Promise<Result> {
  for (let further = 0; ; further++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof PairsChanged) || !pairs) throw error;
      if (further === MAX_FURTHER) throw error.otherwise ?? error;
    }
  }
}

/** The pairs of one of the rows of a batch; undefined if none has related keys. Throws 400 where they name too many together. */
export function pairsIn({ steps }: BatchPlan): PairWrites | undefined {
  const pairs = steps.flatMap((step) => {
    const row = step.kind === 'upsert' ? step.create : step;
    return 'pairs' in row && row.pairs ? [row.pairs] : [];
  });
  if (pairs.reduce((sum, { size }) => sum + size, 0) > MAX_BULK_KEYS)
    throw InvalidInput.ofNoField(
      `Ensure that all objects together have no more than ${MAX_BULK_KEYS} related keys.`,
    );
  return pairs[0];
}
