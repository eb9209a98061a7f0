import { DESCRIPTION_MEDIA_TYPE } from '../core/contracts/route-description.js';
import type { IndexDescription, IndexedModel } from '../core/contracts/route-description.js';
import { MethodNotAllowed } from '../core/errors/http-exceptions.js';
import { JSON_MEDIA_TYPE } from '../core/media-type.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { Actor } from '../core/schema/actor.js';
import { isReading } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import type { Api } from '../core/schema/route.js';
import { assertAcceptsJson } from '../features/rendering/negotiate-format.stage.js';
import { acceptsDescription } from '../pipeline/description/describe-route.stage.js';
import { jsonResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';
import type { RegisteredApi } from './api-registration.js';
import type { ExecutionContexts } from './execution-contexts.js';
import { admitsOptions, findCaller } from './find-caller.js';
import type { FoundCaller } from './find-caller.js';
import type { ServerExchange } from './server-exchange.js';

/** The prefixes of an index, and the part of the URL before them. */
interface IndexContent {
  readonly prefixes: readonly Pick<RegisteredApi, 'api' | 'pipeline'>[];
  readonly base: string;
}

/** The response of an index: the collections of these prefixes by their paths, or its description. */
export function respondWithIndex(
  exchange: ServerExchange,
  content: IndexContent,
  contexts: ExecutionContexts,
): MaybePromise<RestResponse> {
  if (!isReading(exchange.method)) throw new MethodNotAllowed(exchange.method);
  const accept = exchange.header('accept');
  const isDescription = acceptsDescription(accept);
  if (!isDescription) assertAcceptsJson(accept);
  if (isDescription || exchange.method === 'OPTIONS')
    return respondWithDescription(exchange, content, contexts);
  const { prefixes, base } = content;
  const entries = prefixes.flatMap(({ api }) =>
    listModels(api, base).map(({ url }) => {
      const path = url.slice(base.length + 1, -1);
      return [path, `${exchange.protocol}://${exchange.host}${url}`] as const;
    }),
  );
  return jsonResponse(200, Object.fromEntries(entries));
}

async function respondWithDescription(
  exchange: ServerExchange,
  { prefixes, base }: IndexContent,
  contexts: ExecutionContexts,
): Promise<RestResponse> {
  const caller = await findCaller(exchange, prefixes, contexts);
  const { actor, isRefused } = caller;
  const description: IndexDescription = {
    name: 'Index',
    description: '',
    renders: [JSON_MEDIA_TYPE],
    parses: [JSON_MEDIA_TYPE],
    actions: {},
    models: await describeModels(exchange, { prefixes, base }, caller),
    caller: {
      authenticated: actor !== null,
      label: labelOf(actor),
      refused: isRefused && exchange.header('authorization') !== undefined,
    },
  };
  const isNamed = exchange.method !== 'OPTIONS';
  return jsonResponse(200, description, isNamed ? { 'Content-Type': DESCRIPTION_MEDIA_TYPE } : undefined);
}

/** A model as everybody may see it in an index. */
interface ListedModel extends Pick<IndexedModel, 'url'> {
  readonly resource: Resource;
}

/** In the order of their URLs. */
function listModels({ prefix, routes }: Api, base: string): readonly ListedModel[] {
  return routes
    .filter((route) => route.kind === 'collection')
    .map(({ resource }) => {
      const path = [prefix, resource.app, resource.model].filter((part) => part !== '').join('/');
      return { resource, url: `${base}/${path}/` };
    })
    .sort((one, other) => (one.url < other.url ? -1 : 1));
}

/** The models, with the texts of those whose list describes itself to the caller. */
async function describeModels(
  exchange: ServerExchange,
  { prefixes, base }: IndexContent,
  caller: FoundCaller,
): Promise<readonly IndexedModel[]> {
  const models: IndexedModel[] = [];
  for (const { api, pipeline } of prefixes) {
    const mayDescribe = admitsOptions(exchange.request, caller, pipeline.services.permissions);
    for (const { resource, url } of listModels(api, base)) {
      const { app, model, label, description: text } = resource;
      const description = text !== '' && (await mayDescribe(resource)) ? text : '';
      models.push({ app, model, label, description, url });
    }
  }
  return models;
}

/** Properties of users that name them, the most readable first. */
const NAME_PROPERTIES = ['username', 'displayName', 'name', 'email', 'id'] as const;

function labelOf(actor: Actor): string | null {
  const user = (actor ?? {}) as Partial<Record<(typeof NAME_PROPERTIES)[number], unknown>>;
  const name = NAME_PROPERTIES.map((property) => user[property]).find(
    (value) => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  return name === undefined ? null : String(name);
}
