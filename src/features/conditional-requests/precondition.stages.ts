import { validatorColumnsOf, validatorValuesIn } from '../../core/contracts/conditional.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { NotFound } from '../../core/errors/http-exceptions.js';
import { conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Precondition } from '../../core/query/plan.js';
import type { Operation } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import { objectCondition } from '../../request/plan/plan-read.js';
import { represent } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { objectView, viewToRead } from './object-view.js';
import { planPrecondition } from './plan-precondition.js';
import { etagFor } from './validators.js';

const CHANGING_OPERATIONS: readonly Operation[] = ['update', 'partialUpdate', 'destroy'];

const WRITE_CONDITIONS = ['if-match', 'if-unmodified-since'];

/**
 * Reads `If-Match`, `If-None-Match` and `If-Unmodified-Since` of a request that changes one object of a model with entity
 * tags.
 */
export function readPrecondition(
  resource: Resource,
  operation: Operation,
  adapter: DataAdapter,
): readonly Stage[] {
  if (!resource.conditional || !CHANGING_OPERATIONS.includes(operation)) return [];
  return [
    async (context) => {
      context.precondition = await preconditionOf(context, adapter);
    },
  ];
}

/** Checks the precondition before a method of the application that replaces a write. Throws 404, 412, 428. */
export function assertPrecondition(adapter: DataAdapter): Stage {
  const preconditions = new Preconditions(adapter);
  return (context) =>
    context.precondition ? preconditions.assertMet(context, objectCondition(context)) : undefined;
}

/** Whether the request has a condition on the state of one object. */
export function hasWriteCondition(context: RestContext): boolean {
  return (
    context.route.resource.conditional !== undefined &&
    WRITE_CONDITIONS.some((name) => context.header(name) !== undefined)
  );
}

/** Entity tags are those of the representation that the caller reads, whatever the response to the write contains. */
async function preconditionOf(context: RestContext, adapter: DataAdapter): Promise<Precondition | undefined> {
  const { resource, rows } = await viewToRead(context);
  const reading = context.fork({ resource });
  const view = objectView(reading, adapter);
  const stateOf = (row: Row): string =>
    etagFor(view, validatorValuesIn(row, validatorColumnsOf(resource)), () =>
      JSON.stringify(represent(row, reading)),
    );
  const precondition = planPrecondition((name) => context.header(name), { view, stateOf }, Date.now());
  const compares =
    precondition && (precondition.where.kind !== 'always' || precondition.expected !== undefined);
  return compares === true
    ? { ...precondition, where: conjunction([precondition.where, rows]) }
    : precondition;
}

/** Explains why an object was not written. It decides nothing: the write itself checks the precondition. */
export class Preconditions {
  constructor(private readonly adapter: DataAdapter) {}

  /** Throws 404, or the error of the precondition. `where` selects the object. */
  async assertMet({ resource, precondition }: RestContext, where: Condition): Promise<void> {
    if (!(await this.adapter.exists({ resource, where, forWriting: true }))) throw new NotFound();
    if (precondition && !(await this.isMet(precondition, resource, where))) throw precondition.refusal();
  }

  /** The reason why nothing was written: without a precondition, the object does not exist. */
  async explainFailure({ resource, precondition }: RestContext, where: Condition): Promise<Error> {
    return precondition && (await this.adapter.exists({ resource, where, forWriting: true }))
      ? precondition.refusal()
      : new NotFound();
  }

  private async isMet(
    { where: condition, expected }: Precondition,
    resource: Resource,
    where: Condition,
  ): Promise<boolean> {
    if (
      condition.kind !== 'always' &&
      !(await this.adapter.exists({ resource, where: conjunction([where, condition]), forWriting: true }))
    )
      return false;
    if (!expected) return true;
    const row = await this.adapter.read(
      { kind: 'retrieve', resource: expected.resource, where, forWriting: true },
      'rows',
    );
    return row !== undefined && expected.holds(row);
  }
}
