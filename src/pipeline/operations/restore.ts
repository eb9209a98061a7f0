import { NotDeleted, NotFound } from '../../core/errors/http-exceptions.js';
import { conjunction, NEVER } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { WriteRows } from '../../features/idempotency/idempotency.stage.js';
import { modelViewOf } from '../../features/permissions/restrict-fields.js';
import { selectFields } from '../../features/field-selection/select-fields.stage.js';
import { planPurge, planRestore } from '../../request/plan/plan-trash.js';
import { objectCondition } from '../../request/plan/row-conditions.js';
import { WrittenRows } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import type { OperationDefinition, PipelineServices } from '../pipeline-services.js';
import { rejectParameters } from './reject-parameters.js';

export const restore: OperationDefinition = {
  name: 'restore',
  method: 'POST',
  status: 200,
  operate: ({ resource }, services) => [
    deferDeletedCheck(services),
    (context) => {
      context.resource = modelViewOf(context.resource);
    },
    ...(resource.fieldSelection ? [selectFields(services.selector, false)] : []),
    ...rejectParameters(resource),
    restoreRow(services),
  ],
};

export const purge: OperationDefinition = {
  name: 'purge',
  method: 'POST',
  status: 200,
  operate: ({ resource }, services) => [
    deferDeletedCheck(services),
    ...rejectParameters(resource),
    purgeRow(services),
  ],
};

/** Errors of the query come after those of the object. */
function deferDeletedCheck(services: PipelineServices): Stage {
  return (context) => {
    const where = objectCondition(context);
    context.defer(async () => {
      await services.preconditions.assertMet(await selectDeleted(context, where, services), where);
    });
  };
}

/** Throws 404, 409 and 412 beside the errors of a write. */
function restoreRow(services: PipelineServices): Stage {
  return async (context) => {
    context.clearDeferredChecks();
    const { precondition, access } = context;
    const where = objectCondition(context);
    const written = new WrittenRows(context);
    const write: WriteRows = async (_, completed) => {
      const plan = planRestore(context, {
        deleted: trashOf(context).only,
        where: precondition ? conjunction([where, precondition.where]) : where,
        expected: precondition?.expected,
        visible: async () => (await access.tryAuthorize(modelOf(context), 'GET'))?.grantCondition ?? NEVER,
      });
      const row = await services.adapter.write({ ...plan, completed });
      if (!row) throw await explainFailure(context, where, services);
      return [row];
    };
    const { completed } = written;
    const { rows, replayed } = await services.idempotentWrites.runOnce(context, { write, completed });
    const [[value], [row]] = [await written.represent(rows), rows];
    context.result = { value, ...(row && { row }), isReplayed: replayed };
  };
}

function purgeRow(services: PipelineServices): Stage {
  return async (context) => {
    context.clearDeferredChecks();
    const { precondition } = context;
    const where = objectCondition(context);
    const write: WriteRows = async (_, completed) => {
      const plan = planPurge(context, {
        deleted: trashOf(context).only,
        where: precondition ? conjunction([where, precondition.where]) : where,
        expected: precondition?.expected,
        completed,
      });
      if (!(await services.adapter.write(plan))) throw await explainFailure(context, where, services);
      return [];
    };
    const { replayed } = await services.idempotentWrites.runOnce(context, { write });
    context.result = { value: undefined, isReplayed: replayed };
  };
}

/** Why a deleted object was not written. */
async function explainFailure(
  context: RestContext,
  where: Condition,
  services: PipelineServices,
): Promise<Error> {
  return services.preconditions.explainFailure(await selectDeleted(context, where, services), where);
}

/** The context of the deleted object. Throws 404, and 409 for an object that is not deleted, where the grant has it. */
async function selectDeleted(
  context: RestContext,
  where: Condition,
  { adapter }: PipelineServices,
): Promise<RestContext> {
  const trash = trashOf(context);
  const isThere = (resource: Resource): Promise<boolean> =>
    adapter.exists({ resource, where, forWriting: true });
  if (await isThere(trash.only)) return context.fork({ resource: trash.only });
  throw (await isThere(trash.with)) ? new NotDeleted() : new NotFound();
}

function modelOf({ route }: RestContext): Resource {
  return resourceOf(route.resource.deleted?.of ?? route.resource);
}

function trashOf(context: RestContext): NonNullable<Resource['trash']> {
  const { trash, className } = modelOf(context);
  if (!trash) throw new Error(`${className} has no trash.`);
  return trash;
}
