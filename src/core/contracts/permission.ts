import type { RowFilter } from '../query/row-filter.js';
import type { Actor } from '../schema/caller.js';
import type { NamedOperation } from '../schema/operation.js';
import type { ResourceSchema } from '../schema/resource-schema.js';

/** The context that is passed to a permission. */
export interface AccessContext {
  readonly actor: Actor;
  /** The method as the client sent it, with HEAD as GET. It may be one that the URL does not support. */
  readonly method: string;
  /**
   * What the request does with deleted objects, if it does: `method` is then GET, PATCH or DELETE. `aggregate` if it asks for
   * aggregates of rows that are not deleted, and not for the rows: `method` is then GET.
   */
  readonly operation?: NamedOperation | undefined;
  /** The resource to authorize: on a nested URL the child or the through model (contract 8.1). */
  readonly resource: ResourceSchema;
  /** The request of the HTTP library; undefined in calls without one. */
  readonly request: object | undefined;
  /** Whether the application's `PermissionSource` gives the actor this permission, as `polls.view_question`. */
  holds(name: string): Promise<boolean>;
}

/** A set of field names, or all fields. */
export type FieldSet = 'all' | ReadonlySet<string>;

/** A positive decision: the rows that are accessible, and the fields that are readable and writable. */
export interface Grant {
  readonly kind: 'grant';
  readonly rows: 'all' | RowFilter;
  readonly readable: FieldSet;
  readonly writable: FieldSet;
}

/**
 * What a denial hides when rows are referenced from another resource, as a parent in a URL or as a key in a body
 * (contract 8.6): every row, or none.
 */
export type Hiding = 'rows' | 'nothing';

/**
 * A negative decision. `forbidden` is 403, or 401 for an anonymous caller if a scheme has a challenge; `hidden` is 404, as
 * for a row that does not exist, and hides every row from references too.
 */
export interface Denial {
  readonly kind: 'denial';
  readonly reason: 'forbidden' | 'hidden';
  /** Default: the prefix's option `refusalsHide`, whose default is to hide nothing. */
  readonly hides?: Hiding;
}

/**
 * Authorizes access to a model. A grant always states which rows and which fields are accessible.
 *
 * ```ts
 * @Injectable()
 * export class OwnTickets implements Permission {
 *   decide({ actor }: AccessContext): Grant | Denial {
 *     return isUser(actor) ? allow({ rows: where('owner', actor.id) }) : deny({ hides: 'rows' });
 *   }
 * }
 * ```
 */
export interface Permission {
  /** States that `decide` takes account of `operation`. A model with `trash` does not start with a class of the application without it. */
  readonly decidesOnDeleted?: boolean;
  /** Returns `allow(…)`, `deny(…)` or `hide()`. What it throws is a 500, and nothing is granted. */
  decide(context: AccessContext): Grant | Denial | Promise<Grant | Denial>;
}

/** The restrictions of a grant: all rows and all fields by default. */
export interface Allowance {
  readonly rows?: RowFilter;
  /** Readable fields; all others are not serialized, filtered, searched or ordered by. */
  readonly readable?: readonly string[];
  /** Writable fields; all others are read-only. */
  readonly writable?: readonly string[];
}

/**
 * Creates a grant. An option that is present without a value is an error: it usually results from a failed lookup, and must
 * not grant all rows or all fields.
 * @throws TypeError for such an option
 */
export function allow(allowance: Allowance = {}): Grant {
  const { rows } = allowance;
  // In code without type checks it may also be null.
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
 * Creates a denial with 403, or 401 for an anonymous caller if a scheme has a challenge. By default it hides no row from
 * references in other resources; `hides: 'rows'` hides all of them, and is needed in every permission that grants some
 * callers some rows. `hides: 'nothing'` allows references, whatever the prefix's default.
 */
export function deny(options: { readonly hides?: Hiding } = {}): Denial {
  if (!('hides' in options)) return { kind: 'denial', reason: 'forbidden' };
  const { hides } = options;
  if (hides !== 'rows' && hides !== 'nothing') {
    throw new TypeError(
      "deny({ hides }) takes 'rows' or 'nothing'. Leave the option out for what the prefix says.",
    );
  }
  return { kind: 'denial', reason: 'forbidden', hides };
}

/** Creates a denial with 404, as for rows that do not exist. */
export function hide(): Denial {
  return { kind: 'denial', reason: 'hidden' };
}

/**
 * The source of an actor's permissions. The application replaces it with a provider of this token:
 *
 * ```ts
 * { provide: PermissionSource, useClass: RolesFromDatabase }
 * ```
 */
export interface PermissionSource {
  /**
   * Whether the actor holds `<app>.<right>_<model>`, where the right is `view`, `add`, `change` or `delete`, and for deleted
   * objects `view_deleted`, `restore` or `purge`. Called once per request and name.
   */
  holds(actor: Actor, name: string): boolean | Promise<boolean>;
}

/** The injection token, identical in all copies of the package in a process. */
export const PermissionSource: unique symbol = Symbol.for('nestjs-restify.PermissionSource') as never;

interface ActorLike {
  readonly isSuperuser?: unknown;
  readonly permissions?: unknown;
}

/** Reads `isSuperuser` and `permissions` (an array or a set of names) from the actor itself. */
export class ActorPermissionSource implements PermissionSource {
  holds(actor: Actor, name: string): boolean {
    const { isSuperuser, permissions } = (actor ?? {}) as ActorLike;
    if (isSuperuser === true) return true;
    if (permissions instanceof Set) return permissions.has(name);
    return Array.isArray(permissions) && permissions.includes(name);
  }
}

/** A permission class, instantiated by Nest's injector. */
export type PermissionClass = new (...dependencies: never[]) => Permission;

/** A permission class or a combination of permissions. A list of them is an `allOf`. */
export type PermissionExpression =
  | PermissionClass
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly PermissionExpression[] }
  | { readonly kind: 'not-permission'; readonly permission: PermissionExpression };

/** Grants if all permissions grant. Their rows are AND-ed, and a field must be granted by each. */
export function allOf(...permissions: readonly PermissionExpression[]): PermissionExpression {
  return { kind: 'all-of', permissions };
}

/**
 * Grants if at least one permission grants. Their rows are OR-ed. If their fields differ, only fields that are readable in
 * every row are granted: any field of a permission that grants all rows, else the fields that all of them grant.
 */
export function anyOf(...permissions: readonly PermissionExpression[]): PermissionExpression {
  return { kind: 'any-of', permissions };
}

/** The negation of a row filter, or of a permission. A permission that grants all rows becomes a denial, and a denial grants all. */
export function not(filter: RowFilter): RowFilter;
export function not(permission: PermissionExpression): PermissionExpression;
export function not(operand: RowFilter | PermissionExpression): RowFilter | PermissionExpression {
  return isRowFilter(operand)
    ? { kind: 'not', filter: operand }
    : { kind: 'not-permission', permission: operand };
}

function isRowFilter(operand: RowFilter | PermissionExpression): operand is RowFilter {
  return typeof operand !== 'function' && ['where', 'and', 'or', 'not'].includes(operand.kind);
}

/** An observer of the decisions of the application's permission classes. */
export interface DecisionWatch {
  record(decision: Grant | Denial, method: string): void;
}

/** A permission expression with its classes resolved to instances. */
export type CompiledPermission =
  /** Grants everything to every caller. */
  | { readonly kind: 'anyone' }
  | {
      readonly kind: 'one';
      readonly permission: Permission;
      readonly watch?: DecisionWatch | undefined;
      /** The name of its class, for errors of its row filters; undefined if it makes none. */
      readonly source?: string | undefined;
      /** Its grants never restrict the fields. */
      readonly allFields?: boolean;
    }
  | { readonly kind: 'all-of' | 'any-of'; readonly permissions: readonly CompiledPermission[] }
  | { readonly kind: 'not'; readonly permission: CompiledPermission };
