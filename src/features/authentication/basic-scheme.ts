import type {
  AuthenticationScheme,
  BasicAuthentication,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import { isPromise } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { parseBasicCredentials } from './basic-credentials.js';
import { statusOfError } from './error-status.js';
import {
  challengeFor,
  credentialsSource,
  isPresented,
  wrongCredentialsMessage,
} from './presented-credentials.js';

/** HTTP Basic with credentials that a function of the application verifies. */
export function basicScheme({ verify, challenge }: BasicAuthentication): AuthenticationScheme {
  const credentials = { scheme: 'Basic', ...(challenge === undefined ? {} : { challenge }) };
  return {
    name: credentialsSource(credentials),
    challenge: challengeFor(credentials),
    refusal: wrongCredentialsMessage(credentials),
    presented: (request) =>
      isPresented(request, credentials)
        ? { username: parseBasicCredentials(request.headers.authorization)?.username }
        : undefined,
    authenticate: (request) => {
      if (!isPresented(request, credentials)) return NONE;
      const given = parseBasicCredentials(request.headers.authorization);
      return given ? toOutcome(() => verify(given.username, given.password)) : WRONG;
    },
  };
}

const NONE: SchemeOutcome = { kind: 'none' };
const WRONG: SchemeOutcome = { kind: 'wrong' };

type Verified = object | null | undefined | false;

/** Throws or rejects with an error of the function, except for Nest's `UnauthorizedException`. */
function toOutcome(verify: () => Verified | Promise<Verified>): MaybePromise<SchemeOutcome> {
  try {
    const verified = verify();
    return isPromise(verified)
      ? Promise.resolve(verified).then(outcomeOf, outcomeOfError)
      : outcomeOf(verified);
  } catch (error) {
    return outcomeOfError(error);
  }
}

function outcomeOf(actor: unknown): SchemeOutcome {
  return typeof actor === 'object' && actor !== null ? { kind: 'actor', actor } : WRONG;
}

function outcomeOfError(error: unknown): SchemeOutcome {
  if (statusOfError(error) === 401) return WRONG;
  throw error instanceof Error ? error : new Error('The verify function failed');
}
