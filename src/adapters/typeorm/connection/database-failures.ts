import { QueryFailedError } from 'typeorm';
import {
  ClientClosedRequest,
  DatabaseUnavailable,
  InvalidSearchPattern,
} from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { DatabaseError, Dialect } from '../../../sql/dialects/dialect.js';
import { isClientClosed } from './cancellable-reads.js';
import type { Reading } from './cancellable-reads.js';

/** Classifies the errors of one data source's statements: which can be retried, and what the client receives for the others. */
export class DatabaseFailures {
  /** False once a session has lost a prepared statement: behind a connection pooler, sessions are shared with other processes. */
  keepsPrepared = true;

  constructor(private readonly dialect: Dialect) {}

  /** The kind of a database error. After a lost prepared statement, the next attempts use none. */
  kindOf(error: unknown): DatabaseError['kind'] | undefined {
    const kind = isRestException(error) ? undefined : this.dialect.errorFor(error)?.kind;
    if (kind === 'unprepared') this.keepsPrepared = false;
    return kind;
  }

  isRetryable(error: unknown): boolean {
    const kind = this.kindOf(error);
    return kind === 'conflict' || kind === 'unprepared' || kind === 'locked';
  }

  readonly isConnectionLost = (error: unknown): boolean => this.dialect.errorFor(error)?.kind === 'away';

  /** Maps an unavailable database to a 503 (contract 21.1), and returns every other error unchanged. */
  report(error: unknown): unknown {
    return !isRestException(error) && isTemporary(this.dialect.errorFor(error))
      ? new DatabaseUnavailable({ cause: error })
      : error;
  }

  /** As `report`. An invalid pattern in a statement that searches by one is that of the search term. */
  ofStatement(error: unknown): unknown {
    const { regexOperator } = this.dialect;
    return error instanceof QueryFailedError &&
      regexOperator !== undefined &&
      error.query.includes(` ${regexOperator} `) &&
      this.dialect.errorFor(error)?.kind === 'pattern'
      ? new InvalidSearchPattern('search')
      : this.report(error);
  }

  /** As `ofStatement`; a read that was cancelled for a disconnected client is not a failure of the database. */
  ofRead(error: unknown, reading: Reading): unknown {
    const failure = this.ofStatement(error);
    return failure instanceof DatabaseUnavailable && isClientClosed(reading)
      ? new ClientClosedRequest({ cause: error })
      : failure;
  }

  /**
   * Returns if the database has rejected a statement, which has written nothing then.
   * @throws every error that leaves the outcome unknown, or that another attempt would repeat.
   */
  assertRejected(error: unknown): void {
    const kind = this.dialect.errorFor(error)?.kind;
    if (
      kind === 'away' ||
      kind === 'timeout' ||
      kind === 'full' ||
      kind === 'locked' ||
      kind === 'unique' ||
      isRestException(error)
    )
      throw this.report(error);
    if (!(error instanceof QueryFailedError)) throw error;
    if (kind === 'unprepared') this.keepsPrepared = false;
  }
}
