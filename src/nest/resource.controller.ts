import type { EntityManager } from 'typeorm';
import { REPLACES_OPERATIONS } from '../decorators/action.decorator.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { HookContext, WriteContext } from '../core/contracts/hooks.js';
import type { Operation } from '../core/schema/operation.js';
import type { AccessContext } from '../core/contracts/permission.js';
import type { RowFilter } from '../core/query/row-filter.js';
import { getOperate } from '../http/action-context.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what Nest gives to an overriding method, and what that answers, has the types that its author says
type AnyArgument = any;

/** A write on its way, inside its transaction. */
export interface Write<Entity extends object = object> extends Omit<WriteContext, 'entity' | 'transaction'> {
  /**
   * Before a write, the entity as it will be written, and may still be changed; after it, as it was. Forward relations
   * hold the related key alone, and of a row that is deleted none is loaded.
   */
  readonly entity: Entity;
  /** Works inside the transaction. Another one would not see the write, and on SQLite there is none. */
  readonly manager: EntityManager;
}

/**
 * What a `@RestifyController` extends to change the six operations of its entity, on every way in: its own URLs, nested
 * ones and through objects. A method of one of their names replaces the operation, and `super` is the generated one; the
 * hooks change it without replacing it. Admission stays in front of all.
 *
 * ```ts
 * @RestifyController(Ticket)
 * export class TicketController extends ResourceController<Ticket> {
 *   override scope({ actor }: AccessContext) { return where('team', teamOf(actor)); }
 *   override async retrieve(request: Request) { return { ...(await super.retrieve(request)), seen: true }; }
 * }
 * ```
 *
 * Methods that replace take what Nest's parameter decorators give them; without any, `(request)`, and for an object
 * `(request, pk)`. `super` wants the request, and takes a body in place of the request's own. It throws the errors of contract
 * 6.1, and a plain error for anything but the request that is being answered.
 */
export abstract class ResourceController<Entity extends object = object> {
  static readonly [REPLACES_OPERATIONS] = true;

  /** All rows of the answer, as they are sent. Unlike the generated list, which is sent page by page, it is whole in memory. With a pagination, the page as it is sent: the envelope, or its rows. */
  list(request: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('list', request);
  }

  create(request: AnyArgument, body?: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('create', request, body);
  }

  retrieve(request: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('retrieve', request);
  }

  update(request: AnyArgument, body?: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('update', request, body);
  }

  partialUpdate(request: AnyArgument, body?: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('partialUpdate', request, body);
  }

  destroy(request: AnyArgument, ..._more: AnyArgument[]): Promise<AnyArgument> {
    return runGenerated('destroy', request);
  }

  /** The rows that there are for a caller. All others are absent on every way in, as by a permission that grants these. */
  scope?(question: AccessContext): RowFilter | 'all' | Promise<RowFilter | 'all'>;

  /** Values of a new row by property, as in a JSON body: the owner. They stand above those of the body, hidden and read-only fields included. */
  valuesOnCreate?(
    question: HookContext,
  ): Readonly<Record<string, Json>> | Promise<Readonly<Record<string, Json>>>;

  /** When all is checked, and before the row is written. What it throws undoes the write and is the answer. */
  beforeWrite?(write: Write<Entity>): void | Promise<void>;

  /** When the row is written, and before the transaction ends. What it throws undoes the write and is the answer. */
  afterWrite?(write: Write<Entity>): void | Promise<void>;
}

async function runGenerated(operation: Operation, request: unknown, body?: unknown): Promise<unknown> {
  const operate = getOperate(request);
  if (!operate)
    throw new Error(
      `super.${operation}(request) wants the request that is being answered, in a method that replaces an operation.`,
    );
  // A second argument that is no object is what Nest has given: `(request, pk)`.
  const given =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Readonly<Record<string, unknown>>)
      : undefined;
  return operate(operation, given);
}
