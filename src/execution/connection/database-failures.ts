import {
  ClientClosedRequest,
  DatabaseUnavailable,
  InvalidSearchPattern,
} from '../../core/errors/http-exceptions.js';
import { isRestException } from '../../core/errors/rest-exception.js';
import { isTemporary } from '../../sql/dialects/dialect.js';
import type { DatabaseError, Dialect } from '../../sql/dialects/dialect.js';
import { isSystemCode } from '../../sql/dialects/error-codes.js';
import type { ConnectionPort, Session } from '../port.js';
import { isClientClosed } from './running-reads.js';
import type { Reading } from './running-reads.js';

/** Classifies the errors of one database's statements: which can be retried, and what the client receives for the others. */
export class DatabaseFailures {
  constructor(
    private readonly dialect: Dialect,
    private readonly port: Pick<ConnectionPort<Session>, 'failedSql' | 'stopPreparing'>,
  ) {}

  /** The kind of a database error. After a lost prepared statement, the next attempts use none. */
  kindOf(error: unknown): DatabaseError['kind'] | undefined {
    const kind = isRestException(error) ? undefined : this.dialect.errorFor(error)?.kind;
    if (kind === 'unprepared') this.port.stopPreparing();
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
    return regexOperator !== undefined &&
      this.port.failedSql(error)?.includes(` ${regexOperator} `) === true &&
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
    if (this.port.failedSql(error) === undefined) throw error;
    if (kind === 'unprepared') this.port.stopPreparing();
  }
}

/**
 * Maps a failed connection to a 503 if the server cannot be reached, which only an error code of the operating system
 * identifies.
 */
export function connectionFailure(error: unknown): Error {
  return isSystemCode((error as { code?: unknown } | null | undefined)?.code)
    ? new DatabaseUnavailable({ cause: error })
    : (error as Error);
}
