import type { Json } from '../errors/rest-exception.js';
import type { Actor } from '../schema/actor.js';
import type { Operation } from '../schema/operation.js';
import type { Resource } from '../schema/resource.js';

/** Who asks for what, as a hook of the application is told it. */
export interface HookContext {
  readonly actor: Actor;
  readonly resource: Resource;
  /** As the HTTP library gives it; undefined where the application asks itself. */
  readonly request: object | undefined;
}

/** An operation that changes a row. */
export type WriteOperation = Exclude<Operation, 'list' | 'retrieve'>;

/** One write on its way, inside its transaction. */
export interface PreparableWrite extends HookContext {
  readonly operation: WriteOperation;
  /** The entity that is written. */
  readonly entity: object;
  /** The ORM's own handle of the transaction. */
  readonly transaction: object;
}

/** What the application does at fixed places of a model's operations, on every way in. Compiled at boot. */
export interface ResourceHooks {
  /** Values of a new row, by property, as in a JSON body. They stand above those of the body. */
  readonly values?: (question: HookContext) => Promise<Readonly<Record<string, Json>>>;
  readonly before?: (step: PreparableWrite) => Promise<void>;
  readonly after?: (step: PreparableWrite) => Promise<void>;
}
