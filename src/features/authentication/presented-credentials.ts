import type { Credentials, LibraryRequest } from '../../core/contracts/authentication.js';

/** In `WWW-Authenticate`, where a scheme has no realm of its own. */
export const REALM = 'api';

/** Schemes are named without regard to case (RFC 9110, 11.1). */
export function isBasic(credentials: Credentials): boolean {
  return 'scheme' in credentials && credentials.scheme.toLowerCase() === 'basic';
}

/** Whether credentials stand in this place. */
export function isPresented({ headers }: LibraryRequest, credentials: Credentials): boolean {
  if ('header' in credentials) return headers[credentials.header.toLowerCase()] !== undefined;
  return headers.authorization?.trim().split(/\s+/)[0]?.toLowerCase() === credentials.scheme.toLowerCase();
}

/** The name of their place: that of a scheme, or of a header. */
export function placeOf(credentials: Credentials): string {
  return ('header' in credentials ? `header ${credentials.header}` : credentials.scheme).toLowerCase();
}

/** The value of `WWW-Authenticate`; undefined for a header of its own, unless one is named. */
export function challengeFor(credentials: Credentials): string | undefined {
  const challenge = credentials.challenge ?? ('scheme' in credentials ? credentials.scheme : undefined);
  return challenge === undefined ? undefined : `${challenge} realm="${REALM}"`;
}

/** What a caller with wrong credentials is told. */
export function refusalFor(credentials: Credentials): string {
  return isBasic(credentials) ? 'Invalid username/password.' : 'Invalid token.';
}
