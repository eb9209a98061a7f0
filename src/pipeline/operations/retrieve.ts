import type { DataAdapter } from '../../core/data-adapter.js';
import { NotFound } from '../../core/errors/http-exceptions.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { Route } from '../../core/schema/route.js';
import { chooseOutput } from '../../execution/choose-read.js';
import { respondWithValidatedJson } from '../../features/conditional-requests/validator.stages.js';
import { addCounts } from '../../features/field-selection/add-counts.stage.js';
import { addLabels } from '../../features/labels/add-labels.stage.js';
import { selectFields } from '../../features/field-selection/select-fields.stage.js';
import { jsonOutput, representExpanded } from '../../request/represent-row.js';
import type { Stage } from '../../request/rest-context.js';
import type { PipelineServices, OperationDefinition } from '../pipeline-services.js';
import { rejectDeletedRows, rejectParameters } from './reject-parameters.js';
import { objectCondition, planRetrieve } from '../../request/plan/row-conditions.js';

export const retrieve: OperationDefinition = {
  name: 'retrieve',
  method: 'GET',
  status: 200,
  operate: (route, services) => [...parseQuery(route, services), readObject(route, services.adapter)],
};

/**
 * The object precedes the query in the order of checks: an error of the query is reported after the lookup of the object.
 */
function parseQuery({ resource }: Route, { adapter, selector }: PipelineServices): readonly Stage[] {
  const { fieldSelection, strict, trash, labelsParameter, counts } = resource;
  if (!fieldSelection && !strict && !trash && !counts && labelsParameter === undefined) return [];
  return [
    (context) => {
      // With deleted objects, the model is its view on these.
      const { requester, resource: shown } = context;
      const where = objectCondition(context);
      context.defer(async () => {
        if (!(await adapter.exists({ resource: shown, where, forWriting: false, requester })))
          throw new NotFound();
      });
    },
    ...(fieldSelection ? [selectFields(selector, true)] : []),
    ...addCounts(resource, selector),
    ...addLabels(resource, adapter),
    ...rejectDeletedRows(resource),
    ...rejectParameters(resource),
    (context) => {
      context.clearDeferredChecks();
    },
  ];
}

/** Reads the object, as JSON that the database serializes where possible unless its value is needed. Throws 404. */
function readObject({ resource }: Route, adapter: DataAdapter): Stage {
  const readValue = readObjectValue(adapter);
  const readValidated = respondWithValidatedJson(adapter);
  return (context) => {
    const { use, form } = chooseOutput(context);
    if (use !== 'response' || form === 'expanded') return readValue(context);
    // A field selection has no entity tag.
    if (resource.conditional && !context.fieldSelection) return readValidated(context);
    return mapMaybe(adapter.read(planRetrieve(context), jsonOutput(context)), (object) => {
      if (!object) throw new NotFound();
      context.response = { status: 200, body: { kind: 'text', text: object.text } };
    });
  };
}

function readObjectValue(adapter: DataAdapter): Stage {
  return async (context) => {
    const row = await adapter.read(planRetrieve(context), 'rows');
    if (!row) throw new NotFound();
    context.result = { value: await representExpanded(row, context), row };
  };
}
