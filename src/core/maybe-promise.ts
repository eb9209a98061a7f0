/** A value that is there already, or will be: what can be answered at once is not waited for. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Whether it has to be waited for. Promises of other realms are some as well, and whatever else of an author's has a `then`. */
export function isPromise<Value>(given: MaybePromise<Value>): given is Promise<Value> {
  return typeof (given as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** `next` with the value: now, where there is one. What `next` throws is thrown, or rejects, accordingly. */
export function mapMaybe<Value, Result>(
  given: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return isPromise(given) ? Promise.resolve(given).then(next) : next(given);
}
