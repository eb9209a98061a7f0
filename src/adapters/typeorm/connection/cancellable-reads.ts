import { ClientClosedRequest } from '../../../core/errors/http-exceptions.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { RunningRead } from './running-reads.js';
import type { ReadRules } from './running-reads.js';

/** The server to read from. The primary has every write; a replica, if there is one, may lag behind it. */
export type ReadFrom = 'primary' | 'replica';

/** The client that a read belongs to, and the server that it uses. */
export interface Reading {
  readonly from: ReadFrom;
  readonly requester: Requester | undefined;
}

/**
 * Reads on the connections of one data source that the database can cancel. SQLite cannot: it runs statements
 * synchronously.
 */
export class CancellableReads {
  private readonly rules: ReadRules | undefined;

  /** @param limit the statement timeout in milliseconds; undefined for no timeout. */
  constructor(dialect: Dialect, limit: number | undefined) {
    const { canceller } = dialect;
    const discard = (connection: unknown): void => {
      dialect.discard(connection);
    };
    this.rules = canceller && { canceller, discard, limit };
  }

  /**
   * Registers a read, which can be cancelled until its `end` is called. Undefined if the database cannot cancel
   * statements.
   */
  watch(connection: unknown, { from, requester }: Reading): RunningRead | undefined {
    return (
      this.rules &&
      RunningRead.begin(connection, {
        rules: this.rules,
        requester: from === 'replica' ? requester : undefined,
      })
    );
  }
}

/**
 * True if the read's client has disconnected. A read that belongs to a write uses the primary, and completes regardless
 * of the client.
 */
export function isClientClosed({ from, requester }: Reading): boolean {
  return from === 'replica' && requester?.isAborted() === true;
}

/** Maps the cancellation of an aborted request to undefined, and rethrows every other error. */
export function ignoreClosedClient(error: unknown): undefined {
  if (error instanceof ClientClosedRequest) return undefined;
  throw error;
}
