import type { Requester } from '../../../core/contracts/requester.js';

/** Limits on the use of connections. Times are in milliseconds. */
export interface ConnectionLimits {
  /** How long a request waits for a connection. */
  readonly acquireTimeout: number;
  /** How long the reads of one request over one connection may take; undefined for no limit. */
  readonly statementTimeout: number | undefined;
  /** Whether one caller has to leave at least one connection of the pool to others. */
  readonly fairShare: boolean;
}

/** Reports an error that changes no response. `subject` is the text of the log. */
export type ReportError = (
  error: unknown,
  about: { subject: string; requester: Requester | undefined },
) => void;

export interface ConnectionSettings extends ConnectionLimits {
  readonly reportError?: ReportError | undefined;
}
