import type { EntityManager } from 'typeorm';
import { REPLACES_OPERATIONS } from '../decorators/action.decorator.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { CommitContext, CommittedWrite, HookContext, WriteContext } from '../core/contracts/hooks.js';
import type { Operation } from '../core/schema/operation.js';
import type { AccessContext } from '../core/contracts/permission.js';
import type { RowFilter } from '../core/query/row-filter.js';
import { getOperate } from '../http/action-context.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the author of an overriding method declares the types of its parameters and result
type AnyArgument = any;

/** A write in progress, inside its transaction. */
export interface Write<Entity extends object = object> extends Omit<WriteContext, 'entity' | 'transaction'> {
  /**
   * Before a write: the entity that will be written, which may still be modified, or that will be deleted. After a write: the
   * same object, with the values that were written. Forward relations contain only the related key.
   */
  readonly entity: Entity;
  /** The entity manager of the transaction. Another one would not see the write; on SQLite, there is no other. */
  readonly manager: EntityManager;
}

/**
 * The base class of a `@RestifyController` that changes the six operations of its entity, at all of its URLs: its own, nested
 * ones and through objects. A method with the name of an operation replaces it, and `super` is the generated one; hooks
 * change an operation without replacing it. Authorization always runs first.
 *
 * ```ts
 * @RestifyController(Ticket)
 * export class TicketController extends ResourceController<Ticket> {
 *   override scope({ actor }: AccessContext) { return where('team', teamOf(actor)); }
 *   override async retrieve(request: Request) { return { ...(await super.retrieve(request)), seen: true }; }
 * }
 * ```
 *
 * Overriding methods receive the parameters of Nest's decorators; without decorators `(request)`, and for an object
 * `(request, pk)`. `super` requires the request, and accepts a body in place of the request's body. It throws the errors of
 * contract 6.1, and an `Error` for an object that is not the current request.
 */
export abstract class ResourceController<Entity extends object = object> {
  static readonly [REPLACES_OPERATIONS] = true;

  /** Returns all rows of the response in memory, unlike the generated list, which is streamed. With pagination: the body of the page, an envelope or its rows. */
  list(request: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('list', request);
  }

  /** Creates an object of the given body, or of that of the request, sets `Location`, and returns the object. */
  create(request: AnyArgument, body?: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('create', request, body);
  }

  /** Returns the object of the URL. */
  retrieve(request: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('retrieve', request);
  }

  /** Changes the object of the URL as PUT, by the given body or that of the request, and returns it. */
  update(request: AnyArgument, body?: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('update', request, body);
  }

  /** Changes the object of the URL as PATCH, by the given body or that of the request, and returns it. */
  partialUpdate(request: AnyArgument, body?: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('partialUpdate', request, body);
  }

  /** Deletes the object of the URL. */
  destroy(request: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('destroy', request);
  }

  /** The rows that exist for a caller. All others are hidden at all URLs, as by a permission that grants only these. */
  scope?(context: AccessContext): RowFilter | 'all' | Promise<RowFilter | 'all'>;

  /** Values of a new row by property, as in a JSON body, for example the owner. They override the body and may set hidden and read-only fields. */
  valuesOnCreate?(
    context: HookContext,
  ): Readonly<Record<string, Json>> | Promise<Readonly<Record<string, Json>>>;

  /** Called after all checks, before the row is written. An error rolls the write back and becomes the response. */
  beforeWrite?(write: Write<Entity>): void | Promise<void>;

  /** Called after the row has been written, before the commit. An error rolls the write back and becomes the response. */
  afterWrite?(write: Write<Entity>): void | Promise<void>;

  /** Called once for each transaction after its COMMIT, with the writes of the model in their order. Responses do not wait for it; what it throws is logged. */
  afterCommit?(writes: readonly CommittedWrite[], context: CommitContext): void | Promise<void>;
}

/** The hooks of a class in `hooks` of `forRoot`, which run in the writes of every model. It has at least one of them. */
export type WriteHooks = Pick<ResourceController, 'beforeWrite' | 'afterWrite'>;

async function runGenerated(operation: Operation, request: unknown, body?: unknown): Promise<unknown> {
  const operate = getOperate(request);
  if (!operate)
    throw new Error(
      `super.${operation}(request) wants the request that is being answered, in a method that replaces an operation.`,
    );
  // A second argument that is not an object is the key that Nest has passed: `(request, pk)`.
  const given =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Readonly<Record<string, unknown>>)
      : undefined;
  return operate(operation, given);
}
