import type { Json } from '../schema.js';

/** What must be answered. */
export interface Expected {
  readonly status: number;
  /** Any of these bodies; none: no body at all. */
  readonly bodies: readonly Json[];
  /** In place of bodies: one text under `detail`, which must fit. */
  readonly detail?: RegExp;
  /** In place of bodies: any. */
  readonly anyBody?: boolean;
  /** Links of the header `Link` by what they are; others may stand beside them. */
  readonly links?: Readonly<Record<string, string>>;
  /** Exact values, patterns, or null for a header that must not be there. */
  readonly headers: Readonly<Record<string, string | RegExp | null>>;
}

export type ErrorFields = Record<string, Json>;

/** Ends the work on a request, whose answer it is. */
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

export const NOT_FOUND = 'Not found.';

export function notFound(): Refusal {
  return detailed(404, NOT_FOUND);
}

export function forbidden(): Refusal {
  return detailed(403, 'You do not have permission to perform this action.');
}
