import type { Actor } from './actor.js';
import type { Resource } from './resource.js';
import type { RowFilter } from './row-filter.js';

/** What is asked of a permission. */
export interface AccessQuestion {
  readonly actor: Actor;
  /** The method as the client sent it; HEAD is asked as GET, and it may be one that the URL does not serve. */
  readonly method: string;
  /** Whose rights are asked for: on a nested URL the child or the through model (contract 8). */
  readonly resource: Resource;
  /** As the HTTP library gives it; undefined where the application asks without one. */
  readonly request: object | undefined;
  /** Whether the actor holds a permission by name, `polls.view_question`, as the application's `PermissionSource` says. */
  holds(name: string): Promise<boolean>;
}

/** Fields by name, or all of them. */
export type FieldSet = 'all' | ReadonlySet<string>;

/** A yes: which rows, and which fields may be read and written. */
export interface Grant {
  readonly kind: 'grant';
  readonly rows: 'all' | RowFilter;
  readonly readable: FieldSet;
  readonly writable: FieldSet;
}

/**
 * A no. `forbidden` is 403, or 401 for an anonymous caller where a scheme can challenge; `hidden` answers as if there
 * were no such row.
 */
export interface Refusal {
  readonly kind: 'refusal';
  readonly reason: 'forbidden' | 'hidden';
}

/**
 * Says who may do what with a model. A yes is never bare: it says which rows and which fields.
 *
 * ```ts
 * @Injectable()
 * export class OwnTickets implements Permission {
 *   decide({ actor }: AccessQuestion): Grant | Refusal {
 *     return isUser(actor) ? allow({ rows: where('owner', actor.id) }) : deny();
 *   }
 * }
 * ```
 */
export interface Permission {
  decide(question: AccessQuestion): Grant | Refusal | Promise<Grant | Refusal>;
}

/** What is left of a yes: all rows and all fields, unless it says otherwise. */
export interface Allowance {
  readonly rows?: RowFilter;
  /** Fields that may be read; all others are neither shown, filtered, searched nor ordered by. */
  readonly readable?: readonly string[];
  /** Fields that may be written; all others are read-only. */
  readonly writable?: readonly string[];
}

/** What is null, as an author has it whom no type holds back, is no filter, and not all rows either. */
export function allow({ rows, readable, writable }: Allowance = {}): Grant {
  return { kind: 'grant', rows: rows === undefined ? 'all' : rows, readable: readable ? new Set(readable) : 'all', writable: writable ? new Set(writable) : 'all' };
}

export function deny(): Refusal {
  return { kind: 'refusal', reason: 'forbidden' };
}

/** As if the rows were not there: 404. */
export function hide(): Refusal {
  return { kind: 'refusal', reason: 'hidden' };
}
