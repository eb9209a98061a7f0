import type { AuthenticationScheme } from '../core/contracts/authentication.js';
import { NotAuthenticated } from '../core/errors/http-exceptions.js';
import type { Actor } from '../core/schema/actor.js';
import type { Resource } from '../core/schema/resource.js';
import type { Authenticator, Identified } from '../features/authentication/authenticate.stage.js';
import { statusOfError } from '../features/authentication/error-status.js';
import type { AuthenticationRequest } from '../features/authentication/try-schemes.js';
import { CallerAccess } from '../features/permissions/authorize.stage.js';
import type { PermissionRules } from '../features/permissions/authorize.stage.js';
import type { RegisteredApi } from './api-registration.js';
import type { ExecutionContexts } from './execution-contexts.js';
import type { ServerExchange } from './server-exchange.js';

/** The caller of an index. */
export interface FoundCaller extends Pick<Identified, 'scheme'> {
  readonly actor: Actor;
  /** Whether a scheme has rejected the credentials of the request or its user, and none has accepted them. */
  readonly isRefused: boolean;
}

/**
 * The caller by any authentication scheme of the models; one that is denied is anonymous. Guards that authenticate run as
 * in the list of the first model that has one. Guards of a model do not run, because an index belongs to no model. Throws
 * 429, and 503 if a scheme whose credentials the request presents fails.
 */
export async function findCaller(
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
    if (found?.actor && !found.refusal) return { actor: found.actor, scheme: found.scheme, isRefused: false };
    isRefused ||= found?.refusal !== undefined || found === undefined;
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
export function admitsOptions(
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
