import type { AuthenticationScheme, LibraryRequest } from '../../core/contracts/authentication.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { HttpExchange } from '../../request/http-exchange.js';
import { authorizationScheme } from './credentials.js';
import { runScheme } from './run-scheme.js';

/** What a browser says of the origin of a request. */
export type RequestOrigin = Pick<HttpExchange, 'method' | 'protocol' | 'host' | 'header'>;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Where credentials are that browsers keep, and send by themselves. Without an `Authorization` it is the empty scheme. */
const KEPT_BY_BROWSERS: ReadonlySet<string> = new Set([
  '',
  'basic',
  'digest',
  'negotiate',
  'ntlm',
  'header cookie',
]);

const ANY_AUTHORIZATION = 'header authorization';

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

/** A request whose caller is known, and what is known of the caller. */
interface IdentifiedRequest {
  readonly exchange: RequestOrigin & Pick<HttpExchange, 'request' | 'hasClientCertificate'>;
  /** The scheme that has authenticated the caller; undefined for an actor of the application. */
  readonly scheme: AuthenticationScheme | undefined;
  /** The time limit in milliseconds for a check of the request without its credentials. */
  readonly timeout: number;
}

/**
 * Whether only a script that knows the credentials can have sent them: a token in `Authorization`, or a header of their own.
 * Browsers send cookies, client certificates and the credentials of their own login dialog for pages of any origin. Only
 * the credentials of the scheme that has authenticated the caller count, because pages can add others: where it is not known
 * what they are, a request with a cookie or a certificate is not sent by a script.
 */
export function isSentByScript({ exchange, scheme, timeout }: IdentifiedRequest): MaybePromise<boolean> {
  const place = scheme?.name ?? ANY_AUTHORIZATION;
  const sent = place === ANY_AUTHORIZATION ? authorizationScheme(exchange.header('authorization')) : place;
  if (KEPT_BY_BROWSERS.has(sent)) return false;
  const isKnownToBrowser = exchange.header('cookie') !== undefined || exchange.hasClientCertificate();
  if (scheme?.name === undefined) return !isKnownToBrowser;
  if (scheme.presented(exchange.request) === undefined) return false;
  if (!isKnownToBrowser || scheme.readsRequestAlone !== true) return true;
  return isUnknownWithout(exchange.request, scheme, timeout);
}

/** Whether a request may be known to a scheme by what browsers send. */
export function mayKnowBrowsers({ name, readsRequestAlone }: AuthenticationScheme): boolean {
  return (
    name === undefined ||
    name === ANY_AUTHORIZATION ||
    readsRequestAlone === true ||
    KEPT_BY_BROWSERS.has(name)
  );
}

/** Whether a scheme does not know the caller by anything but the credentials at its place, such as a token in a cookie. */
async function isUnknownWithout(
  request: LibraryRequest,
  scheme: AuthenticationScheme,
  timeout: number,
): Promise<boolean> {
  const place =
    scheme.name?.startsWith('header ') === true ? scheme.name.slice('header '.length) : 'authorization';
  const headers = { ...request.headers, [place]: undefined };
  const stripped = Object.create(request, { headers: { value: headers } }) as LibraryRequest;
  try {
    const { kind } = await runScheme(scheme, { exchange: { request: stripped } }, timeout);
    return kind === 'none' || kind === 'wrong';
  } catch {
    return false;
  }
}
