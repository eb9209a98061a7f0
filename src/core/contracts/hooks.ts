import type { Json } from '../errors/rest-exception.js';
import type { Actor } from '../schema/caller.js';
import type { Operation } from '../schema/operation.js';
import type { ResourceSchema } from '../schema/resource-schema.js';

/** The context that is passed to the application's hooks. */
export interface HookContext {
  readonly actor: Actor;
  readonly resource: ResourceSchema;
  /** The request of the HTTP library; undefined in calls by the application itself. */
  readonly request: object | undefined;
}

/** An operation that changes a row. */
export type WriteOperation = Exclude<Operation, 'list' | 'retrieve'>;

/** What hooks know of one write. */
export interface HookedWrite extends HookContext {
  readonly operation: WriteOperation;
  /** The entity to be written; afterwards the same object, as written. */
  readonly entity: object;
}

/** The hooks of a class for every model of a prefix. */
export interface HookClass {
  beforeWrite?(write: HookedWrite): void | Promise<void>;
  afterWrite?(write: HookedWrite): void | Promise<void>;
}

/** The context of one write, inside its transaction. */
export interface WriteContext extends HookedWrite {
  /** The ORM's transaction handle. */
  readonly transaction: object;
}

/** The application's hooks in a model's operations, over HTTP and in process. Compiled at boot. */
export interface ResourceHooks {
  /** Values of a new row by property, as in a JSON body. They override those of the body. */
  readonly values?: (context: HookContext) => Promise<Readonly<Record<string, Json>>>;
  readonly before?: (step: WriteContext) => Promise<void>;
  readonly after?: (step: WriteContext) => Promise<void>;
}
