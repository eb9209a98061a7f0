import type { Representation, Row } from '../core/contracts/serializer.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { Located } from './rest-context.js';
import type { RowEncoder } from '../core/data-adapter.js';

/** The JSON object of a row of the answer, as it was answered before where it was. */
export function represent(row: Row, located: Located): Representation {
  const { resource, admission, shape } = located;
  if (shape) return shape.represent(row);
  return (
    row.answered ??
    resource.serializer.represent(row, { resource, actor: admission.actor, basePath: basePathOf(located) })
  );
}

/** With what is expanded in it. */
export function shown(row: Row, located: Located): MaybePromise<Representation> {
  return located.shape
    ? located.shape.expanded([row]).then(([expanded = row]) => represent(expanded, located))
    : represent(row, located);
}

/** How a row of the answer is written in process. */
export function writingOf(located: Located): RowEncoder {
  return { basePath: basePathOf(located), represent: (row) => represent(row, located) };
}

export function basePathOf({ base, resource }: Located): string {
  return `${base}/${resource.app}/${resource.model}`;
}
