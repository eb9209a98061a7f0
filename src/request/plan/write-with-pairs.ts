import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { BatchPlan, CreatePlan, PairWrites } from '../../core/query/plan.js';
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

/** What is written with a row. */
export type WrittenWith = Pick<CreatePlan, 'pairs' | 'children'>;

/** Writes rows with related keys or children, again where another transaction has changed pairs of them meanwhile. */
export async function writeWithPairs<Result>(
  { pairs, children }: WrittenWith,
  write: () => MaybePromise<Result>,
): Promise<Result> {
  for (let further = 0; ; further++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof PairsChanged) || !(pairs ?? children)) throw error;
      if (further === MAX_FURTHER) throw error.otherwise ?? error;
    }
  }
}

/** What is written with one of the rows of a batch. Throws 400 where they name too many keys together. */
export function writtenWith({ steps }: BatchPlan): WrittenWith {
  const rows = steps.map((step) => (step.kind === 'upsert' ? step.create : step));
  const pairs = rows.flatMap((row): readonly PairWrites[] =>
    'pairs' in row && row.pairs ? [row.pairs] : [],
  );
  if (pairs.reduce((sum, { size }) => sum + size, 0) > MAX_BULK_KEYS)
    throw InvalidInput.ofNoField(
      `Ensure that all objects together have no more than ${MAX_BULK_KEYS} related keys.`,
    );
  const children = rows.flatMap((row) => ('children' in row && row.children ? [row.children] : []));
  return { pairs: pairs[0], children: children[0] };
}
