/** The client on whose behalf rows are read and written. */
export interface Requester {
  /** True once the client has disconnected. Polled while statements run, so it must be cheap. */
  isAborted(): boolean;
  /** Identifies the caller, to limit the connections of each; undefined for the application itself. */
  readonly caller: string | undefined;
  /** The request of the HTTP library. */
  readonly call?: { readonly method: string; readonly request: object } | undefined;
}
