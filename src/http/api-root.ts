import { MethodNotAllowed } from '../core/errors/http-exceptions.js';
import { isReading } from '../core/schema/operation.js';
import type { Api } from '../core/schema/route.js';
import type { HttpExchange } from '../request/http-exchange.js';
import { assertAcceptsJson } from '../features/rendering/negotiate-format.js';
import { jsonResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';

/**
 * The response of an index: the collections of these prefixes by their paths. `base` is the part of the URL before the
 * prefixes.
 */
export function respondWithIndex(
  exchange: HttpExchange,
  { apis, base }: { readonly apis: readonly Api[]; readonly base: string },
): RestResponse {
  if (!isReading(exchange.method)) throw new MethodNotAllowed(exchange.method);
  assertAcceptsJson(exchange.header('accept'));
  if (exchange.method === 'OPTIONS') {
    return jsonResponse(200, {
      name: 'Index',
      description: '',
      renders: ['application/json'],
      parses: ['application/json'],
      actions: {},
    });
  }
  const entries = apis.flatMap(({ prefix, routes }) =>
    routes
      .filter((route) => route.kind === 'collection')
      .map(({ resource }) => {
        const path = [prefix, resource.app, resource.model].filter((part) => part !== '').join('/');
        return [path, `${exchange.protocol}://${exchange.host}${base}/${path}/`] as const;
      }),
  );
  return jsonResponse(200, Object.fromEntries(entries));
}
