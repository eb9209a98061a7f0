import type { DeletionDescription } from '../../core/contracts/route-description.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Referrer } from '../../core/schema/resource-schema.js';
import type { RestContext } from '../../request/rest-context.js';

/** What a deletion does to objects that refer to the deleted one. A model that the caller may not view is not named. */
export async function describeDeletion(
  referrers: readonly Referrer[],
  { access }: RestContext,
): Promise<DeletionDescription> {
  const labels = { cascade: new Set<string>(), change: new Set<string>(), restrict: new Set<string>() };
  for (const { resource, onDelete } of referrers)
    if (resource.registered && (await access.tryAuthorize(resourceOf(resource), 'GET')))
      labels[onDelete].add(`${resource.app}.${resource.model}`);
  return { cascade: [...labels.cascade], change: [...labels.change], restrict: [...labels.restrict] };
}
