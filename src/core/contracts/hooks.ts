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

/**
 * All values of a row by the paths of its properties, those that no client may read and that the entity does not select included: the
 * canonical ones of the columns, of a relation its foreign key, of several columns as a list. Frozen. They may be secrets: do not log them.
 */
export type StoredValues = Readonly<Record<string, Json>>;

/** What hooks know of one write. */
export interface HookedWrite extends HookContext {
  readonly operation: WriteOperation;
  /** What was stored before a change, a deletion or a restoration, as read under the lock of the row; of several objects together, before the first of them. Undefined for a new object. */
  readonly stored: StoredValues | undefined;
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

/** A write that is committed. */
export interface CommittedWrite extends Pick<HookContext, 'actor' | 'request'> {
  readonly operation: WriteOperation;
  /** As in the hooks of the write. */
  readonly stored: StoredValues | undefined;
  /** What the write has left in the row; undefined after a deletion. */
  readonly values: StoredValues | undefined;
}

/** The context of committed writes. */
export type CommitContext = Pick<HookContext, 'resource'>;

/** The class in `afterCommit` of `forRoot`. */
export interface AfterCommit {
  /**
   * Called once for each model and transaction after its COMMIT, with the writes in their order. Responses do not wait for it. What it throws
   * or rejects with is logged, and changes nothing.
   */
  afterCommit(writes: readonly CommittedWrite[], context: CommitContext): void | Promise<void>;
}

/** The application's hooks in a model's operations, over HTTP and in process. Compiled at boot. */
export interface ResourceHooks {
  /** Values of a new row by property, as in a JSON body. They override those of the body. */
  readonly values?: (context: HookContext) => Promise<Readonly<Record<string, Json>>>;
  readonly before?: (step: WriteContext) => Promise<void>;
  readonly after?: (step: WriteContext) => Promise<void>;
}
