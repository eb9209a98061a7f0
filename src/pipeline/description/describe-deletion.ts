import type { DeletionDescription } from '../../core/contracts/route-description.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Referrer } from '../../core/schema/resource-schema.js';
import type { RestContext } from '../../request/rest-context.js';

/** What a deletion does to objects that refer to the deleted one. A model that the caller may not view is not named. */
export async function describeDeletion(
  referrers: readonly Referrer[],
  { access }: RestContext,
): Promise<DeletionDescription> {
  const models = { cascade: new Set<string>(), change: new Set<string>(), restrict: new Set<string>() };
  const labels = new Map<string, string>();
  for (const { resource, onDelete } of referrers) {
    if (!resource.registered || !(await access.tryAuthorize(resourceOf(resource), 'GET'))) continue;
    models[onDelete].add(resource.id);
    const { labels: named } = resourceOf(resource);
    if (named) labels.set(resource.id, named.many);
  }
  const { cascade, change, restrict } = models;
  return {
    cascade: [...cascade],
    change: [...change],
    restrict: [...restrict],
    ...(labels.size > 0 && { labels: Object.fromEntries(labels) }),
  };
}
