import type { Access } from '../../core/contracts/access-control.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import { conjunction } from '../../core/query/condition.js';
import { servedMethod } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import { trashParameters } from '../../core/schema/trash.js';
import { DELETED_ROWS } from '../../core/schema/operation.js';
import { parseQueryString } from '../../request/parse/parse-query-string.js';
import type { RestContext } from '../../request/rest-context.js';
import { both } from './evaluate-permission.js';

/**
 * The model as a request reads it: with the parameter `deleted` its view on deleted objects, which has rights of its own. They
 * precede all other parameters, so that the query is read as it was sent; what is wrong with it is reported later.
 */
export function viewToAuthorize(context: RestContext, method: string): Resource {
  const { route, exchange, input } = context;
  const { resource } = route;
  const operation = route.operations.get('GET');
  const reads = operation === 'list' || operation === 'retrieve';
  const [name] = trashParameters(resource);
  if (!resource.trash || name === undefined || !reads || servedMethod(method) !== 'GET') return resource;
  const parameters = exchange ? receivedParameters(exchange.query) : input.parameters();
  if (!(parameters instanceof Map)) return resource;
  const value: unknown = parameters.get(name);
  const rows = DELETED_ROWS.find((each) => each === value);
  return rows ? resource.trash[rows] : resource;
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
      rows: conjunction([a.rows, b.rows]),
      readable: both(a.readable, b.readable),
      writable: both(a.writable, b.writable),
    })),
  );
}
