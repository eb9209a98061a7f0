import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';
import { restrictFields } from '../features/permissions/restrict-fields.js';
import { givenFields } from '../request/plan/plan-write.js';
import type { RestContext } from '../request/rest-context.js';
import { jsonResponse } from '../request/response/rest-response.js';
import type { Stage } from '../request/stage.js';
import { describeRoute } from './options-metadata.js';

/** Responds to OPTIONS with the fields that the caller may write, by method. */
export function describeOptions(route: Route): Stage {
  return async (context) => {
    context.response = jsonResponse(
      200,
      describeRoute(route, givenFields(route), await writableViews(route, context)),
    );
  };
}

async function writableViews(
  { resource }: Route,
  { access }: RestContext,
): Promise<ReadonlyMap<'POST' | 'PUT', Resource>> {
  const views = new Map<'POST' | 'PUT', Resource>();
  for (const method of ['POST', 'PUT'] as const) {
    const granted = await access.tryAuthorize(resource, method);
    if (granted) views.set(method, restrictFields(resource, granted));
  }
  return views;
}
