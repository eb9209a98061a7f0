import { isUtf8 } from 'node:buffer';
import { createHash, timingSafeEqual as equalBuffers } from 'node:crypto';
import type {
  Credentials,
  LibraryRequest,
  AuthenticationScheme,
} from '../../core/contracts/authentication.js';

/** Compares two secrets in a time that depends neither on their difference nor on their length. */
export function timingSafeEqual(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return equalBuffers(digest(given), digest(expected));
}

/** User name and password of HTTP Basic authentication. */
interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

const BASIC_CREDENTIALS = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i;
/** Control characters, which RFC 7617 excludes from user names and passwords. */
const CONTROL = /[\0-\x1f\x7f]/;

/**
 * Parses RFC 7617 credentials: the name ends at the first colon, the rest is the password. Undefined for credentials that
 * are not valid base64 or UTF-8, contain control characters, or lack a name or a password.
 */
export function parseBasicCredentials(authorization: string | undefined): BasicCredentials | undefined {
  const bytes = Buffer.from(BASIC_CREDENTIALS.exec(authorization?.trim() ?? '')?.[1] ?? '', 'base64');
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1 || colon === text.length - 1 || CONTROL.test(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
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

/** Realm in `WWW-Authenticate` for schemes without one of their own. */
const REALM = 'api';

/** Scheme names are case-insensitive (RFC 9110, 11.1). */
export function isBasic(credentials: Credentials): boolean {
  return 'scheme' in credentials && credentials.scheme.toLowerCase() === 'basic';
}

/** The scheme of an `Authorization` header, in lower case; empty without one. */
export function authorizationScheme(authorization: string | undefined): string {
  return (authorization && /\S+/.exec(authorization)?.[0].toLowerCase()) ?? '';
}

/** True if the request has credentials of this kind. */
export function isPresented({ headers }: LibraryRequest, credentials: Credentials): boolean {
  if ('header' in credentials) return headers[credentials.header.toLowerCase()] !== undefined;
  return authorizationScheme(headers.authorization) === credentials.scheme.toLowerCase();
}

/** The name of the scheme or of the header that carries the credentials. */
export function credentialsSource(credentials: Credentials): string {
  return ('header' in credentials ? `header ${credentials.header}` : credentials.scheme).toLowerCase();
}

/** The value of `WWW-Authenticate`; undefined for a custom header, unless a challenge is configured. */
export function challengeFor(credentials: Credentials): string | undefined {
  const challenge = credentials.challenge ?? ('scheme' in credentials ? credentials.scheme : undefined);
  return challenge === undefined ? undefined : `${challenge} realm="${REALM}"`;
}

/** The error message for wrong credentials. */
export function wrongCredentialsMessage(credentials: Credentials): string {
  return isBasic(credentials) ? 'Invalid username/password.' : 'Invalid token.';
}
