import { MethodNotAllowed, NotFound } from '../../core/errors/http-exceptions.js';
import { FORMAT_PARAMETER, JSON_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import type { RegisteredApi } from '../api-registration.js';
import type { PathLocation } from '../route-matcher.js';
import type { ServerExchange } from '../server-exchange.js';
import type { BrowsablePage, PageLocation } from './browsable-page.js';
import { DESCRIPTION_MEDIA_TYPE } from '../../core/contracts/route-description.js';
import { formatOf, outranksTypes } from '../../features/rendering/negotiate-format.stage.js';
import type { HttpExchange } from '../../request/http-exchange.js';

/** The same for every path, so that the page does not disclose which of them exist. */
const PAGE_ALLOW = 'GET, HEAD, OPTIONS';
/** Never stored without revalidation, and without a tag: a 304 would show the JSON of the same URL. */
const PAGE_CACHE = 'private, no-cache';
const ASSET_CACHE = 'public, max-age=31536000, immutable';

/**
 * Sends the browsable page, if its prefix has one and the request is a browser's navigation. Returns false if the request
 * has to be handled as any other.
 */
export function servePage(exchange: ServerExchange, location: PathLocation): boolean {
  const response = createPage(exchange, location);
  if (!response) return false;
  exchange.setHeader('Cache-Control', PAGE_CACHE);
  void exchange.send(response, PAGE_ALLOW);
  return true;
}

/**
 * Caches must tell apart what the browsable page makes depend on headers: other destinations of the same request, such as a
 * frame, get no page, and a page of a list is counted as its client prefers.
 */
export function varyByPage(exchange: ServerExchange, location: PathLocation): void {
  if (!hasPage(location)) return;
  const names = [
    ...(namesHtml(exchange.header('accept')) ? ['Sec-Fetch-Dest'] : []),
    ...(isPaginatedList(location) ? ['Prefer'] : []),
  ];
  if (names.length > 0) exchange.setHeader('Vary', names.join(', '));
}

function isPaginatedList(location: PathLocation): boolean {
  if (location.kind !== 'route') return false;
  const { resource, operations } = location.match.route;
  return resource.pagination !== undefined && operations.get('GET') === 'list';
}

function hasPage(location: PathLocation): boolean {
  if ('registeredApi' in location) return location.registeredApi.page !== undefined;
  return location.kind === 'index' && location.prefixes.some(({ page }) => page !== undefined);
}

/**
 * Replaces the challenge of HTTP Basic for a request of the page that is sent with cookies, because browsers open a dialog
 * of their own for such a challenge.
 */
export function withoutDialog(
  exchange: ServerExchange,
  response: RestResponse,
  page: BrowsablePage | undefined,
): RestResponse {
  const challenge = response.headers?.['WWW-Authenticate'];
  if (page?.sendsCookies !== true || challenge === undefined) return response;
  if (exchange.header('x-requested-with') !== 'XMLHttpRequest') return response;
  return {
    ...response,
    headers: {
      ...response.headers,
      'WWW-Authenticate': challenge.replace(/(^|, )Basic(?= |,|$)/gi, '$1xBasic'),
    },
  };
}

/**
 * A file of the page.
 * @throws NotFound for any other name, and MethodNotAllowed.
 */
export function respondWithAsset(
  exchange: ServerExchange,
  { registeredApi: { page }, name }: Extract<PathLocation, { kind: 'asset' }>,
): RestResponse {
  const asset = page?.findAsset(name);
  if (!asset) throw new NotFound();
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw new MethodNotAllowed(exchange.method);
  exchange.setHeader('Cache-Control', ASSET_CACHE);
  return asset;
}

function createPage(exchange: ServerExchange, location: PathLocation): RestResponse | undefined {
  switch (location.kind) {
    case 'route': {
      const { page } = location.registeredApi;
      const { resource, actions } = location.match.route;
      const action = actions.get('GET');
      if (!page || (action && action.operation === undefined)) return undefined;
      if (!acceptsPage(exchange, parameterName(FORMAT_PARAMETER, resource))) return undefined;
      return page.createShell(locatePage(location.base, exchange));
    }
    case 'unknown': {
      const { page } = location.registeredApi;
      return page && acceptsPage(exchange)
        ? page.createShell(locatePage(location.base, exchange))
        : undefined;
    }
    case 'index':
      return createIndexPage(exchange, location);
    case 'asset':
    case 'elsewhere':
      return undefined;
    default:
      return location satisfies never;
  }
}

/** The page of an index of several prefixes has the assets of the first one that is browsable. */
function createIndexPage(
  exchange: ServerExchange,
  { prefixes, base }: Extract<PathLocation, { kind: 'index' }>,
): RestResponse | undefined {
  const browsable = prefixes.find((each): each is BrowsableApi => each.page !== undefined);
  if (!browsable || !acceptsPage(exchange)) return undefined;
  const { prefix } = browsable.api;
  const { mountedAt, path } = exchange;
  const full = mountedAt + path;
  const root = prefix === '' ? base : `${base}/${prefix}`;
  const isOwn = full === root || full === `${root}/`;
  return browsable.page.createShell({
    // From the root of its own prefix, also where a proxy has removed the beginning of the path.
    assets: isOwn ? relativeUrl(root, exchange) : `${relativeUrl(base, exchange)}${prefix}/`,
    index: full.endsWith('/') ? './' : `${full.slice(full.lastIndexOf('/') + 1)}/`,
    root: full.endsWith('/') ? full : `${full}/`,
  });
}

function locatePage(base: string, exchange: ServerExchange): PageLocation {
  const prefix = relativeUrl(base, exchange);
  return { assets: prefix, index: prefix, root: `${base}/` };
}

type BrowsableApi = RegisteredApi & { readonly page: object };

/**
 * The URL of a path above the requested one, relative to the requested one, with a slash at its end. It is also right
 * behind a proxy that removes or adds the beginning of paths.
 */
function relativeUrl(above: string, { mountedAt, path }: ServerExchange): string {
  const below = (mountedAt + path).slice(above.length);
  if (below === '') return `${above.slice(above.lastIndexOf('/') + 1)}/`;
  return '../'.repeat(below.split('/').length - 2) || './';
}

const HTML_MEDIA_TYPE = 'text/html';
const OTHER_TYPES = [JSON_MEDIA_TYPE, DESCRIPTION_MEDIA_TYPE];

/** Whether an `Accept` header names HTML, so that a request may get the page. */
function namesHtml(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes(HTML_MEDIA_TYPE) === true;
}

/**
 * Whether a request is a navigation of a browser: GET or HEAD, with a strictly higher quality for HTML than for JSON and for
 * descriptions, and no format by name. `Sec-Fetch-Dest`, where sent, excludes frames, images and `fetch`.
 */
function acceptsPage(exchange: HttpExchange, formatParameter = FORMAT_PARAMETER): boolean {
  const { method, query } = exchange;
  if (method !== 'GET' && method !== 'HEAD') return false;
  const accept = exchange.header('accept');
  if (accept === undefined || !namesHtml(accept) || !outranksTypes(HTML_MEDIA_TYPE, OTHER_TYPES, accept))
    return false;
  const destination = exchange.header('sec-fetch-dest');
  return (
    (destination === undefined || destination === 'document') &&
    formatOf(query, formatParameter) === undefined
  );
}
