import type { Json } from '../core/errors/rest-exception.js';
import type { RouteAction } from '../core/schema/action.js';
import { isReading, servedMethod } from '../core/schema/operation.js';
import type { PageLink } from '../core/contracts/pagination.js';
import type { RouteMatch } from '../core/schema/route.js';
import { keyText } from '../core/values/keys.js';
import type { Located } from './rest-context.js';
import { pageLink } from './response/page-link.js';
import type { HttpExchange } from './http-exchange.js';

/** A matched call below one prefix. */
export interface Call {
  readonly exchange: HttpExchange;
  readonly match: RouteMatch;
  /** The path below which the links of this prefix stand: `/rest/v1`. */
  readonly base: string;
  /** What guards of Nest are given, where some stand for authentication. */
  readonly context?: unknown;
}

/** Links to other pages of the list that is asked for, in its canonical form. */
export function linksOf({ exchange, match, base }: Call, { keys }: Located): PageLink {
  const { resource, parent, relation } = match.route;
  const path =
    parent && relation && keys.key
      ? `${parent.app}/${parent.model}/${keyText(keys.key)}/${relation.name}`
      : `${resource.app}/${resource.model}`;
  return pageLink(`${exchange.protocol}://${exchange.host}${base}/${path}/`, exchange.query);
}

/** The absolute URL of a new object, where it has one (contract 7.5). */
export function locationOf(
  key: readonly Json[],
  { exchange, match, base }: Call,
): Readonly<Record<string, string>> {
  const { route, keySegment } = match;
  const { resource, relation, parent } = route;
  const readable = [...resource.operations].some(
    (operation) => operation !== 'list' && operation !== 'create',
  );
  if (!readable) return {};
  const above =
    parent && relation
      ? `${parent.app}/${parent.model}/${keySegment ?? ''}/${relation.name}`
      : `${resource.app}/${resource.model}`;
  return { Location: `${exchange.protocol}://${exchange.host}${base}/${above}/${keyText(key)}/` };
}

/** The application's own method for this call, if there is one. */
export function actionOf({ exchange, match }: Call): RouteAction | undefined {
  return match.route.actions.get(servedMethod(exchange.method));
}

/** An action below an object asks for the right to view it for GET, and to change it for all else. */
export function askedMethod({ exchange, match }: Call): string {
  return match.route.kind === 'object-action' && !isReading(exchange.method) ? 'PATCH' : exchange.method;
}
