import type { AuthenticationScheme } from '../../core/contracts/authentication.js';
import type { HttpExchange } from '../../request/http-exchange.js';
import { authorizationScheme } from './presented-credentials.js';

/** What a browser says of the origin of a request. */
export type RequestOrigin = Pick<HttpExchange, 'method' | 'protocol' | 'host' | 'header'>;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Schemes of `Authorization` whose credentials browsers keep, and send by themselves. */
const KEPT_BY_BROWSERS: ReadonlySet<string> = new Set(['basic', 'digest', 'negotiate', 'ntlm']);

/**
 * Whether a browser sends an unsafe request for a page of another origin: cross-site request forgery, if the browser
 * authenticates its user by itself, unless the origin is trusted. Browsers that do not send `Sec-Fetch-Site` are recognized
 * by their `Origin`; a request with neither header is not from a browser.
 */
export function isCrossSiteWrite(request: RequestOrigin, trustedOrigins: ReadonlySet<string>): boolean {
  if (SAFE_METHODS.has(request.method)) return false;
  const origin = request.header('origin');
  if (origin !== undefined && trustedOrigins.has(origin)) return false;
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && origin !== `${request.protocol}://${request.host}`;
}

/**
 * Whether only a script that knows the credentials can have sent them: a token in `Authorization`, or a header of their own.
 * Browsers send cookies, and the credentials of their own login dialog, for pages of any origin.
 * @param scheme the scheme that has authenticated the caller; undefined for an actor of the application.
 */
export function isSentByScript(
  { exchange }: { readonly exchange: RequestOrigin & Pick<HttpExchange, 'request'> },
  scheme: AuthenticationScheme | undefined,
): boolean {
  const name = scheme?.name;
  if (name === undefined || name === 'header authorization') {
    const sent = authorizationScheme(exchange.header('authorization'));
    return sent !== '' && !KEPT_BY_BROWSERS.has(sent);
  }
  const isKept = name === 'header cookie' || KEPT_BY_BROWSERS.has(name);
  return !isKept && scheme?.presented(exchange.request) !== undefined;
}
