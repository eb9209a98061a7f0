import { challengeOf } from '../features/authentication/challenge.js';
import { authorizeMethod } from '../features/permissions/authorize.stage.js';
import type { RestContext } from '../request/rest-context.js';
import { resolveParent } from './resolve-parent.js';
import type { PipelineServices } from './pipeline-services.js';

/** The same URL authorized for another method. Throws 403 and 404. */
export async function reauthorize(
  context: RestContext,
  method: string,
  { permissions: rules, adapter }: PipelineServices,
): Promise<RestContext> {
  const { route } = context;
  const fork = context.fork({
    method,
    parentCheck: undefined,
    queryAccess: undefined,
    shape: undefined,
    precondition: undefined,
    deferredChecks: [],
  });
  await authorizeMethod(fork, { rules, challenge: challengeOf(route.resource.schemes), method });
  if (route.parent) await resolveParent(adapter)(fork);
  return fork;
}
