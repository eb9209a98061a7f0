import type { Json } from '../core/errors/rest-exception.js';
import type { Actor } from '../core/schema/actor.js';
import type { Condition } from '../core/query/condition.js';
import type { ExistsPlan, ParentValues, Precondition } from '../core/query/plan.js';
import type { Requester } from '../core/contracts/requester.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { JsonObject } from './parse/parse-body.js';
import type { Representation, Row } from '../core/contracts/serializer.js';
import type { ClaimRequest } from '../core/contracts/response-store.js';
import type { UrlKeys } from './parse/parse-url-keys.js';
import type { CallerAccess } from '../features/permissions/access-control.js';

/** Who was let in, and to what. Made by `admit`; without one nothing is answered. */
export interface Admission {
  readonly actor: Actor;
  /** Whose fields are those that the caller may read and write. */
  readonly resource: Resource;
  readonly rows: Condition;
  readonly accesses: CallerAccess;
  /** Whether the caller only looks, so that rows may come from a replica. */
  readonly reading: boolean;
  /** As the HTTP library gives it; undefined where the application asks itself. */
  readonly request: object | undefined;
}

/** A request that may come twice. */
export interface IdempotentRequest {
  /** By which it is known again; undefined where it has none. Throws 400. */
  key(): string | undefined;
  /** For the next thing that is made by it. Throws 400. */
  claim(key: string): Promise<ClaimRequest>;
}

/** An operation as somebody asks for it: over HTTP, or the application itself. */
export interface Asked {
  readonly route: Route;
  readonly keys: UrlKeys;
  readonly admission: Admission;
  /** The path below which the links stand: `/rest/v1`. */
  readonly base: string;
  /** Read when their turn comes, because their errors have one (contract 6.3). */
  readonly parameters: () => ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  readonly body: () => MaybePromise<JsonObject>;
  /** The body, which may be a list; undefined where the model takes none. */
  readonly items?: (() => MaybePromise<JsonObject | readonly unknown[]>) | undefined;
  /** Undefined where the application asks itself. */
  readonly requester?: Requester | undefined;
  /** Where what it makes is made once, however often it comes. */
  readonly repeatable?: IdempotentRequest | undefined;
}

/** The form that parameters give to an answer. */
export interface ResponseShape {
  /** With the fields that are wanted. */
  readonly view: Resource;
  /** Objects stand in the places of keys and links: they are read for each page of rows. */
  readonly expands: boolean;
  /** The rows of one page with what is expanded in them. Throws 400 where the answer comes to hold too many objects. */
  expanded(rows: readonly Row[]): Promise<readonly Row[]>;
  represent(row: Row): Representation;
}

/** A list, read page by page while it is taken. */
export interface ListAnswer {
  readonly pages: AsyncIterable<readonly Row[]>;
  readonly represent: (row: Row) => Representation;
}

/** What was asked for, and the rows that it is about. */
export interface Located extends Asked {
  readonly resource: Resource;
  /** What the URL and the grants leave of the rows, without the object's own key. */
  readonly within: Condition;
  readonly parent: ParentValues | undefined;
  /** The parent, where nobody has looked for it yet: its list does. */
  readonly pending: ExistsPlan | undefined;
  /** Undefined where the answer is the model's own. */
  readonly shape?: ResponseShape | undefined;
  /** What the row that is written must be before. */
  readonly precondition?: Precondition | undefined;
}

/** What an operation gave: a value, and the row that it shows; of a row that was made also how it is named. */
export interface Answered<Value = unknown> {
  readonly value: Value;
  readonly row?: Row;
  readonly key?: readonly Json[];
  /** Undefined where it is that of the operation. */
  readonly status?: number;
  /** Whether the value stands in the shape that the client asked for, and tells nothing of the state of the whole row. */
  readonly shaped?: boolean;
  /** Headers that tell the state of the row, of models whose requests may be conditional. */
  readonly validators?: Readonly<Record<string, string>>;
  /** Headers that tell how the answer came about. */
  readonly told?: Readonly<Record<string, string>> | undefined;
}

/** Member by member: to spread one costs many times as much, and this is done for every request. */
export function locatedIn(
  { route, keys, admission, base, parameters, body, items, requester, repeatable }: Asked,
  { within, parent, pending }: Pick<Located, 'within' | 'parent'> & { readonly pending?: ExistsPlan },
): Located {
  return {
    route,
    keys,
    admission,
    base,
    parameters,
    body,
    items,
    requester,
    repeatable,
    resource: admission.resource,
    within,
    parent,
    pending,
  };
}
