import type { Resource } from '../../core/schema/resource.js';
import type { ResponseShape } from '../../request/rest-context.js';
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
