import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { Resource } from '../../core/schema/resource.js';
import { DELETED_ROWS } from '../../core/schema/operation.js';
import { trashParameters } from '../../core/schema/trash.js';
import { joinRepeatedParameters, rejectUnknownParameters } from '../../request/parse/query-parameters.js';
import type { Stage } from '../../request/rest-context.js';

/** Throws 400 for rows that the parameter `deleted` does not have. An empty one shows what is not deleted. */
export function rejectDeletedRows({ trash }: Resource): readonly Stage[] {
  if (!trash) return [];
  return [
    (context) =>
      mapMaybe(context.parameters(), (parameters) => {
        for (const name of trashParameters(context.resource)) {
          const given = parameters.get(name) ?? '';
          if (given !== '' && !(DELETED_ROWS as readonly string[]).includes(given))
            throw InvalidInput.of(name, `"${given.slice(0, 100)}" is not a valid choice.`);
        }
      }),
  ];
}

/** In a strict model, throws 400 for unknown parameters of an operation on one object. */
export function rejectParameters({ strict }: Resource): readonly Stage[] {
  if (!strict) return [];
  return [
    (context) =>
      mapMaybe(context.parameters(), (parameters) => {
        const { resource, isReading } = context;
        rejectUnknownParameters(
          joinRepeatedParameters(parameters, resource),
          resource,
          isReading ? 'object' : 'nothing',
        );
      }),
  ];
}
