import type { DeclarationProblem } from '../../errors/declaration-error.js';
import { strategy } from '../../model/authentication.js';
import type { Authentication, AuthenticationScheme, Credentials, LibraryRequest, SchemeOutcome, VerifyBasic } from '../../model/authentication.js';

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

/** passport-http, likewise. */
export interface PassportHttpLike {
  readonly BasicStrategy: new (options: { realm: string }, verify: (username: string, password: string, done: (error: unknown, user?: unknown) => void) => void) => object;
}

const REALM = 'api';

/** A scheme over Passport. */
export function passportScheme(authentication: Authentication, libraries: { passport: PassportLike; passportHttp: PassportHttpLike | undefined }): AuthenticationScheme {
  const named = typeof authentication === 'string' ? strategy(authentication) : authentication;
  if (named.kind === 'strategy') return schemeOf(named.name, named.credentials, libraries.passport);
  if (!libraries.passportHttp) throw new Error('HTTP Basic needs passport-http: npm install passport passport-http.');
  return schemeOf(basicStrategy(named.verify, libraries.passportHttp), { scheme: 'Basic' }, libraries.passport);
}

function basicStrategy(verify: VerifyBasic, { BasicStrategy }: PassportHttpLike): object {
  return new BasicStrategy({ realm: REALM }, (username, password, done) => {
    Promise.resolve()
      .then(() => verify(username, password))
      .then(
        (actor) => {
          done(null, actor ?? false);
        },
        (error: unknown) => {
          done(error ?? new Error('The verify function failed'));
        },
      );
  });
}

function schemeOf(passportStrategy: unknown, credentials: Credentials, passport: PassportLike): AuthenticationScheme {
  const scheme = 'scheme' in credentials ? credentials.scheme : undefined;
  return {
    name: ('header' in credentials ? `header ${credentials.header}` : credentials.scheme).toLowerCase(),
    challenge: scheme === undefined ? undefined : `${scheme} realm="${REALM}"`,
    problem: () => (typeof passportStrategy === 'string' ? unknownStrategy(passportStrategy, passport) : undefined),
    authenticate: (request) => runStrategy(passportStrategy, { credentials, passport, request }),
  };
}

/** Passport reports missing, wrong and malformed credentials alike; the headers tell them apart. */
function runStrategy(passportStrategy: unknown, { credentials, passport, request }: { credentials: Credentials; passport: PassportLike; request: LibraryRequest }): Promise<SchemeOutcome> {
  const presented = isPresented(request, credentials);
  if ('scheme' in credentials && credentials.scheme === 'Basic' && !presented) return Promise.resolve({ kind: 'none' });
  return new Promise((resolve, reject) => {
    const middleware = passport.authenticate(passportStrategy, { session: false }, (error, user) => {
      if (error !== null && error !== undefined) reject(error instanceof Error ? error : new Error('The strategy failed'));
      else if (typeof user === 'object' && user !== null) resolve({ kind: 'actor', actor: user });
      else resolve({ kind: presented ? 'wrong' : 'none' });
    });
    middleware(request, undefined, (error) => {
      reject(error instanceof Error ? error : new Error('The strategy passed the request on'));
    });
  });
}

/** Strategies register when the application's providers are made, so this is asked when they are. */
function unknownStrategy(name: string, passport: PassportLike): DeclarationProblem | undefined {
  if (!passport._strategy || passport._strategy(name) !== undefined) return undefined;
  return { where: `authentication: '${name}'`, what: 'Passport knows no strategy of this name', repair: `List its class, which extends PassportStrategy(…, '${name}'), in the providers of a module, or correct the name.` };
}

/** Schemes are named without regard to case (RFC 9110, 11.1). */
function isPresented({ headers }: LibraryRequest, credentials: Credentials): boolean {
  if ('header' in credentials) return headers[credentials.header.toLowerCase()] !== undefined;
  return headers.authorization?.trim().split(/\s+/)[0]?.toLowerCase() === credentials.scheme.toLowerCase();
}
