import type { AccessControl } from '../../core/contracts/access-control.js';
import type { Route } from '../../core/schema/route.js';
import { requiredMethod } from '../../features/permissions/authorize.stage.js';
import type { RestContext } from '../../request/rest-context.js';

/** The methods of a URL that the caller may use, in the order of `Allow`. */
export async function describeMethods(route: Route, { access }: RestContext): Promise<readonly string[]> {
  const methods: string[] = [];
  for (const method of route.allow.split(', ')) {
    if (method !== 'OPTIONS' && method !== 'HEAD' && (await mayUse(route, method, access)))
      methods.push(method);
  }
  return methods;
}

/** Whether the permissions of a URL admit a request of the caller, as when it is authorized. */
export async function mayUse(route: Route, method: string, access: AccessControl): Promise<boolean> {
  const permission = [...route.actions].find(([name]) => name === method)?.[1].permission;
  const granted = await access.tryAuthorize(route.resource, requiredMethod(route, method), permission);
  return granted !== undefined;
}
