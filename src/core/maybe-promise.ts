/** A value or a promise of it; values are handled synchronously. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Whether it has a `then`, as promises of other realms and of other libraries have. */
export function isPromise<Value>(given: MaybePromise<Value>): given is Promise<Value> {
  return typeof (given as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** Calls `next` with the value, synchronously unless it is a promise. An error of `next` is thrown, or rejects, accordingly. */
export function mapMaybe<Value, Result>(
  given: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return isPromise(given) ? Promise.resolve(given).then(next) : next(given);
}

/**
 * Runs `work`, and calls `next` with its value or `rescue` with its error, synchronously unless it returns a promise. `rescue`
 * does not see errors of `next`.
 */
export function settleMaybe<Value, Result>(
  work: () => MaybePromise<Value>,
  next: (value: Value) => Result,
  rescue: (error: unknown) => Result,
): MaybePromise<Result> {
  let given: MaybePromise<Value>;
  try {
    given = work();
  } catch (error) {
    return rescue(error);
  }
  return isPromise(given) ? Promise.resolve(given).then(next, rescue) : next(given);
}
