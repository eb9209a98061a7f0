import type { FieldErrors } from './rest-exception.js';

/** What is wrong with one write of several: messages, or that there is no such row. */
export type BulkStepError = FieldErrors | 'missing';

/** Nothing of a batch was written: what is wrong, by the place of the step. Who has made the batch knows what the client calls it. */
export class BulkWriteError extends Error {
  constructor(readonly refusals: ReadonlyMap<number, BulkStepError>) {
    super('A batch was refused');
  }
}
