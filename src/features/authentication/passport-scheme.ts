import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type {
  AuthenticationScheme,
  Credentials,
  LibraryRequest,
  NamedAuthentication,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import {
  parseBasicCredentials,
  challengeFor,
  isBasic,
  isPresented,
  credentialsSource,
  wrongCredentialsMessage,
} from './credentials.js';
import { statusOfError } from './run-scheme.js';

/** The part of Passport that is used here; an optional peer dependency. */
export interface PassportLike {
  authenticate(
    strategy: string,
    options: { session: false },
    done: (error: unknown, user: unknown, info: unknown) => void,
  ): (request: LibraryRequest, response: unknown, next: (error?: unknown) => void) => void;
}

/**
 * An authentication scheme that runs a Passport strategy. `isRegistered`: whether Passport has a strategy of a name; undefined
 * where it does not tell.
 */
export function passportScheme(
  { name, credentials }: NamedAuthentication,
  passport: PassportLike,
  isRegistered: ((name: string) => boolean) | undefined,
): AuthenticationScheme {
  return {
    name: credentialsSource(credentials),
    challenge: challengeFor(credentials),
    rejection: wrongCredentialsMessage(credentials),
    // A strategy may read cookies, too, as some of passport-jwt do.
    readsRequestAlone: true,
    problem: () => (isRegistered?.(name) === false ? unknownStrategy(name) : undefined),
    presented: (request) =>
      isPresented(request, credentials)
        ? {
            username: isBasic(credentials)
              ? parseBasicCredentials(request.headers.authorization)?.username
              : undefined,
          }
        : undefined,
    authenticate: (request) => runStrategy(name, { credentials, passport, request }),
  };
}

/** Passport reports missing, wrong and malformed credentials alike; the headers distinguish them. */
function runStrategy(
  name: string,
  {
    credentials,
    passport,
    request,
  }: { credentials: Credentials; passport: PassportLike; request: LibraryRequest },
): MaybePromise<SchemeOutcome> {
  const presented = isPresented(request, credentials);
  if (isBasic(credentials) && !presented) return { kind: 'none' };
  return new Promise((resolve, reject) => {
    const middleware = passport.authenticate(name, { session: false }, (error, user) => {
      const refused: SchemeOutcome = { kind: presented ? 'wrong' : 'none' };
      // Nest's UnauthorizedException, which `validate` throws for wrong credentials in Nest's documentation.
      if (statusOfError(error) === 401) resolve(refused);
      else if (error !== null && error !== undefined)
        reject(error instanceof Error ? error : new Error('The strategy failed'));
      else resolve(typeof user === 'object' && user !== null ? { kind: 'actor', actor: user } : refused);
    });
    middleware(request, redirectedTo(reject), (error) => {
      reject(error instanceof Error ? error : new Error('The strategy passed the request on'));
    });
  });
}

/** Replaces the response, to which a strategy writes only if it redirects. */
function redirectedTo(reject: (cause: Error) => void): unknown {
  return {
    setHeader: () => undefined,
    end: () => {
      reject(new Error('The strategy redirects, which no client of this interface can follow'));
    },
  };
}

/** Evaluated once the providers of the application exist, because strategies register in their constructors. */
function unknownStrategy(name: string): DeclarationProblem {
  return {
    where: `authentication: '${name}'`,
    what: 'Passport knows no strategy of this name',
    repair: `List its class, which extends PassportStrategy(…, '${name}'), in the providers of a module, or correct the name.`,
  };
}
