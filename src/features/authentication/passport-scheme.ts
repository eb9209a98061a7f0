import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { strategy } from '../../core/contracts/authentication.js';
import type {
  Authentication,
  AuthenticationScheme,
  Credentials,
  GuardAuthentication,
  LibraryRequest,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import type { GuardClass } from '../../core/contracts/guard.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { parseBasicCredentials } from './basic-credentials.js';
import { basicStrategy } from './basic-strategy.js';
import type { PassportHttpLike } from './basic-strategy.js';
import {
  challengeFor,
  isBasic,
  isPresented,
  credentialsSource,
  REALM,
  wrongCredentialsMessage,
} from './presented-credentials.js';
import { statusOfError } from './error-status.js';

/** The part of Passport that is used here; an optional peer dependency. */
export interface PassportLike {
  /** The strategy registered under a name; undocumented in Passport. */
  _strategy?(name: string): unknown;
  authenticate(
    strategy: unknown,
    options: { session: false },
    done: (error: unknown, user: unknown, info: unknown) => void,
  ): (request: LibraryRequest, response: unknown, next: (error?: unknown) => void) => void;
}

/** The kinds of authentication that Passport checks. */
export type PassportAuthentication = Exclude<Authentication, GuardAuthentication | GuardClass>;

/** An authentication scheme that runs Passport strategies. */
export function passportScheme(
  authentication: PassportAuthentication,
  libraries: { passport: PassportLike; passportHttp: PassportHttpLike | undefined },
): AuthenticationScheme {
  const named = typeof authentication === 'string' ? strategy(authentication) : authentication;
  if (named.kind === 'strategy') return schemeOf(named.name, named.credentials, libraries.passport);
  if (!libraries.passportHttp)
    throw new Error('HTTP Basic needs passport-http: npm install passport passport-http.');
  const { challenge } = named;
  return schemeOf(
    basicStrategy(named.verify, libraries.passportHttp, REALM),
    { scheme: 'Basic', ...(challenge === undefined ? {} : { challenge }) },
    libraries.passport,
  );
}

function schemeOf(
  passportStrategy: string | object,
  credentials: Credentials,
  passport: PassportLike,
): AuthenticationScheme {
  return {
    name: credentialsSource(credentials),
    challenge: challengeFor(credentials),
    refusal: wrongCredentialsMessage(credentials),
    problem: () =>
      typeof passportStrategy === 'string' ? unknownStrategy(passportStrategy, passport) : undefined,
    presented: (request) =>
      isPresented(request, credentials)
        ? {
            username: isBasic(credentials)
              ? parseBasicCredentials(request.headers.authorization)?.username
              : undefined,
          }
        : undefined,
    authenticate: (request) => runStrategy(passportStrategy, { credentials, passport, request }),
  };
}

/** Passport reports missing, wrong and malformed credentials alike; the headers distinguish them. */
function runStrategy(
  passportStrategy: string | object,
  {
    credentials,
    passport,
    request,
  }: { credentials: Credentials; passport: PassportLike; request: LibraryRequest },
): MaybePromise<SchemeOutcome> {
  const presented = isPresented(request, credentials);
  if (isBasic(credentials) && !presented) return { kind: 'none' };
  return new Promise((resolve, reject) => {
    const middleware = passport.authenticate(
      ofRequest(passportStrategy),
      { session: false },
      (error, user) => {
        const refused: SchemeOutcome = { kind: presented ? 'wrong' : 'none' };
        // Nest's UnauthorizedException, which `validate` throws for wrong credentials in Nest's documentation.
        if (statusOfError(error) === 401) resolve(refused);
        else if (error !== null && error !== undefined)
          reject(error instanceof Error ? error : new Error('The strategy failed'));
        else resolve(typeof user === 'object' && user !== null ? { kind: 'actor', actor: user } : refused);
      },
    );
    middleware(request, redirectedTo(reject), (error) => {
      reject(error instanceof Error ? error : new Error('The strategy passed the request on'));
    });
  });
}

/**
 * Passport writes `success`, `fail` and `error` of the request to the strategy that it runs. For a name it creates an
 * object that inherits from the strategy; an object is used as it is, so each request passes an object of its own.
 */
function ofRequest(passportStrategy: string | object): unknown {
  return typeof passportStrategy === 'string'
    ? passportStrategy
    : (Object.create(passportStrategy) as unknown);
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
function unknownStrategy(name: string, passport: PassportLike): DeclarationProblem | undefined {
  if (!passport._strategy || passport._strategy(name) !== undefined) return undefined;
  return {
    where: `authentication: '${name}'`,
    what: 'Passport knows no strategy of this name',
    repair: `List its class, which extends PassportStrategy(…, '${name}'), in the providers of a module, or correct the name.`,
  };
}
