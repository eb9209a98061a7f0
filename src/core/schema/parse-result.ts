/** The result of parsing an input: a canonical value, or error messages for the client. */
export type Outcome<Value> =
  { readonly value: Value; readonly errors?: undefined } | { readonly errors: readonly string[] };
