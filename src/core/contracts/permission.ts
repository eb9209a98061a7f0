import type { Actor } from '../schema/actor.js';
import type { Resource } from '../schema/resource.js';
import type { RowFilter } from '../query/row-filter.js';

/** What is asked of a permission. */
export interface AccessContext {
  readonly actor: Actor;
  /** The method as the client sent it; HEAD is asked as GET, and it may be one that the URL does not serve. */
  readonly method: string;
  /** Whose rights are asked for: on a nested URL the child or the through model (contract 8.1). */
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
 * What a refusal hides where rows are named from elsewhere, as a parent in a URL or as a key in a body (contract 8.6):
 * every row, or none.
 */
export type Hiding = 'rows' | 'nothing';

/**
 * A no. `forbidden` is 403, or 401 for an anonymous caller where a scheme can challenge; `hidden` answers as if there
 * were no such row, and hides every row elsewhere too.
 */
export interface Denial {
  readonly kind: 'refusal';
  readonly reason: 'forbidden' | 'hidden';
  /** Left out: what the prefix says (`refusalsHide`), and there the default is that nothing is hidden. */
  readonly hides?: Hiding;
}

/**
 * Says who may do what with a model. A yes is never bare: it says which rows and which fields.
 *
 * ```ts
 * @Injectable()
 * export class OwnTickets implements Permission {
 *   decide({ actor }: AccessContext): Grant | Refusal {
 *     return isUser(actor) ? allow({ rows: where('owner', actor.id) }) : deny({ hides: 'rows' });
 *   }
 * }
 * ```
 */
export interface Permission {
  decide(question: AccessContext): Grant | Denial | Promise<Grant | Denial>;
}

/** What is left of a yes: all rows and all fields, unless it says otherwise. */
export interface Allowance {
  readonly rows?: RowFilter;
  /** Fields that may be read; all others are neither shown, filtered, searched nor ordered by. */
  readonly readable?: readonly string[];
  /** Fields that may be written; all others are read-only. */
  readonly writable?: readonly string[];
}

/**
 * An option that is given and has no value is an error: it comes from a value that was looked up and not found, and must
 * not mean all rows or all fields.
 */
export function allow(allowance: Allowance = {}): Grant {
  const { rows } = allowance;
  // Of an author whom no type holds back it may also be null.
  if ('rows' in allowance && !(rows as unknown)) throw new TypeError(noValue('rows', 'all rows'));
  const [readable, writable] = [fieldSet('readable', allowance), fieldSet('writable', allowance)];
  return { kind: 'grant', rows: rows ?? 'all', readable, writable };
}

function fieldSet(name: 'readable' | 'writable', allowance: Allowance): FieldSet {
  if (!(name in allowance)) return 'all';
  const names: unknown = allowance[name];
  if (!Array.isArray(names)) throw new TypeError(noValue(name, 'all fields'));
  return new Set<string>(names);
}

function noValue(name: keyof Allowance, all: string): string {
  return `allow({ ${name} }) was given nothing that it can use. Leave the option out to grant ${all}.`;
}

/**
 * 403, or 401 for an anonymous caller where a scheme can challenge. It hides no row where rows are named from elsewhere;
 * `hides: 'rows'` hides all of them, and belongs into every permission that grants some callers some rows. `hides:
 * 'nothing'` says that the rows may be named, whatever the prefix says.
 */
export function deny(options: { readonly hides?: Hiding } = {}): Denial {
  if (!('hides' in options)) return { kind: 'refusal', reason: 'forbidden' };
  const { hides } = options;
  if (hides !== 'rows' && hides !== 'nothing') {
    throw new TypeError(
      "deny({ hides }) takes 'rows' or 'nothing'. Leave the option out for what the prefix says.",
    );
  }
  return { kind: 'refusal', reason: 'forbidden', hides };
}

/** As if the rows were not there: 404. */
export function hide(): Denial {
  return { kind: 'refusal', reason: 'hidden' };
}
