import type {
  AuthenticationScheme,
  BasicAuthentication,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import { settleMaybe } from '../../core/maybe-promise.js';
import {
  parseBasicCredentials,
  challengeFor,
  credentialsSource,
  isPresented,
  wrongCredentialsMessage,
} from './credentials.js';
import { statusOfError } from './run-scheme.js';

/** HTTP Basic with credentials that a function of the application verifies. */
export function basicScheme({ verify, challenge }: BasicAuthentication): AuthenticationScheme {
  const credentials = { scheme: 'Basic', ...(challenge === undefined ? {} : { challenge }) };
  return {
    name: credentialsSource(credentials),
    challenge: challengeFor(credentials),
    rejection: wrongCredentialsMessage(credentials),
    presented: (request) =>
      isPresented(request, credentials)
        ? { username: parseBasicCredentials(request.headers.authorization)?.username }
        : undefined,
    authenticate: (request) => {
      if (!isPresented(request, credentials)) return NONE;
      const given = parseBasicCredentials(request.headers.authorization);
      return given
        ? settleMaybe(() => verify(given.username, given.password), outcomeOf, outcomeOfError)
        : WRONG;
    },
  };
}

const NONE: SchemeOutcome = { kind: 'none' };
const WRONG: SchemeOutcome = { kind: 'wrong' };

function outcomeOf(actor: unknown): SchemeOutcome {
  return typeof actor === 'object' && actor !== null ? { kind: 'actor', actor } : WRONG;
}

/** Throws an error of the function, except for Nest's `UnauthorizedException`. */
function outcomeOfError(error: unknown): SchemeOutcome {
  if (statusOfError(error) === 401) return WRONG;
  throw error instanceof Error ? error : new Error('The verify function failed');
}
