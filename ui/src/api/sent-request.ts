/** A request of the page, as it was sent. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}
