/** What became of an input: a canonical value, or the messages that the client is told. */
export type Outcome<Value> =
  { readonly value: Value; readonly errors?: undefined } | { readonly errors: readonly string[] };
