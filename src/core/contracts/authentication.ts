import type { IncomingHttpHeaders } from 'node:http';
import type { DeclarationProblem } from '../errors/declaration-error.js';
import type { Actor } from '../schema/actor.js';
import type { GuardClass } from './guard.js';

/** Tells whether a user name and a password are right: the actor, or null. What it throws is a 503, but for Nest's UnauthorizedException. */
export type VerifyBasic = (
  username: string,
  password: string,
) => object | null | undefined | false | Promise<object | null | undefined | false>;

/** How a scheme is challenged for, where it is not by its own name. */
export interface ChallengeOptions {
  /** The name in `WWW-Authenticate`. One that browsers do not know, such as `XBasic`, opens no box for a password. */
  readonly challenge?: string;
}

/** HTTP Basic, checked by a function of the application. */
export interface BasicAuthentication extends ChallengeOptions {
  readonly kind: 'basic';
  readonly verify: VerifyBasic;
}

/** A strategy that the application has registered with Passport, by its name. */
export interface NamedAuthentication {
  readonly kind: 'strategy';
  readonly name: string;
  readonly credentials: Credentials;
}

/**
 * Where the credentials of a strategy stand, so that wrong ones, which are 401, are told from none: under a scheme of the
 * Authorization header, or in a header of their own, which has no challenge unless one is named.
 */
export type Credentials = ({ readonly scheme: string } | { readonly header: string }) & ChallengeOptions;

/** A guard of Nest that tells who asks, and where the credentials stand that it reads. */
export interface GuardAuthentication {
  readonly kind: 'guard';
  readonly guard: GuardClass;
  readonly credentials: Credentials;
}

/** How callers say who they are: `basic(verify)`, a Passport strategy by name, or a class of a guard that puts the actor on `request.user`. */
export type Authentication =
  BasicAuthentication | NamedAuthentication | GuardAuthentication | GuardClass | string;

/**
 * HTTP Basic through passport-http.
 *
 * ```ts
 * RestifyModule.forRoot('rest/v1', { authentication: [basic((name, password) => users.check(name, password))] })
 * ```
 */
export function basic(verify: VerifyBasic, options: ChallengeOptions = {}): BasicAuthentication {
  return { kind: 'basic', verify, ...options };
}

/**
 * A Passport strategy by name, with the scheme of its credentials where it is not `Bearer`, or with the header of its own
 * in which they stand.
 *
 * ```ts
 * RestifyModule.forRoot('rest/v1', { authentication: ['jwt', strategy('api-key', { header: 'X-API-Key' })] })
 * ```
 */
export function strategy(name: string, credentials: string | Credentials = 'Bearer'): NamedAuthentication {
  return {
    kind: 'strategy',
    name,
    credentials: typeof credentials === 'string' ? { scheme: credentials } : credentials,
  };
}

/**
 * A guard of Nest, with the scheme of the credentials that it reads, or with the header of its own in which they stand: so that
 * its 401 has a challenge, and the OpenAPI document a security scheme. Without either, the class itself is enough.
 *
 * ```ts
 * RestifyModule.forRoot('rest/v1', { authentication: [guard(AuthGuard('jwt'), 'Bearer')] })
 * ```
 */
export function guard(type: GuardClass, credentials: string | Credentials): GuardAuthentication {
  return {
    kind: 'guard',
    guard: type,
    credentials: typeof credentials === 'string' ? { scheme: credentials } : credentials,
  };
}

/** How many credentials may be refused in some time, before no more are looked at for as long. */
export interface AuthenticationThrottle {
  /** Refusals of one address. Default: 30. */
  readonly perAddress?: number;
  /** Refusals of one user name from one address. Default: 10. */
  readonly perUser?: number;
  /** Milliseconds. Default: 60,000. */
  readonly ttl?: number;
}

/** The same, with every default filled in. */
export type RefusalLimits = Required<AuthenticationThrottle>;

/** What a scheme makes of a request. */
export type SchemeOutcome =
  | { readonly kind: 'actor'; readonly actor: object }
  /** No credentials, or those of another scheme. */
  | { readonly kind: 'none' }
  /** Credentials of this scheme that are wrong, empty or malformed. */
  | { readonly kind: 'wrong' }
  /** A guard does not know the caller, who has presented nothing. */
  | { readonly kind: 'unknown' }
  /** A guard refuses, of whoever asks, something else than the credentials. */
  | { readonly kind: 'refused'; readonly actor: Actor; readonly error: Error };

/** The request of an HTTP library: what they have in common. */
export interface LibraryRequest {
  readonly headers: IncomingHttpHeaders;
}

/** One way to say who one is, ready to run. Rejects where it cannot tell. */
export interface AuthenticationScheme {
  /** Where its credentials stand: strategies that share the place are tried one after the other. Undefined for guards that do not say. */
  readonly name: string | undefined;
  /** For guards: `one` that tells who asks, or `all` of a model, which run whoever asks. */
  readonly guards?: 'one' | 'all';
  /** What cannot be known before the application has started: undefined where it is all right. */
  readonly problem?: () => DeclarationProblem | undefined;
  /** The value of `WWW-Authenticate`, where the scheme can challenge. */
  readonly challenge: string | undefined;
  /** What a caller with wrong credentials of this scheme is told. */
  readonly refusal: string | ((request: LibraryRequest) => string);
  /** Whether credentials of it stand in the request, and which user name they have; nothing is checked. */
  presented(request: LibraryRequest): { readonly username: string | undefined } | undefined;
  /** `context` is what guards of Nest are given. */
  authenticate(request: LibraryRequest, context: unknown): SchemeOutcome | Promise<SchemeOutcome>;
}
