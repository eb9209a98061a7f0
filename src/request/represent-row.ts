import type { Representation, Row } from '../core/contracts/serializer.js';
import type { JsonOutput } from '../core/data-adapter.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { RestContext } from './rest-context.js';

/** The representation of a row; of a replayed row, the stored one. */
export function represent(row: Row, context: RestContext): Representation {
  const { resource, actor, shape } = context;
  if (shape) return shape.represent(row);
  return (
    row.answered ?? resource.serializer.represent(row, { resource, actor, basePath: basePathOf(context) })
  );
}

/** The representation of a row with its expanded objects. */
export function representExpanded(row: Row, context: RestContext): MaybePromise<Representation> {
  return context.shape
    ? mapMaybe(context.shape.expanded([row]), ([expanded = row]) => represent(expanded, context))
    : represent(row, context);
}

/**
 * Whether the database may write the JSON of rows: a custom serializer runs in process for every row, and expanded
 * objects come from other rows.
 */
export function isWrittenByDatabase({ resource, shape }: Pick<RestContext, 'resource' | 'shape'>): boolean {
  return resource.hasDefaultSerializer && shape?.expands !== true;
}

/** The JSON of a response: written by the database where possible. */
export function jsonOutput(context: RestContext): JsonOutput {
  return {
    basePath: basePathOf(context),
    isDefault: isWrittenByDatabase(context),
    represent: (row) => represent(row, context),
  };
}

/** The path prefix of the links in a row. */
export function basePathOf({ base, resource }: Pick<RestContext, 'base' | 'resource'>): string {
  return `${base}/${resource.app}/${resource.model}`;
}
