import { JSON_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import type { Renderer } from '../../core/contracts/renderer.js';
import { DESCRIPTION_MEDIA_TYPE } from '../../core/contracts/route-description.js';
import type { RouteDescription } from '../../core/contracts/route-description.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Route } from '../../core/schema/route.js';
import { grantRelatedKeys } from '../../features/permissions/grant-related-keys.js';
import { restrictFields } from '../../features/permissions/restrict-fields.js';
import { assertAcceptsJson, prefersType } from '../../features/rendering/negotiate-format.stage.js';
import { givenFields } from '../../request/plan/given-fields.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { jsonResponse } from '../../request/response/rest-response.js';
import { describeQueries } from './describe-queries.js';
import type { RoutesOf } from './describe-queries.js';
import { describeUrl, describeWritableFields } from './describe-fields.js';

/** Responds with the description of a URL: to OPTIONS, and to GET with the media type of descriptions. */
export function describeRoute(route: Route, routesOf: RoutesOf): Stage {
  return async (context) => {
    const accept = context.header('accept');
    const isNamed = acceptsDescription(accept);
    if (!isNamed) assertAcceptsJson(accept);
    const description: RouteDescription = {
      ...describeUrl(route),
      actions: describeWritableFields(route, givenFields(route), await writableViews(route, context)),
      ...(await describeQueries(route, context, routesOf)),
    };
    context.response = jsonResponse(
      200,
      description,
      isNamed ? { 'Content-Type': DESCRIPTION_MEDIA_TYPE } : undefined,
    );
  };
}

/**
 * Whether a request names the media type of descriptions, and prefers it to JSON and to the other formats of its URL. Of equal
 * ones it gets the data.
 */
export function acceptsDescription(
  accept: string | undefined,
  renderers: readonly Pick<Renderer, 'mediaType'>[] = [],
): boolean {
  // Called for every request: most headers are shorter.
  if (accept === undefined || accept.length < DESCRIPTION_MEDIA_TYPE.length) return false;
  const others = [JSON_MEDIA_TYPE, ...renderers.map(({ mediaType }) => mediaType)];
  return prefersType(DESCRIPTION_MEDIA_TYPE, others, accept);
}

/** The resource as the caller may write it, and as a write would show it. */
async function writableViews(
  { resource, actions }: Route,
  { access }: RestContext,
): Promise<ReadonlyMap<'POST' | 'PUT', Resource>> {
  const views = new Map<'POST' | 'PUT', Resource>();
  for (const method of ['POST', 'PUT'] as const) {
    const granted = await access.tryAuthorizeWrite(resource, method, actions.get(method)?.permission);
    if (granted) views.set(method, await grantRelatedKeys(restrictFields(resource, granted), access, method));
  }
  return views;
}
