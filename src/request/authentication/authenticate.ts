import { AuthenticationAway, NotAuthenticated } from '../../errors/request-errors.js';
import type { Actor } from '../../model/actor.js';
import type { AuthenticationScheme, LibraryRequest, SchemeOutcome } from '../../model/authentication.js';

/**
 * Who asks. An actor that the application has put on the request is used as it is; else the schemes are tried in order,
 * and the first that knows the caller decides. Throws 401 for wrong credentials of a scheme in use, on open endpoints
 * too, and 503 where a scheme fails.
 */
export async function authenticate(request: LibraryRequest, schemes: readonly AuthenticationScheme[]): Promise<Actor> {
  const known = actorAtHand(request, schemes);
  if (known !== undefined) return known;
  let wrong: AuthenticationScheme | undefined;
  for (const scheme of schemes) {
    // Credentials that one strategy does not know may be another's of the same scheme, and of no other scheme.
    if (wrong && scheme.name !== wrong.name) continue;
    const outcome = await attempt(scheme, request);
    if (outcome.kind === 'wrong') wrong ??= scheme;
    if (outcome.kind === 'actor') {
      (request as { user?: unknown }).user = outcome.actor;
      return outcome.actor;
    }
  }
  if (wrong) throw new NotAuthenticated(challengeOf(schemes), 'Invalid username/password.');
  return null;
}

/** Undefined where a scheme has to be asked. */
export function actorAtHand(request: LibraryRequest, schemes: readonly AuthenticationScheme[]): Actor | undefined {
  const found = (request as { user?: unknown }).user;
  if (typeof found === 'object' && found !== null) return found;
  return schemes.length === 0 ? null : undefined;
}

async function attempt(scheme: AuthenticationScheme, request: LibraryRequest): Promise<SchemeOutcome> {
  try {
    return await scheme.authenticate(request);
  } catch (error) {
    throw new AuthenticationAway({ cause: error });
  }
}

const CHALLENGES = new WeakMap<readonly AuthenticationScheme[], string | undefined>();

/** The challenges of all schemes in use that have one, in their order (RFC 9110, 11.6.1). */
export function challengeOf(schemes: readonly AuthenticationScheme[]): string | undefined {
  if (!CHALLENGES.has(schemes)) {
    const challenges = new Set(schemes.flatMap(({ challenge }) => challenge ?? []));
    CHALLENGES.set(schemes, challenges.size === 0 ? undefined : [...challenges].join(', '));
  }
  return CHALLENGES.get(schemes);
}
