import type { PageLink } from '../core/contracts/pagination.js';
import type { Json } from '../core/errors/rest-exception.js';
import { keyText } from '../core/values/keys.js';
import type { HttpExchange } from './http-exchange.js';
import { pageLink } from './response/page-link.js';
import type { RestContext } from './rest-context.js';

/** The canonical path of the list below the prefix, without a trailing slash. */
export function listPath({ route, keys }: Pick<RestContext, 'route' | 'keys'>): string {
  const { resource, parent, relation } = route;
  return parent && relation && keys.key
    ? `${parent.app}/${parent.model}/${keyText(keys.key)}/${relation.name}`
    : `${resource.app}/${resource.model}`;
}

/** Links to other pages of the requested list. */
export function pageLinks(context: RestContext, exchange: HttpExchange): PageLink {
  return pageLink(`${originOf(context, exchange)}/${listPath(context)}/`, exchange.query);
}

/** The absolute URL of a created object, if the model has URLs of objects (contract 7.5). */
export function locationHeader(
  key: readonly Json[],
  context: RestContext,
): Readonly<Record<string, string>> | undefined {
  const { exchange, route, keySegment } = context;
  const { resource, relation, parent } = route;
  const hasObjectUrl = [...resource.operations].some(
    (operation) => operation !== 'list' && operation !== 'create',
  );
  if (!exchange || !hasObjectUrl) return undefined;
  const list =
    parent && relation
      ? `${parent.app}/${parent.model}/${keySegment ?? ''}/${relation.name}`
      : `${resource.app}/${resource.model}`;
  return { Location: `${originOf(context, exchange)}/${list}/${keyText(key)}/` };
}

function originOf({ base }: RestContext, { protocol, host }: HttpExchange): string {
  return `${protocol}://${host}${base}`;
}
