import type { Method } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';

/** The path of a model's collection in Nest's notation: `rest/v1/polls/question`. */
export function getCollectionPath(prefix: string, { app, model }: Resource): string {
  return [prefix, app, model].filter((part) => part !== '').join('/');
}

/** The path of a route in Nest's notation: `rest/v1/polls/question/:pk`. */
export function getRoutePattern(
  prefix: string,
  { kind, resource, parent, relation, segment }: Route,
): string {
  const collection = getCollectionPath(prefix, parent ?? resource);
  const action = segment ?? '';
  const nested = relation?.name ?? '';
  switch (kind) {
    case 'collection':
      return collection;
    case 'collection-action':
      return `${collection}/${action}`;
    case 'object':
      return `${collection}/:pk`;
    case 'object-action':
      return `${collection}/:pk/${action}`;
    case 'one-to-many':
    case 'through-list':
      return `${collection}/:pk/${nested}`;
    case 'through-object':
      return `${collection}/:pk/${nested}/*childId`;
    default:
      return kind satisfies never;
  }
}

/** The route and method to which an action of the application is bound. */
export interface ActionBinding {
  readonly routeId: string;
  readonly method: Method;
  readonly handler: string;
}

/** Identifies one URL of a model, independent of the prefix. */
export function identifyRoute({ kind, resource, parent, relation, segment }: Route): string {
  const above = parent ?? resource;
  return `${kind} ${above.app}/${above.model}/${relation?.name ?? segment ?? ''}`;
}
