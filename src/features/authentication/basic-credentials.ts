import { isUtf8 } from 'node:buffer';

/** User name and password of HTTP Basic authentication. */
export interface BasicCredentials {
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
