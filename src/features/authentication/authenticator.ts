import {
  AuthenticationUnavailable,
  NotAuthenticated,
  PermissionDenied,
} from '../../core/errors/http-exceptions.js';
import type { Actor } from '../../core/schema/actor.js';
import type {
  AuthenticationScheme,
  LibraryRequest,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import { isPromise } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { challengeOf } from './challenge.js';
import { actorOn } from './guard-scheme.js';
import type { RefusedCredentials } from './refused-credentials.js';
import { statusOfError } from './error-status.js';

/** A request, and the address that the application's proxy setting vouches for. */
export interface Asking {
  readonly request: LibraryRequest;
  readonly address: string;
  /** What guards of Nest are given. */
  readonly context?: unknown;
}

/** Who asks, and why a guard refuses it nevertheless. */
export interface Identified {
  readonly actor: Actor;
  /** Whoever the permissions refuse is told that first. */
  readonly refusal?: Error;
}

export interface AuthenticatorRules {
  /** Milliseconds that all checks of one request may take. */
  readonly timeout: number;
  /** Undefined where they are not counted. */
  readonly refused: RefusedCredentials | undefined;
}

/** What all schemes make of a request, and the one that knows its credentials for wrong. */
type Tried =
  | Exclude<SchemeOutcome, { kind: 'wrong' }>
  | { readonly kind: 'wrong'; readonly scheme: AuthenticationScheme };

/** Who asks, below one prefix. */
export class Authenticator {
  constructor(private readonly rules: AuthenticatorRules) {}

  /**
   * An actor that the application has put on the request is used as it is; else the schemes are tried in order, and the
   * first that knows the caller decides. Throws 429 where too many credentials have been refused, 401 for wrong
   * credentials of a scheme in use, on open endpoints too, and 503 where a scheme fails, or has not answered in time.
   */
  authenticate(asking: Asking, schemes: readonly AuthenticationScheme[]): MaybePromise<Actor> {
    const found = actorOn(asking.request);
    if (found) return found;
    return schemes.length === 0 ? null : this.identify(asking, schemes).then(({ actor }) => actor);
  }

  /** The same of schemes among which guards are. Those of a model run whoever asks. */
  async identify(asking: Asking, schemes: readonly AuthenticationScheme[]): Promise<Identified> {
    const { request } = asking;
    const found = actorOn(request);
    const ends = performance.now() + this.rules.timeout;
    if (found && !schemes.some(({ guards }) => guards === 'all')) return { actor: found };
    // Whom the application knows has presented nothing here that could be guessed.
    const tried = found
      ? await trySchemes(schemes, asking, ends)
      : await this.tryCounted(asking, schemes, ends);
    switch (tried.kind) {
      case 'actor':
        (request as { user?: unknown }).user = tried.actor;
        return { actor: tried.actor };
      case 'wrong':
        throw new NotAuthenticated(challengeOf(schemes), refusalOf(tried.scheme, request));
      case 'unknown':
        throw new NotAuthenticated(challengeOf(schemes));
      case 'refused':
        return { actor: tried.actor, refusal: refusalFor(tried, schemes) };
      case 'none':
        return { actor: null };
      default:
        return tried satisfies never;
    }
  }

  /** Credentials are looked at where not too many have been refused; whoever presents none is not counted. */
  private async tryCounted(
    asking: Asking,
    schemes: readonly AuthenticationScheme[],
    ends: number,
  ): Promise<Tried> {
    const { request } = asking;
    const { refused } = this.rules;
    const presented = refused && presentedTo(schemes, request);
    if (!presented) return trySchemes(schemes, asking, ends);
    const check = await refused.begin({ address: asking.address, username: presented.username }, ends);
    let outcome: SchemeOutcome['kind'] = 'none';
    try {
      const tried = await trySchemes(schemes, asking, ends);
      outcome = isWrong(tried) ? 'wrong' : tried.kind;
      return tried;
    } finally {
      check.end(outcome);
    }
  }
}

function presentedTo(
  schemes: readonly AuthenticationScheme[],
  request: LibraryRequest,
): ReturnType<AuthenticationScheme['presented']> {
  for (const scheme of schemes) {
    const presented = scheme.presented(request);
    if (presented) return presented;
  }
  return undefined;
}

async function trySchemes(
  schemes: readonly AuthenticationScheme[],
  asking: Asking,
  ends: number,
): Promise<Tried> {
  let wrong: AuthenticationScheme | undefined;
  let unknown = false;
  for (const scheme of schemes) {
    if (wrong && haveDifferentPlaces(wrong, scheme)) continue;
    const outcome = await outcomeOf(scheme, asking, ends - performance.now());
    if (outcome.kind === 'actor' || outcome.kind === 'refused') return outcome;
    if (outcome.kind === 'wrong') wrong ??= scheme;
    unknown ||= outcome.kind === 'unknown';
  }
  if (wrong) return { kind: 'wrong', scheme: wrong };
  return { kind: unknown ? 'unknown' : 'none' };
}

/** Credentials that one strategy does not know may be another's of the same scheme, and of no other scheme; of a guard nobody knows. */
function haveDifferentPlaces(
  { name: one }: AuthenticationScheme,
  { name: other }: AuthenticationScheme,
): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

function refusalOf({ refusal }: AuthenticationScheme, request: LibraryRequest): string {
  return typeof refusal === 'string' ? refusal : refusal(request);
}

/** Credentials by which nobody has become known: they count as refused, whichever way a guard says so. */
function isWrong(tried: Tried): boolean {
  if (tried.kind !== 'refused') return tried.kind === 'wrong';
  return tried.actor === null && statusOfError(tried.error) === 403;
}

/** A guard that answers false refuses as permissions do: an anonymous caller by 401 where a scheme can challenge. Throws what no permission stands before. */
function refusalFor(
  { actor, error }: Extract<Tried, { kind: 'refused' }>,
  schemes: readonly AuthenticationScheme[],
): Error {
  if ((statusOfError(error) ?? 500) >= 500) throw error;
  const challenge = challengeOf(schemes);
  const asks = actor === null && challenge !== undefined && error instanceof PermissionDenied;
  return asks ? new NotAuthenticated(challenge) : error;
}

/** What a scheme says, if it does so in time; what it says later is dropped. */
function outcomeOf(
  scheme: AuthenticationScheme,
  { request, context }: Asking,
  milliseconds: number,
): MaybePromise<SchemeOutcome> {
  const given = scheme.authenticate(request, context);
  if (!isPromise(given)) return given;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new AuthenticationUnavailable({
          cause: new Error(`${checkOf(scheme)} took too long`),
        }),
      );
    }, milliseconds);
    // A process that ends does not wait for it.
    timer.unref();
    given
      .then(resolve, (error: unknown) => {
        reject(new AuthenticationUnavailable({ cause: error }));
      })
      .finally(() => {
        clearTimeout(timer);
      });
  });
}

function checkOf({ name }: AuthenticationScheme): string {
  return name === undefined
    ? 'A guard in the place of authentication'
    : `The check of credentials under "${name}"`;
}
