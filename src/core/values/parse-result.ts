/** The result of parsing an input: a canonical value, or error messages for the client. */
export type Outcome<Value> =
  { readonly value: Value; readonly errors?: undefined } | { readonly errors: readonly string[] };

export function valid<Value>(value: Value): Outcome<Value> {
  return { value };
}

export function invalid(...errors: string[]): { readonly errors: readonly string[] } {
  return { errors };
}
