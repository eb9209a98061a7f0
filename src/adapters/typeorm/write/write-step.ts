import type { QueryRunner } from 'typeorm';
import { InvalidInput } from '../../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { ConnectionManager } from '../connection/connection-manager.js';

/** A write that is prepared for a transaction, its own or a shared one. */
export interface PreparableWrite<Result> {
  /** The errors that are known before the transaction. */
  readonly errors: FieldErrors;
  /** Reads and locks the row in the transaction, without writing. May be called again in another transaction. */
  prepare(runner: QueryRunner): Promise<PreparedWrite<Result>>;
  /** Translates the error that has ended the transaction to the one that is thrown. */
  translateError(error: unknown): Promise<unknown>;
}

export interface PreparedWrite<Result> {
  /** The errors that are known once the row has been read. */
  readonly errors: FieldErrors;
  /** True if the row does not exist, and nothing is to be written. */
  readonly missing: boolean;
  /**
   * The check of a write that reads the row only while writing it. If other steps have errors, only this check runs.
   */
  readonly check?: () => Promise<Pick<PreparedWrite<Result>, 'errors' | 'missing'>>;
  /** @throws an error of its own, a `RestException`, or an error of the database, which ends the transaction. */
  readonly write: () => Promise<Result>;
}

export const NO_ERRORS: FieldErrors = Object.freeze(emptyFieldErrors());

/** A write without a row. */
export function notFound<Result>(result: Result): PreparedWrite<Result> {
  return { errors: NO_ERRORS, missing: true, write: () => Promise.resolve(result) };
}

export function prepared<Result>(write: () => Promise<Result>, errors = NO_ERRORS): PreparedWrite<Result> {
  return { errors, missing: false, write };
}

/** A write that reads and locks its row only if necessary. */
export function preparedWithoutLock<Result>(
  write: () => Promise<Result>,
  check: () => Promise<PreparedWrite<Result>>,
): PreparedWrite<Result> {
  return { errors: NO_ERRORS, missing: false, write, check };
}

/** Executes a write in its own transaction. */
export async function writeAlone<Result>(
  step: PreparableWrite<Result>,
  connections: ConnectionManager,
  requester: Requester | undefined,
): Promise<Result> {
  throwStepError(step.errors);
  try {
    return await connections.transact((runner) => writeWithin(step, runner), requester);
  } catch (error) {
    throw await step.translateError(error);
  }
}

/** Executes a write in a running transaction. */
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
  if (hasErrors(errors)) throw new InvalidInput(errors);
}

export function hasErrors(errors: FieldErrors): boolean {
  for (const _ in errors) return true;
  return false;
}
