/** Cancels the running statement of a connection from outside of it. */
export interface StatementCanceller {
  /**
   * Sends a cancel request for the running statement. Resolves once the server has processed it, so that it cannot affect
   * statements after an empty one; rejects if that is not known. `signal` aborts when the result is no longer needed.
   */
  cancel(connection: unknown, signal: AbortSignal): Promise<void>;
  /** Runs an empty statement on this connection, which absorbs a late cancel request without an error. */
  runEmpty(connection: unknown): Promise<void>;
  /** Closes the socket of this connection, so that its running statement fails. */
  closeSocket(connection: unknown): void;
}
