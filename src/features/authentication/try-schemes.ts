import type {
  AuthenticationScheme,
  LibraryRequest,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import { mapMaybe, settleMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { HttpExchange } from '../../request/http-exchange.js';
import type { RequestOrigin } from './cross-site-write.js';
import { statusOfError, runScheme } from './run-scheme.js';
import type { CredentialCheck } from './failed-attempts.js';
import { authorizationScheme } from './credentials.js';
import type { RefusedCredentials } from './refused-credentials.js';

/** A request to be authenticated. */
export interface AuthenticationRequest {
  readonly exchange: RequestOrigin & Pick<HttpExchange, 'request' | 'address' | 'hasClientCertificate'>;
  /** The `ExecutionContext` that Nest guards receive. */
  readonly context?: unknown;
}

/** The combined outcome of all schemes, with the scheme that authenticated the caller or rejected the credentials. */
export type Tried =
  | Exclude<SchemeOutcome, { kind: 'wrong' | 'actor' }>
  | { readonly kind: 'wrong'; readonly scheme: AuthenticationScheme }
  | { readonly kind: 'actor'; readonly actor: object; readonly scheme: AuthenticationScheme };

/** An attempt to authenticate a request whose rejected credentials are counted. */
interface CountedAttempt {
  /** The deadline, as of `performance.now()`. */
  readonly ends: number;
  /** Undefined if rejected credentials are not counted. */
  readonly refused: RefusedCredentials | undefined;
}

/** As `trySchemes`, unless too many credentials have been rejected; requests without credentials are not counted. */
export function tryCounted(
  schemes: readonly AuthenticationScheme[],
  asking: AuthenticationRequest,
  { ends, refused }: CountedAttempt,
): MaybePromise<Tried> {
  const { request, address } = asking.exchange;
  const presented = refused && presentedTo(schemes, request);
  if (!presented) return trySchemes(schemes, asking, ends);
  return mapMaybe(refused.begin({ address, username: presented.username }, ends), (check) =>
    endWith(check, presented.schemes, () => trySchemes(schemes, asking, ends)),
  );
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
  return settleMaybe(attempt, end, abandon);
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

/** Tries the schemes in order until one authenticates the caller or denies it. */
export function trySchemes(
  schemes: readonly AuthenticationScheme[],
  asking: AuthenticationRequest,
  ends: number,
): MaybePromise<Tried> {
  const tryFrom = (index: number, { wrong, unknown }: TriedSchemes): MaybePromise<Tried> => {
    const scheme = schemes[index];
    if (!scheme) return wrong ? { kind: 'wrong', scheme: wrong } : { kind: unknown ? 'unknown' : 'none' };
    if (wrong && haveDifferentPlaces(wrong, scheme, asking)) return tryFrom(index + 1, { wrong, unknown });
    return mapMaybe(runScheme(scheme, asking, ends - performance.now()), (outcome) => {
      if (outcome.kind === 'actor') return { kind: 'actor', actor: outcome.actor, scheme };
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

/** Credentials that did not authenticate anyone count as rejected, by whichever error a guard reports it. */
function isWrong(tried: Tried): boolean {
  if (tried.kind !== 'refused') return tried.kind === 'wrong';
  return tried.actor === null && statusOfError(tried.error) === 403;
}
