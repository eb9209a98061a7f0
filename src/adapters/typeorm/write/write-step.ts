import type { QueryRunner } from 'typeorm';
import { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { ConnectionManager } from '../connection/connection-manager.js';

/** One write, ready for a transaction: its own, or one that it shares with others. */
export interface PreparableWrite<Result> {
  /** What is known to be wrong with it before the transaction. */
  readonly errors: FieldErrors;
  /** In the transaction: looks at what is there, under locks, and writes nothing. May come again, in another one. */
  prepare(runner: QueryRunner): Promise<PreparedWrite<Result>>;
  /** Behind the transaction that an error has ended: what is thrown in its place. */
  judged(error: unknown): Promise<unknown>;
}

export interface PreparedWrite<Result> {
  /** What is wrong with it, now that the row is known. */
  readonly errors: FieldErrors;
  /** There is no such row, and so nothing to write. */
  readonly missing: boolean;
  /** Of a write that has not looked yet, because it looks while it writes: where others are refused, it never writes. */
  readonly look?: () => Promise<Pick<PreparedWrite<Result>, 'errors' | 'missing'>>;
  /** Throws an error of its own, a `RestException`, or one of the database, which ends the transaction. */
  readonly write: () => Promise<Result>;
}

export const NO_ERRORS: FieldErrors = Object.freeze(emptyFieldErrors());

/** A write that finds nothing to write. */
export function notFound<Result>(result: Result): PreparedWrite<Result> {
  return { errors: NO_ERRORS, missing: true, write: () => Promise.resolve(result) };
}

export function prepared<Result>(write: () => Promise<Result>, errors = NO_ERRORS): PreparedWrite<Result> {
  return { errors, missing: false, write };
}

/** One that only looks where it has to. */
export function preparedWithoutLock<Result>(
  write: () => Promise<Result>,
  look: () => Promise<PreparedWrite<Result>>,
): PreparedWrite<Result> {
  return { errors: NO_ERRORS, missing: false, write, look };
}

/** In a transaction of its own. */
export async function writeAlone<Result>(
  step: PreparableWrite<Result>,
  connections: ConnectionManager,
  requester: Requester | undefined,
): Promise<Result> {
  throwStepError(step.errors);
  try {
    return await connections.transact((runner) => writeWithin(step, runner), requester);
  } catch (error) {
    throw await step.judged(error);
  }
}

/** In somebody's transaction, at once. */
export async function writeWithin<Result>(
  step: PreparableWrite<Result>,
  runner: QueryRunner,
): Promise<Result> {
  throwStepError(step.errors);
  const { errors, write } = await step.prepare(runner);
  throwStepError(errors);
  return write();
}

function throwStepError(errors: FieldErrors): void {
  for (const _ in errors) throw new InvalidInput(errors);
}
