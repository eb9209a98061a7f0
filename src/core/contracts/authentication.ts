import type { IncomingHttpHeaders } from 'node:http';
import type { DeclarationProblem } from '../errors/declaration-error.js';
import type { Actor } from '../schema/caller.js';
import type { GuardClass } from './enhancers.js';

/**
 * Verifies a user name and a password: returns the actor, or null for wrong credentials. An error that it throws is
 * a 503, except for Nest's `UnauthorizedException`.
 */
export type VerifyBasic = (
  username: string,
  password: string,
) => object | null | undefined | false | Promise<object | null | undefined | false>;

/** Overrides the challenge of a scheme, which is the scheme's own name by default. */
export interface ChallengeOptions {
  /** The scheme in `WWW-Authenticate`. With one that browsers do not implement, such as `XBasic`, they show no password prompt. */
  readonly challenge?: string;
}

/** HTTP Basic, checked by a function of the application. */
export interface BasicAuthentication extends ChallengeOptions {
  readonly kind: 'basic';
  readonly verify: VerifyBasic;
}

/** A Passport strategy by the name under which the application has registered it. */
export interface NamedAuthentication {
  readonly kind: 'strategy';
  readonly name: string;
  readonly credentials: Credentials;
}

/**
 * The location of a strategy's credentials: a scheme of the `Authorization` header, or a header of their own, which has no
 * challenge unless one is given. Distinguishes invalid credentials, which are 401, from absent ones.
 */
export type Credentials = ({ readonly scheme: string } | { readonly header: string }) & ChallengeOptions;

/** A Nest guard that authenticates the caller, and the location of the credentials that it reads. */
export interface GuardAuthentication {
  readonly kind: 'guard';
  readonly guard: GuardClass;
  readonly credentials: Credentials;
}

/** An authentication method: `basic(verify)`, a Passport strategy by name, or a guard class that sets `request.user`. */
export type Authentication =
  BasicAuthentication | NamedAuthentication | GuardAuthentication | GuardClass | string;

/**
 * HTTP Basic (RFC 7617), with credentials that a function verifies.
 *
 * ```ts
 * RestifyModule.forRoot('rest/v1', { authentication: [basic((name, password) => users.check(name, password))] })
 * ```
 */
export function basic(verify: VerifyBasic, options: ChallengeOptions = {}): BasicAuthentication {
  return { kind: 'basic', verify, ...options };
}

/**
 * A Passport strategy by name, with the scheme of its credentials if it is not `Bearer`, or with the header that holds them.
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
 * A Nest guard with the scheme of the credentials that it reads, or with the header that holds them. Gives its 401 a challenge
 * and the OpenAPI document a security scheme; if neither is needed, pass the class itself.
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

/** Rate limits for failed authentication: above them, credentials are rejected unverified until the window has passed. */
export interface AuthenticationThrottle {
  /** Failures per address. Default: 30. */
  readonly perAddress?: number;
  /** Failures per user name and address. Default: 10. */
  readonly perUser?: number;
  /** Length of the window in milliseconds. Default: 60,000. */
  readonly ttl?: number;
}

/** `AuthenticationThrottle` with the defaults applied. */
export type RefusalLimits = Required<AuthenticationThrottle>;

/** The result of authenticating a request with one scheme. */
export type SchemeOutcome =
  | { readonly kind: 'actor'; readonly actor: object }
  /** No credentials, or those of another scheme. */
  | { readonly kind: 'none' }
  /** Credentials of this scheme that are invalid, empty or malformed. */
  | { readonly kind: 'wrong' }
  /** A guard that rejected a caller without credentials. */
  | { readonly kind: 'unknown' }
  /** A guard that rejected the request for another reason than the credentials. */
  | { readonly kind: 'refused'; readonly actor: Actor; readonly error: Error };

/** The part of a request that Express and Fastify have in common. */
export interface LibraryRequest {
  readonly headers: IncomingHttpHeaders;
}

/** A compiled authentication method. Throws or rejects if the credentials cannot be verified, as when a service is unavailable. */
export interface AuthenticationScheme {
  /** The location of its credentials; strategies with the same location are tried in turn. Undefined for guards without one. */
  readonly name: string | undefined;
  /** For guards: `one` that authenticates, or `all` guards of a model, which run for every caller. */
  readonly guards?: 'one' | 'all';
  /** Whether it reads nothing but the request that it is given, so that it can check the request without its credentials. */
  readonly readsRequestAlone?: boolean;
  /** Validates what is only known once the application has started; undefined if valid. */
  readonly problem?: () => DeclarationProblem | undefined;
  /** The value of `WWW-Authenticate`; undefined if the scheme has no challenge. */
  readonly challenge: string | undefined;
  /** The error message for invalid credentials of this scheme. */
  readonly rejection: string | ((request: LibraryRequest) => string);
  /** The unverified credentials in the request, with their user name if they have one; undefined without any. */
  presented(request: LibraryRequest): { readonly username: string | undefined } | undefined;
  /** Authenticates a request; `context` is the `ExecutionContext` that is passed to Nest guards. */
  authenticate(request: LibraryRequest, context: unknown): SchemeOutcome | Promise<SchemeOutcome>;
}
