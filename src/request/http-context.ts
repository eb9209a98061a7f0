import type { Resource } from '../core/schema/resource.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { Admission, Asked } from './rest-context.js';
import type { Call } from './resource-urls.js';
import { HttpRequester } from './http-requester.js';
import type { HttpExchange } from './http-exchange.js';
import { readJsonItems, readJsonObject } from './parse/parse-body.js';
import type { JsonObject } from './parse/parse-body.js';
import { joinLists } from './parse/list-parameters.js';
import { parseQueryString } from './parse/parse-query-string.js';
import { parseUrlKeys } from './parse/parse-url-keys.js';
import { HttpIdempotentRequest } from './idempotent-request.js';

/** The operation as the exchange asks for it. */
export function askedOver(call: Call, admission: Admission): Asked {
  const { exchange, match, base } = call;
  const { route } = match;
  const { piping, bulk, idempotency: rules } = route.resource;
  const keys = parseUrlKeys(match);
  const repeatable =
    rules && exchange.method === 'POST'
      ? new HttpIdempotentRequest(call, {
          caller: { actor: admission.actor, address: exchange.address },
          keys,
          rules,
        })
      : undefined;
  return {
    route,
    keys,
    repeatable,
    admission,
    base,
    requester: new HttpRequester(exchange, admission.actor),
    parameters: () => {
      const parameters = parseQueryString(exchange.query);
      return piping
        ? pipedParameters(joinLists(parameters, route.resource), (value) => piping.transform(value, 'query'))
        : parameters;
    },
    body: () =>
      mapMaybe((repeatable ?? exchange).body(), (received) => {
        const body = readJsonObject(received, exchange.header('content-type'));
        return piping
          ? mapMaybe(piping.transform(body, 'body'), (piped) => pipedBody(piped, route.resource))
          : body;
      }),
    items: bulk ? () => itemsOver(call, repeatable ?? exchange) : undefined,
  };
}

async function pipedParameters(
  parameters: ReadonlyMap<string, string>,
  pipe: (value: unknown) => Promise<unknown>,
): Promise<ReadonlyMap<string, string>> {
  const piped = await pipe(Object.fromEntries(parameters));
  return new Map(
    Object.entries(piped ?? {}).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)] as const],
    ),
  );
}

function pipedBody(piped: unknown, resource: Resource): JsonObject {
  if (typeof piped !== 'object' || piped === null || Array.isArray(piped))
    throw new Error(`A pipe of ${resource.label} made something else than an object of a body.`);
  return piped as JsonObject;
}

/** A pipe is given one object at a time, whatever the list holds beside them. */
async function itemsOver(
  { exchange, match }: Call,
  from: Pick<HttpExchange, 'body'>,
): Promise<JsonObject | readonly unknown[]> {
  const { resource } = match.route;
  const { piping } = resource;
  const body = readJsonItems(await from.body(), exchange.header('content-type'));
  if (!piping) return body;
  const piped = async (item: unknown): Promise<unknown> =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? pipedBody(await piping.transform(item, 'body'), resource)
      : item;
  if (!Array.isArray(body)) return (await piped(body)) as JsonObject;
  const items: unknown[] = [];
  for (const item of body) items.push(await piped(item));
  return items;
}
