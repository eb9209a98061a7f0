import type { Outcome } from '../schema/parse-result.js';

export type { Outcome } from '../schema/parse-result.js';

export function valid<Value>(value: Value): Outcome<Value> {
  return { value };
}

export function invalid(...errors: string[]): { readonly errors: readonly string[] } {
  return { errors };
}
