/** Who waits for what is read and written. */
export interface Requester {
  /** Whether nobody waits for the answer any more. Asked while statements run, and so at no cost. */
  isAborted(): boolean;
  /** Who it is, by which the connections that one caller has are counted; undefined for the application itself. */
  readonly caller: string | undefined;
}
