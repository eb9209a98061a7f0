import type { DeletionDescription } from '../../core/contracts/route-description.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Route } from '../../core/schema/route.js';
import type { RestContext } from '../../request/rest-context.js';

/** The methods of a URL that the caller may use, in the order of `Allow`. */
export async function describeMethods(
  { resource, allow, actions }: Route,
  { access }: RestContext,
): Promise<readonly string[]> {
  const methods: string[] = [];
  for (const method of allow.split(', ')) {
    if (method === 'OPTIONS' || method === 'HEAD') continue;
    const permission = [...actions].find(([name]) => name === method)?.[1].permission;
    if (await access.tryAuthorize(resource, method, permission)) methods.push(method);
  }
  return methods;
}

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
