import { validatorColumnsOf } from '../../core/contracts/conditional.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { ALWAYS } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Resource } from '../../core/schema/resource.js';
import { basePathOf } from '../../request/represent-row.js';
import type { RestContext } from '../../request/rest-context.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { hasDefaultSerializer } from '../serialization/json-output.js';
import { showSameFields } from './validators.js';
import type { ObjectView } from './validators.js';

/** Evaluated for each request: a subscriber that changes what is read may have been added. */
export function objectView(context: RestContext, adapter: DataAdapter): ObjectView {
  const { resource } = context;
  const versioned =
    validatorColumnsOf(resource).version !== undefined &&
    hasDefaultSerializer(context) &&
    adapter.readsAsStored(resource);
  return { resource, basePath: basePathOf(context), versioned };
}

/**
 * The representation of the object by GET; for a caller who may not GET it, that of responses to writes. If GET has more
 * fields, it has them for its own rows only: for others, a write must not confirm a guess at their values.
 */
export async function viewToRead({
  route,
  resource,
  access,
  isReading,
}: RestContext): Promise<{ readonly resource: Resource; readonly rows: Condition }> {
  const read = isReading ? undefined : await access.tryAuthorize(route.resource, 'GET');
  const view = read && restrictFields(route.resource, read);
  return !view || showSameFields(resource, view)
    ? { resource, rows: ALWAYS }
    : { resource: view, rows: read.rows };
}
