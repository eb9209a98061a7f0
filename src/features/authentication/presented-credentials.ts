import type { Credentials, LibraryRequest } from '../../core/contracts/authentication.js';

/** Realm in `WWW-Authenticate` for schemes without one of their own. */
export const REALM = 'api';

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
