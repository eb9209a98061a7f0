/** A value that is there already, or will be: what can be answered at once is not waited for. */
export type Soon<Value> = Value | Promise<Value>;

/** Whether it has to be waited for. Promises of other realms are some as well, and whatever else of an author's has a `then`. */
export function isLater<Value>(given: Soon<Value>): given is Promise<Value> {
  return typeof (given as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** `next` with the value: now, where there is one. What `next` throws is thrown, or rejects, accordingly. */
export function whenThere<Value, Result>(
  given: Soon<Value>,
  next: (value: Value) => Soon<Result>,
): Soon<Result> {
  return isLater(given) ? Promise.resolve(given).then(next) : next(given);
}
