import type { Outcome } from '../model/outcome.js';

export type { Outcome } from '../model/outcome.js';

export function valid<Value>(value: Value): Outcome<Value> {
  return { value };
}

export function invalid(...errors: string[]): { readonly errors: readonly string[] } {
  return { errors };
}
