import type { Access } from '../../core/contracts/access-control.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { aggregateNames } from '../../core/contracts/aggregates.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import { conjunction } from '../../core/query/condition.js';
import { servedMethod } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import { trashParameters } from '../../core/schema/trash.js';
import { DELETED_ROWS } from '../../core/schema/operation.js';
import { parseQueryString } from '../../request/parse/parse-query-string.js';
import { foldAggregates } from '../../request/parse/query-parameters.js';
import type { RestContext } from '../../request/rest-context.js';
import { both } from './evaluate-permission.js';

/**
 * The model as a request reads it: with the parameter `deleted` its view on deleted objects, which has rights of its own. They
 * precede all other parameters, so that the query is read as it was sent; what is wrong with it is reported later.
 */
export function viewToAuthorize(context: RestContext, method: string): Resource {
  const { route } = context;
  const { resource } = route;
  const operation = route.operations.get('GET');
  const reads = operation === 'list' || operation === 'retrieve';
  const [name] = trashParameters(resource);
  if (!resource.trash || name === undefined || !reads || servedMethod(method) !== 'GET') return resource;
  const value = sentParameters(context)?.get(name);
  const rows = DELETED_ROWS.find((each) => each === value);
  return rows ? resource.trash[rows] : resource;
}

/** Whether a request to a list asks for aggregates, for which it is authorized as an operation of its own. */
export function asksForAggregates(context: RestContext, method: string): boolean {
  const { route } = context;
  const isOfList = route.operations.get('GET') === 'list' && !route.actions.has('GET');
  if (!route.resource.aggregates || !isOfList || servedMethod(method) !== 'GET') return false;
  const { aggregate } = aggregateNames(route.resource);
  const parameters = sentParameters(context);
  return parameters !== undefined && (foldAggregates(parameters, route.resource).get(aggregate) ?? '') !== '';
}

/** The parameters as they were sent; undefined if a pipe makes them later. */
function sentParameters({ exchange, input }: RestContext): ReadonlyMap<string, string> | undefined {
  const parameters = exchange ? receivedParameters(exchange.query) : input.parameters();
  return parameters instanceof Map ? parameters : undefined;
}

/** Empty if the query is malformed. */
function receivedParameters(query: string): ReadonlyMap<string, string> {
  if (query === '') return NO_PARAMETERS;
  try {
    return parseQueryString(query);
  } catch {
    return NO_PARAMETERS;
  }
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** What two grants permit together: rows and fields of both. */
export function intersectAccess(
  one: MaybePromise<Access>,
  other: () => MaybePromise<Access>,
): MaybePromise<Access> {
  return mapMaybe(one, (a) =>
    mapMaybe(other(), (b) => ({
      grantCondition: conjunction([a.grantCondition, b.grantCondition]),
      readable: both(a.readable, b.readable),
      writable: both(a.writable, b.writable),
    })),
  );
}
