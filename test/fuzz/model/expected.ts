import type { Json } from '../schema.js';

/** The expected response. */
export interface Expected {
  readonly status: number;
  /** One of these bodies; empty for no body. */
  readonly bodies: readonly Json[];
  /** Instead of bodies: a pattern for the text of `detail`. */
  readonly detail?: RegExp;
  /** Instead of bodies: any body. */
  readonly anyBody?: boolean;
  /** Instead of bodies: the names under which there are errors, whose texts another test compares. */
  readonly errorNames?: readonly string[];
  /** Of rows that the database orders by rank, and otherwise as in the body: their texts, and how often the word searched for occurs. */
  readonly ranks?: Ranks;
  /** Expected links of the header `Link` by relation type; there may be others. */
  readonly links?: Readonly<Record<string, string>>;
  /** Exact values, patterns, or null for a header that must be absent. */
  readonly headers: Readonly<Record<string, string | RegExp | null>>;
}

export interface Ranks {
  readonly texts: readonly string[];
  /** Without an element where several words are searched for. */
  readonly counts: readonly number[];
  readonly isBestFirst: boolean;
}

export type ErrorFields = Record<string, Json>;

/** Thrown to end a request with this response. */
export class Refusal extends Error {
  constructor(readonly expected: Omit<Expected, 'headers'> & Partial<Pick<Expected, 'headers'>>) {
    super(`${expected.status}`);
  }
}

export function refuse(status: number, ...bodies: Json[]): Refusal {
  return new Refusal({ status, bodies });
}

export function detailed(status: number, detail: string): Refusal {
  return refuse(status, { detail });
}

export function invalid(fields: ErrorFields): Refusal {
  return refuse(400, fields);
}

/** 400 with errors under these names. */
export function invalidNames(names: readonly string[]): Refusal {
  return new Refusal({ status: 400, bodies: [], errorNames: names });
}

export const NOT_FOUND = 'Not found.';

export function notFound(): Refusal {
  return detailed(404, NOT_FOUND);
}

export function forbidden(): Refusal {
  return detailed(403, 'You do not have permission to perform this action.');
}
