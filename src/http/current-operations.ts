import { takesMany } from '../core/contracts/bulk.js';
import { servedMethod } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import { parseUpsert } from '../features/bulk/bulk-write.stage.js';
import type { HttpExchange } from '../request/http-exchange.js';
import { parseQueryString } from '../request/parse/parse-query-string.js';

/** The operations that a request to this route performs. */
export function listCurrentOperations(
  route: Route,
  exchange: Pick<HttpExchange, 'method' | 'query'>,
): readonly Operation[] {
  const method = servedMethod(exchange.method);
  const action = route.actions.get(method);
  const operation = action ? action.operation : route.operations.get(method);
  if (!operation) return [];
  return operation === 'create' && takesMany(route, operation) && mayUpsert(route, exchange)
    ? ['create', 'update']
    : [operation];
}

/** Whether the query may request an upsert. An invalid parameter is rejected later. */
function mayUpsert({ resource }: Route, { query }: Pick<HttpExchange, 'query'>): boolean {
  const { bulk } = resource;
  if (!bulk || bulk.upsert.length === 0) return false;
  try {
    return parseUpsert(parseQueryString(query), bulk, resource);
  } catch {
    return true;
  }
}
