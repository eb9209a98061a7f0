import { AuthenticationAway, NotAuthenticated } from '../../errors/request-errors.js';
import type { Actor } from '../../model/actor.js';
import type { AuthenticationScheme, LibraryRequest, SchemeOutcome } from '../../model/authentication.js';
import { isLater } from '../../values/soon.js';
import type { Soon } from '../../values/soon.js';
import { challengeOf } from './challenge-of.js';
import type { RefusedCredentials } from './refused-credentials.js';

/** A request, and the address that the application's proxy setting vouches for. */
export interface Asking {
  readonly request: LibraryRequest;
  readonly address: string;
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
  authenticate(asking: Asking, schemes: readonly AuthenticationScheme[]): Soon<Actor> {
    const found = (asking.request as { user?: unknown }).user;
    if (typeof found === 'object' && found !== null) return found;
    return schemes.length === 0 ? null : this.ask(asking, schemes);
  }

  private async ask(asking: Asking, schemes: readonly AuthenticationScheme[]): Promise<Actor> {
    const { request } = asking;
    const tried = await this.tryCounted(asking, schemes, performance.now() + this.rules.timeout);
    switch (tried.kind) {
      case 'actor':
        (request as { user?: unknown }).user = tried.actor;
        return tried.actor;
      case 'wrong':
        throw new NotAuthenticated(challengeOf(schemes), tried.scheme.refusal);
      case 'none':
        return null;
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
    if (!presented) return trySchemes(schemes, request, ends);
    const check = await refused.begin({ address: asking.address, username: presented.username }, ends);
    let outcome: SchemeOutcome['kind'] = 'none';
    try {
      const tried = await trySchemes(schemes, request, ends);
      outcome = tried.kind;
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
  request: LibraryRequest,
  ends: number,
): Promise<Tried> {
  let wrong: AuthenticationScheme | undefined;
  for (const scheme of schemes) {
    // Credentials that one strategy does not know may be another's of the same scheme, and of no other scheme.
    if (wrong && scheme.name !== wrong.name) continue;
    const outcome = await outcomeOf(scheme, request, ends - performance.now());
    if (outcome.kind === 'actor') return outcome;
    if (outcome.kind === 'wrong') wrong ??= scheme;
  }
  return wrong ? { kind: 'wrong', scheme: wrong } : { kind: 'none' };
}

/** What a scheme says, if it does so in time; what it says later is dropped. */
function outcomeOf(
  scheme: AuthenticationScheme,
  request: LibraryRequest,
  milliseconds: number,
): Soon<SchemeOutcome> {
  const given = scheme.authenticate(request);
  if (!isLater(given)) return given;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new AuthenticationAway({
          cause: new Error(`The check of credentials under "${scheme.name}" took too long`),
        }),
      );
    }, milliseconds);
    // A process that ends does not wait for it.
    timer.unref();
    given
      .then(resolve, (error: unknown) => {
        reject(new AuthenticationAway({ cause: error }));
      })
      .finally(() => {
        clearTimeout(timer);
      });
  });
}
