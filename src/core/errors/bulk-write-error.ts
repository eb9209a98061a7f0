import type { FieldErrors } from './rest-exception.js';

/** The error of one write of a batch: messages by field, or a missing row. */
export type BulkStepError = FieldErrors | 'missing';

/** The errors of a batch that was rolled back, by the index of the step. The caller maps the index to the client's object. */
export class BulkWriteError extends Error {
  constructor(readonly refusals: ReadonlyMap<number, BulkStepError>) {
    super('A batch was refused');
  }
}
