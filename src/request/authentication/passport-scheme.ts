import type { DeclarationProblem } from '../../errors/declaration-error.js';
import { strategy } from '../../model/authentication.js';
import type {
  Authentication,
  AuthenticationScheme,
  Credentials,
  LibraryRequest,
  SchemeOutcome,
} from '../../model/authentication.js';
import type { Soon } from '../../values/soon.js';
import { parseBasicCredentials } from './basic-credentials.js';
import { basicStrategy } from './basic-strategy.js';
import type { PassportHttpLike } from './basic-strategy.js';

/** The part of Passport that is used here; the package is an optional peer. */
export interface PassportLike {
  /** What is registered under a name; part of Passport that is not documented. */
  _strategy?(name: string): unknown;
  authenticate(
    strategy: unknown,
    options: { session: false },
    done: (error: unknown, user: unknown, info: unknown) => void,
  ): (request: LibraryRequest, response: unknown, next: (error?: unknown) => void) => void;
}

const REALM = 'api';

/** A scheme over Passport. */
export function passportScheme(
  authentication: Authentication,
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
  const challenge = credentials.challenge ?? ('scheme' in credentials ? credentials.scheme : undefined);
  return {
    name: ('header' in credentials ? `header ${credentials.header}` : credentials.scheme).toLowerCase(),
    challenge: challenge === undefined ? undefined : `${challenge} realm="${REALM}"`,
    refusal: isBasic(credentials) ? 'Invalid username/password.' : 'Invalid token.',
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

/** Passport reports missing, wrong and malformed credentials alike; the headers tell them apart. */
function runStrategy(
  passportStrategy: string | object,
  {
    credentials,
    passport,
    request,
  }: { credentials: Credentials; passport: PassportLike; request: LibraryRequest },
): Soon<SchemeOutcome> {
  const presented = isPresented(request, credentials);
  if (isBasic(credentials) && !presented) return { kind: 'none' };
  return new Promise((resolve, reject) => {
    const middleware = passport.authenticate(
      ofRequest(passportStrategy),
      { session: false },
      (error, user) => {
        const refused: SchemeOutcome = { kind: presented ? 'wrong' : 'none' };
        if (isUnauthorized(error)) resolve(refused);
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
 * Passport writes `success`, `fail` and `error` of the request onto the strategy that it runs. For a name it makes an
 * object that inherits the strategy; an object is taken as it is, so each request gives one of its own.
 */
function ofRequest(passportStrategy: string | object): unknown {
  return typeof passportStrategy === 'string'
    ? passportStrategy
    : (Object.create(passportStrategy) as unknown);
}

/** Nest's UnauthorizedException, which a `validate` that follows Nest's documents throws for wrong credentials. */
function isUnauthorized(error: unknown): boolean {
  const like = error as { readonly getStatus?: () => unknown } | null | undefined;
  return typeof like?.getStatus === 'function' && like.getStatus() === 401;
}

/** In the place of the response, which a strategy writes to where it redirects, and nowhere else. */
function redirectedTo(reject: (cause: Error) => void): unknown {
  return {
    setHeader: () => undefined,
    end: () => {
      reject(new Error('The strategy redirects, which no client of this interface can follow'));
    },
  };
}

/** Strategies register when the application's providers are made, so this is asked when they are. */
function unknownStrategy(name: string, passport: PassportLike): DeclarationProblem | undefined {
  if (!passport._strategy || passport._strategy(name) !== undefined) return undefined;
  return {
    where: `authentication: '${name}'`,
    what: 'Passport knows no strategy of this name',
    repair: `List its class, which extends PassportStrategy(…, '${name}'), in the providers of a module, or correct the name.`,
  };
}

/** Schemes are named without regard to case (RFC 9110, 11.1). */
function isBasic(credentials: Credentials): boolean {
  return 'scheme' in credentials && credentials.scheme.toLowerCase() === 'basic';
}

function isPresented({ headers }: LibraryRequest, credentials: Credentials): boolean {
  if ('header' in credentials) return headers[credentials.header.toLowerCase()] !== undefined;
  return headers.authorization?.trim().split(/\s+/)[0]?.toLowerCase() === credentials.scheme.toLowerCase();
}
