import { isUtf8 } from 'node:buffer';

/** What a caller says of itself by HTTP Basic. */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

const TOKEN = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i;
/** RFC 7617 has none in a name or a password. */
const CONTROL = /[\0-\x1f\x7f]/;

/**
 * RFC 7617: the name ends at the first colon, and all behind it is the password. Undefined for credentials that are no
 * base64, no UTF-8, hold control characters, or have no name or no password.
 */
export function parseBasicCredentials(authorization: string | undefined): BasicCredentials | undefined {
  const bytes = Buffer.from(TOKEN.exec(authorization?.trim() ?? '')?.[1] ?? '', 'base64');
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1 || colon === text.length - 1 || CONTROL.test(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
