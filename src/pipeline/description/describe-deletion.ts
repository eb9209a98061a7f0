import type { DeletionDescription } from '../../core/contracts/route-description.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Route } from '../../core/schema/route.js';
import type { RestContext } from '../../request/rest-context.js';

/** What a deletion does to objects that refer to the deleted one. A model that the caller may not view is not named. */
export async function describeDeletion(
  { resource }: Route,
  { access }: RestContext,
): Promise<DeletionDescription> {
  const labels = { cascade: new Set<string>(), change: new Set<string>(), restrict: new Set<string>() };
  for (const { resource: referrer, onDelete } of resource.referrers)
    if (referrer.registered && (await access.tryAuthorize(resourceOf(referrer), 'GET')))
      labels[onDelete].add(`${referrer.app}.${referrer.model}`);
  return { cascade: [...labels.cascade], change: [...labels.change], restrict: [...labels.restrict] };
}
