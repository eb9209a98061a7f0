import type { AuthenticationScheme } from '../core/contracts/authentication.js';
import { DESCRIPTION_MEDIA_TYPE } from '../core/contracts/route-description.js';
import type { IndexDescription, IndexedModel } from '../core/contracts/route-description.js';
import { MethodNotAllowed, NotAuthenticated } from '../core/errors/http-exceptions.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { JSON_MEDIA_TYPE } from '../core/contracts/renderer.js';
import type { Actor } from '../core/schema/caller.js';
import { isReading } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import type { Api } from '../core/schema/route.js';
import type { Authenticator, Identified } from '../features/authentication/authenticate.stage.js';
import { statusOfError } from '../features/authentication/run-scheme.js';
import type { AuthenticationRequest } from '../features/authentication/try-schemes.js';
import { CallerAccess } from '../features/permissions/authorize.stage.js';
import type { PermissionRules } from '../features/permissions/authorize.stage.js';
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
      const { app, model, description: text } = resource;
      const label = resource.labels?.many ?? resource.className;
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

/** The caller of an index. */
interface FoundCaller extends Pick<Identified, 'scheme'> {
  readonly actor: Actor;
  /** Whether a scheme has rejected the credentials of the request or its user, and none has accepted them. */
  readonly isRefused: boolean;
}

/**
 * The caller by any authentication scheme of the models; one that is denied is anonymous. Guards that authenticate run as
 * in the list of the first model that has one. Guards of a model do not run, because an index belongs to no model. Throws
 * 429, and 503 if a scheme whose credentials the request presents fails.
 */
async function findCaller(
  exchange: ServerExchange,
  prefixes: readonly Pick<RegisteredApi, 'api' | 'pipeline'>[],
  contexts: ExecutionContexts,
): Promise<FoundCaller> {
  let isRefused = false;
  for (const { api, pipeline } of prefixes) {
    const lists = api.routes.filter(({ kind }) => kind === 'collection');
    const schemes = new Set(lists.flatMap(({ resource }) => resource.schemes));
    const usable = [...schemes].filter(({ guards }) => guards !== 'all');
    const guarded = lists.find(({ resource }) => resource.schemes.some(({ guards }) => guards === 'one'));
    const context = guarded && contexts.createContext(guarded, exchange);
    const found = await identify({ exchange, context }, usable, pipeline.services.authenticator);
    if (found?.actor && !found.rejection)
      return { actor: found.actor, scheme: found.scheme, isRefused: false };
    isRefused ||= found?.rejection !== undefined || found === undefined;
  }
  return { actor: null, isRefused };
}

/**
 * Undefined for credentials that are rejected. A scheme that fails although the request presents no credentials for it is left
 * out: it must not keep other callers from the index.
 */
async function identify(
  request: AuthenticationRequest,
  schemes: readonly AuthenticationScheme[],
  authenticator: Authenticator,
): Promise<Identified | undefined> {
  try {
    return await authenticator.identify(request, schemes);
  } catch (error) {
    if (error instanceof NotAuthenticated) return undefined;
    const presented = schemes.filter((scheme) => scheme.presented(request.exchange.request) !== undefined);
    if ((statusOfError(error) ?? 500) < 500 || presented.length === schemes.length) throw error;
    return identify(request, presented, authenticator);
  }
}

/**
 * Whether OPTIONS of a model's list would admit the caller. Reads no rows. Guards that do not authenticate do not run here:
 * they are taken to deny access.
 */
function admitsOptions(
  request: object,
  { actor, scheme }: FoundCaller,
  rules: PermissionRules,
): (resource: Resource) => Promise<boolean> {
  const accessOf = (known: Actor): CallerAccess =>
    new CallerAccess({ actor: known, challenge: undefined, request }, rules);
  const access = accessOf(actor);
  const anonymous = accessOf(null);
  return async (resource) => {
    const { schemes, lateGuards } = resource;
    if (lateGuards.length > 0 || schemes.some(({ guards }) => guards === 'all')) return false;
    const isKnown = scheme === undefined || schemes.includes(scheme);
    try {
      return (await (isKnown ? access : anonymous).tryAuthorize(resource, 'OPTIONS')) !== undefined;
    } catch {
      // The URL of the model reports the error.
      return false;
    }
  };
}
