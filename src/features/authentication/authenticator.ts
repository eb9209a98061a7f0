import { CrossSiteWrite, NotAuthenticated, PermissionDenied } from '../../core/errors/http-exceptions.js';
import type { Actor } from '../../core/schema/actor.js';
import type {
  AuthenticationScheme,
  LibraryRequest,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import { isPromise, mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { HttpExchange } from '../../request/http-exchange.js';
import { challengeOf } from './challenge.js';
import type { CredentialCheck } from './failed-attempts-by-key.js';
import { isCrossSiteWrite, isSentByScript } from './cross-site-write.js';
import type { RequestOrigin } from './cross-site-write.js';
import { actorOn } from './guard-scheme.js';
import { authorizationScheme } from './presented-credentials.js';
import type { RefusedCredentials } from './refused-credentials.js';
import { runScheme } from './run-scheme.js';
import { statusOfError } from './error-status.js';

/** A request to be authenticated. */
export interface AuthenticationRequest {
  readonly exchange: RequestOrigin & Pick<HttpExchange, 'request' | 'address'>;
  /** The `ExecutionContext` that Nest guards receive. */
  readonly context?: unknown;
}

/** The authenticated caller, and the error of a guard that denies it nevertheless. */
export interface Identified {
  readonly actor: Actor;
  /** The scheme that authenticated it; undefined if the application did. */
  readonly scheme?: AuthenticationScheme;
  /** Thrown after the permissions have been evaluated: their denial has precedence. */
  readonly refusal?: Error;
}

export interface AuthenticatorRules {
  /** Time limit in milliseconds for all credential checks of one request. */
  readonly timeout: number;
  /** Undefined if rejected credentials are not counted. */
  readonly refused: RefusedCredentials | undefined;
  /** Origins whose pages may send unsafe requests with the caller's cookies. */
  readonly trustedOrigins: ReadonlySet<string>;
}

/** The combined outcome of all schemes, with the scheme that authenticated the caller or rejected the credentials. */
type Tried =
  | Exclude<SchemeOutcome, { kind: 'wrong' | 'actor' }>
  | { readonly kind: 'wrong'; readonly scheme: AuthenticationScheme }
  | { readonly kind: 'actor'; readonly actor: object; readonly scheme: AuthenticationScheme };

/** Authenticates the requests of one prefix. */
export class Authenticator {
  constructor(private readonly rules: AuthenticatorRules) {}

  /**
   * Uses an actor that the application has already put on the request; otherwise tries the schemes in order until one
   * authenticates the caller. Throws 429 if too many credentials have been rejected, 401 for wrong credentials of a scheme
   * in use, on open endpoints too, 503 if a scheme fails or times out, and 403 for a cross-site write of a caller who is
   * known by cookies.
   */
  authenticate(asking: AuthenticationRequest, schemes: readonly AuthenticationScheme[]): MaybePromise<Actor> {
    const found = actorOn(asking.exchange.request);
    if (found) {
      this.assertSameSite(asking, undefined);
      return found;
    }
    return schemes.length === 0 ? null : mapMaybe(this.identify(asking, schemes), ({ actor }) => actor);
  }

  /** As `authenticate`, for schemes that include guards. The guards of a model always run. */
  identify(
    asking: AuthenticationRequest,
    schemes: readonly AuthenticationScheme[],
  ): MaybePromise<Identified> {
    const found = actorOn(asking.exchange.request);
    const ends = performance.now() + this.rules.timeout;
    if (found && !schemes.some(({ guards }) => guards === 'all')) {
      this.assertSameSite(asking, undefined);
      return { actor: found };
    }
    // A caller authenticated by the application has presented no credentials here that could be guessed.
    const tried = found ? trySchemes(schemes, asking, ends) : this.tryCounted(asking, schemes, ends);
    return mapMaybe(tried, (outcome) => this.identifyBy(outcome, asking, schemes));
  }

  private identifyBy(
    tried: Tried,
    asking: AuthenticationRequest,
    schemes: readonly AuthenticationScheme[],
  ): Identified {
    const { request } = asking.exchange;
    switch (tried.kind) {
      case 'actor':
        this.assertSameSite(asking, tried.scheme);
        (request as { user?: unknown }).user = tried.actor;
        return { actor: tried.actor, scheme: tried.scheme };
      case 'wrong':
        throw new NotAuthenticated(challengeOf(schemes), refusalOf(tried.scheme, request));
      case 'unknown':
        throw new NotAuthenticated(challengeOf(schemes));
      case 'refused':
        return { actor: tried.actor, refusal: toAuthenticationError(tried, schemes) };
      case 'none':
        return { actor: null };
      default:
        return tried satisfies never;
    }
  }

  /** Throws 403 for a cross-site write of a caller who is known by what the browser sends by itself. */
  private assertSameSite(asking: AuthenticationRequest, scheme: AuthenticationScheme | undefined): void {
    if (!isCrossSiteWrite(asking.exchange, this.rules.trustedOrigins)) return;
    if (!isSentByScript(asking, scheme)) throw new CrossSiteWrite();
  }

  /** Checks credentials unless too many have been rejected; requests without credentials are not counted. */
  private tryCounted(
    asking: AuthenticationRequest,
    schemes: readonly AuthenticationScheme[],
    ends: number,
  ): MaybePromise<Tried> {
    const { request, address } = asking.exchange;
    const { refused } = this.rules;
    const presented = refused && presentedTo(schemes, request);
    if (!presented) return trySchemes(schemes, asking, ends);
    return mapMaybe(refused.begin({ address, username: presented.username }, ends), (check) =>
      endWith(check, presented.schemes, () => trySchemes(schemes, asking, ends)),
    );
  }
}

/**
 * Ends the check with the outcome of `attempt`, or without one if it throws or rejects. A success of another scheme than
 * those to which the credentials belong says nothing of them.
 */
function endWith(
  check: CredentialCheck,
  owners: Presented['schemes'],
  attempt: () => MaybePromise<Tried>,
): MaybePromise<Tried> {
  const end = (tried: Tried): Tried => {
    check.end(outcomeFor(owners, tried));
    return tried;
  };
  const abandon = (error: unknown): never => {
    check.end('none');
    throw error;
  };
  let tried: MaybePromise<Tried>;
  try {
    tried = attempt();
  } catch (error) {
    return abandon(error);
  }
  return isPromise(tried) ? tried.then(end, abandon) : end(tried);
}

function outcomeFor(owners: Presented['schemes'], tried: Tried): SchemeOutcome['kind'] {
  if (isWrong(tried)) return 'wrong';
  if (tried.kind !== 'actor') return tried.kind;
  const { name } = tried.scheme;
  return name !== undefined && owners.includes(name) ? 'actor' : 'none';
}

interface Presented {
  readonly username: string | undefined;
  /** The names of the schemes to which the user name belongs. The credentials of guards without a location are unknown. */
  readonly schemes: readonly (string | undefined)[];
}

/** The user name of the first scheme that has one. Undefined for a request without credentials. */
function presentedTo(
  schemes: readonly AuthenticationScheme[],
  request: LibraryRequest,
): Presented | undefined {
  let username: string | undefined;
  let owners: (string | undefined)[] | undefined;
  for (const scheme of schemes) {
    const presented = scheme.presented(request);
    if (!presented) continue;
    if (owners === undefined || (username === undefined && presented.username !== undefined)) {
      username = presented.username;
      owners = [scheme.name];
    } else if (presented.username === username) owners.push(scheme.name);
  }
  return owners && { username, schemes: owners };
}

/** What the schemes tried so far have found. */
interface TriedSchemes {
  readonly wrong: AuthenticationScheme | undefined;
  readonly unknown: boolean;
}

function trySchemes(
  schemes: readonly AuthenticationScheme[],
  asking: AuthenticationRequest,
  ends: number,
): MaybePromise<Tried> {
  const tryFrom = (index: number, { wrong, unknown }: TriedSchemes): MaybePromise<Tried> => {
    const scheme = schemes[index];
    if (!scheme) return wrong ? { kind: 'wrong', scheme: wrong } : { kind: unknown ? 'unknown' : 'none' };
    if (wrong && haveDifferentPlaces(wrong, scheme, asking)) return tryFrom(index + 1, { wrong, unknown });
    return mapMaybe(runScheme(scheme, asking, ends - performance.now()), (outcome) => {
      if (outcome.kind === 'actor') return { ...outcome, scheme };
      if (outcome.kind === 'refused') return outcome;
      return tryFrom(index + 1, {
        wrong: wrong ?? (outcome.kind === 'wrong' ? scheme : undefined),
        unknown: unknown || outcome.kind === 'unknown',
      });
    });
  };
  return tryFrom(0, { wrong: undefined, unknown: false });
}

/**
 * Credentials unknown to one strategy may belong to another one of the same scheme, but to no other scheme: a session beside
 * wrong credentials would else hide that they are wrong, and passwords could be guessed without a limit. A token that a guard
 * without a declared location rejects may belong to the next guard.
 */
function haveDifferentPlaces(
  { name: wrong }: AuthenticationScheme,
  { name: next }: AuthenticationScheme,
  { exchange }: AuthenticationRequest,
): boolean {
  const hasPassword = authorizationScheme(exchange.header('authorization')) === 'basic';
  const place = wrong ?? (hasPassword ? 'basic' : undefined);
  return place !== undefined && place !== next;
}

function refusalOf({ refusal }: AuthenticationScheme, request: LibraryRequest): string {
  return typeof refusal === 'string' ? refusal : refusal(request);
}

/** Credentials that did not authenticate anyone count as rejected, by whichever error a guard reports it. */
function isWrong(tried: Tried): boolean {
  if (tried.kind !== 'refused') return tried.kind === 'wrong';
  return tried.actor === null && statusOfError(tried.error) === 403;
}

/**
 * A guard that returns false denies as permissions do: an anonymous caller gets 401 if a scheme has a challenge. Throws
 * server errors, which are independent of permissions.
 */
function toAuthenticationError(
  { actor, error }: Extract<Tried, { kind: 'refused' }>,
  schemes: readonly AuthenticationScheme[],
): Error {
  if ((statusOfError(error) ?? 500) >= 500) throw error;
  const challenge = challengeOf(schemes);
  const asks = actor === null && challenge !== undefined && error instanceof PermissionDenied;
  return asks ? new NotAuthenticated(challenge) : error;
}
