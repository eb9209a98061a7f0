/** Times in milliseconds. */
export interface ConnectionLimits {
  /** For a request to wait for a connection. */
  readonly acquireTimeout: number;
  /** For what one request reads over one connection; undefined for any time. */
  readonly statementTimeout: number | undefined;
  /** Whether one caller leaves a connection of the pool to others. */
  readonly fairShare: boolean;
}
