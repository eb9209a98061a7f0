import type { HttpExchange } from '../../request/http-exchange.js';

/** What a browser says of the origin of a request. */
export type RequestOrigin = Pick<HttpExchange, 'method' | 'protocol' | 'host' | 'header'>;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a browser sends an unsafe request for a page of another origin, with cookies and without `Authorization`:
 * cross-site request forgery, unless the origin is trusted. Browsers that do not send `Sec-Fetch-Site` are recognized by
 * their `Origin`; a request with neither header is not from a browser.
 */
export function isCrossSiteWrite(request: RequestOrigin, trustedOrigins: ReadonlySet<string>): boolean {
  if (SAFE_METHODS.has(request.method)) return false;
  if (request.header('cookie') === undefined || request.header('authorization') !== undefined) return false;
  const origin = request.header('origin');
  if (origin !== undefined && trustedOrigins.has(origin)) return false;
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && origin !== `${request.protocol}://${request.host}`;
}
