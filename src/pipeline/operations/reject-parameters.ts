import { mapMaybe } from '../../core/maybe-promise.js';
import type { Resource } from '../../core/schema/resource.js';
import { foldLists, rejectUnknownParameters } from '../../request/parse/query-parameters.js';
import type { Stage } from '../../request/rest-context.js';

/** In a strict model, throws 400 for unknown parameters of an operation on one object. */
export function rejectParameters({ strict }: Resource): readonly Stage[] {
  if (!strict) return [];
  return [
    (context) =>
      mapMaybe(context.parameters(), (parameters) => {
        rejectUnknownParameters(foldLists(parameters, context.resource), context.resource, false);
      }),
  ];
}
