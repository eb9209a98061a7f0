/** Ends from outside what a connection runs. */
export interface StatementCanceller {
  /**
   * Asks the server to cancel what this connection runs. Resolves when the server has dealt with it, so that it can hit nothing
   * that the connection runs behind an empty statement; rejects where that is not known. `given` aborts when nothing waits for it any more.
   */
  cancel(connection: unknown, given: AbortSignal): Promise<void>;
  /** Runs an empty statement on this connection: a cancel that comes late hits it, which is no error. */
  runEmpty(connection: unknown): Promise<void>;
  /** Closes this connection's socket, so that what it runs fails. */
  closeSocket(connection: unknown): void;
}
