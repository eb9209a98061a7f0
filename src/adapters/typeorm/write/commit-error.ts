import { isRestException } from '../../../core/errors/rest-exception.js';
import type { RestrictedByReferrer } from '../../../core/errors/http-exceptions.js';
import { inSlices } from '../../../core/event-loop.js';
import type { BatchPlan, CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import { constraintError, forbiddenDeletion } from './constraint-errors.js';
import { restrictionError } from './find-referrer.js';
import type { WriterTools } from './row-writer.js';
import { isOfBody, noRelatedObject } from './translate-write-error.js';
import { violatedConstraint } from './violated-constraint.js';

type StepPlan = CreatePlan | UpdatePlan | DeletePlan;

/**
 * Translates the error of the COMMIT of several writes, where a database checks deferred constraints: it does not say which of
 * the written objects violates one. `recheck` throws the errors of those objects whose related ones are gone.
 */
export async function commitError(
  error: unknown,
  { steps }: BatchPlan,
  {
    toolsOf,
    recheck,
  }: { readonly toolsOf: (resource: ResourceSchema) => WriterTools; readonly recheck: () => Promise<void> },
): Promise<unknown> {
  const plans = steps.flatMap(plansOf);
  const [first] = plans;
  if (!first || isRestException(error)) return error;
  const { resource } = first;
  const tools = toolsOf(resource);
  const refusal = await violatedConstraint(error, resource, tools);
  if (!refusal) return error;
  const restricted = await findRestriction(plans, refusal, tools);
  if (restricted) return restricted;
  const { triggerMessages } = tools;
  const written = plans.filter((plan) => plan.kind !== 'delete');
  if (written.length === 0) return forbiddenDeletion(refusal, triggerMessages) ?? error;
  const { metadata } = tools.tables.of(resource);
  if (!written.some((plan) => isOfBody(refusal, plan, { resource, metadata }))) return error;
  if (refusal.kind === 'foreign-key') await recheck();
  return (
    constraintError(withoutColumns(refusal), { resource, sent: new Map(), triggerMessages }) ??
    noRelatedObject()
  );
}

function plansOf(step: BatchPlan['steps'][number]): readonly StepPlan[] {
  switch (step.kind) {
    case 'upsert':
      return [step.create, step.update];
    case 'refused':
      return [];
    default:
      return [step];
  }
}

/** The 409 of a batch. It names the first model that the caller may view, whichever row its objects refer to. */
async function findRestriction(
  plans: readonly StepPlan[],
  refusal: DatabaseError,
  tools: WriterTools,
): Promise<RestrictedByReferrer | undefined> {
  let restricted: RestrictedByReferrer | undefined;
  for await (const plan of inSlices(plans)) {
    const found = plan.kind === 'create' ? undefined : await restrictionError(plan, refusal, tools);
    if (found?.referrer !== undefined) return found;
    restricted ??= found;
  }
  return restricted;
}

function withoutColumns(refusal: DatabaseError): DatabaseError {
  switch (refusal.kind) {
    case 'unique':
    case 'not-null':
    case 'data':
      return { kind: refusal.kind };
    default:
      return refusal;
  }
}
