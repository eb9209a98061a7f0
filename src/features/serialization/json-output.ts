import type { JsonOutput } from '../../core/data-adapter.js';
import type { Resource } from '../../core/schema/resource.js';
import { basePathOf, represent } from '../../request/represent-row.js';
import type { ResponseShape, RestContext } from '../../request/rest-context.js';
import { ModelSerializer } from './model-serializer.js';

/**
 * True if the database can write the JSON of rows: a custom serializer runs in process for every row, and expanded
 * objects come from other rows.
 */
export function hasDefaultSerializer({
  resource,
  shape,
}: {
  readonly resource: Resource;
  readonly shape: ResponseShape | undefined;
}): boolean {
  return resource.serializer.constructor === ModelSerializer && shape?.expands !== true;
}

/** The JSON of a response: written by the database where possible. */
export function jsonOutput(context: RestContext): JsonOutput {
  return {
    basePath: basePathOf(context),
    isDefault: hasDefaultSerializer(context),
    represent: (row) => represent(row, context),
  };
}
