import { DESCRIPTION_MEDIA_TYPE } from '../core/contracts/route-description.js';
import type { IndexDescription, IndexedModel } from '../core/contracts/route-description.js';
import { MethodNotAllowed, NotAuthenticated } from '../core/errors/http-exceptions.js';
import { JSON_MEDIA_TYPE } from '../core/media-type.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { Actor } from '../core/schema/actor.js';
import { isReading } from '../core/schema/operation.js';
import type { Api } from '../core/schema/route.js';
import type { AuthenticationRequest } from '../features/authentication/authenticator.js';
import { assertAcceptsJson } from '../features/rendering/negotiate-format.stage.js';
import { acceptsDescription } from '../pipeline/description/describe-route.stage.js';
import { jsonResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';
import type { RegisteredApi } from './api-registration.js';
import type { ExecutionContexts } from './execution-contexts.js';
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
  const { actor, isRefused } = await findCaller(exchange, prefixes, contexts);
  const description: IndexDescription = {
    name: 'Index',
    description: '',
    renders: [JSON_MEDIA_TYPE],
    parses: [JSON_MEDIA_TYPE],
    actions: {},
    models: prefixes.flatMap(({ api }) => listModels(api, base)),
    caller: {
      authenticated: actor !== null,
      label: labelOf(actor),
      refused: isRefused && exchange.header('authorization') !== undefined,
    },
  };
  const isNamed = exchange.method !== 'OPTIONS';
  return jsonResponse(200, description, isNamed ? { 'Content-Type': DESCRIPTION_MEDIA_TYPE } : undefined);
}

function listModels({ prefix, routes }: Api, base: string): readonly IndexedModel[] {
  return routes
    .filter((route) => route.kind === 'collection')
    .map(({ resource: { app, model, label, description } }) => {
      const path = [prefix, app, model].filter((part) => part !== '').join('/');
      return { app, model, label, description, url: `${base}/${path}/` };
    });
}

interface FoundCaller {
  readonly actor: Actor;
  /** Whether a scheme has rejected the credentials of the request, and none has accepted them. */
  readonly isRefused: boolean;
}

/**
 * The caller by any authentication scheme of the models; wrong credentials are those of an anonymous caller. Guards that
 * authenticate run as in the list of the first model that has one. Guards of a model do not run, because an index belongs to
 * no model. Throws 429 and 503.
 */
async function findCaller(
  exchange: ServerExchange,
  prefixes: IndexContent['prefixes'],
  contexts: ExecutionContexts,
): Promise<FoundCaller> {
  let isRefused = false;
  for (const { api, pipeline } of prefixes) {
    const lists = api.routes.filter(({ kind }) => kind === 'collection');
    const schemes = new Set(lists.flatMap(({ resource }) => resource.schemes));
    const usable = [...schemes].filter(({ guards }) => guards !== 'all');
    const guarded = lists.find(({ resource }) => resource.schemes.some(({ guards }) => guards === 'one'));
    const context = guarded && contexts.createContext(guarded, exchange);
    const actor = await authenticateCaller({ exchange, context }, usable, pipeline);
    if (actor) return { actor, isRefused: false };
    isRefused ||= actor === undefined;
  }
  return { actor: null, isRefused };
}

/** Undefined for credentials that are rejected. */
async function authenticateCaller(
  request: AuthenticationRequest,
  schemes: Api['resources'][number]['schemes'],
  { services: { authenticator } }: RegisteredApi['pipeline'],
): Promise<Actor | undefined> {
  try {
    return await authenticator.authenticate(request, schemes);
  } catch (error) {
    if (error instanceof NotAuthenticated) return undefined;
    throw error;
  }
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
