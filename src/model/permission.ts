import type { Actor } from './actor.js';
import type { Resource } from './resource.js';
import type { RowFilter } from './row-filter.js';

/** What is asked of a permission. */
export interface AccessQuestion {
  readonly actor: Actor;
  /** The method as the client sent it; may be one that the URL does not serve. */
  readonly method: string;
  /** Whose rights are asked for: on a nested URL the child or the through model (contract 8). */
  readonly resource: Resource;
}

/** A yes: which rows, and which fields may be read and written. */
export interface Grant {
  readonly kind: 'grant';
  readonly rows: 'all' | RowFilter;
  readonly readable: 'all' | ReadonlySet<string>;
  readonly writable: 'all' | ReadonlySet<string>;
}

/** A no. `hidden` answers as if the row were not there. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly reason: 'unauthenticated' | 'forbidden' | 'hidden';
}

export const GRANT_ALL: Grant = { kind: 'grant', rows: 'all', readable: 'all', writable: 'all' };

/** Says who may do what with a model. A yes is never bare: it says which rows and which fields. */
export interface Permission {
  decide(question: AccessQuestion): Grant | Refusal | Promise<Grant | Refusal>;
}
