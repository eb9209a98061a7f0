/** One request, as it is found again. */
export interface ClaimRequest {
  /** The key, with what it belongs to. */
  readonly id: string;
  /** What is asked for. */
  readonly fingerprint: string;
  /** Seconds for which the answer is kept. */
  readonly life: number;
}

/** The right to do what was asked, until another takes it. */
export interface Claim {
  readonly id: string;
  readonly token: string;
  /** When the answer ends, as `Date.now()` says it. */
  readonly ends: number;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /** Another request has claimed the key, and has not ended. */
  | { readonly kind: 'running' }
  /** The key was sent with another request. */
  | { readonly kind: 'other' }
  | { readonly kind: 'answered'; readonly answer: string };

/**
 * The port to where answers are kept, for requests that come twice. A claim is seen by all processes at once; of requests that claim the
 * same key at the same time one gets it.
 */
export interface IdempotencyStore {
  claim(request: ClaimRequest): Promise<ClaimOutcome>;
  /** Inside the transaction of the write, so that both are there or neither. False where another has taken the claim: the write must be undone. */
  complete(claim: Claim, answer: string, transaction: object): Promise<boolean>;
  /** Nothing was written. Leaves a claim alone that is completed, or another's. */
  release(claim: Claim): Promise<void>;
}
