/** A request of the page, as it was sent. */
export interface SentRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}
