import { DESCRIPTION_MEDIA_TYPE } from '../../core/contracts/route-description.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import { JSON_MEDIA_TYPE } from '../../core/media-type.js';
import { formatOf, outranksTypes } from '../../features/rendering/negotiate-format.stage.js';
import type { HttpExchange } from '../../request/http-exchange.js';

const HTML_MEDIA_TYPE = 'text/html';
const OTHER_TYPES = [JSON_MEDIA_TYPE, DESCRIPTION_MEDIA_TYPE];

/** Whether an `Accept` header names HTML, so that a request may get the page. */
export function namesHtml(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes(HTML_MEDIA_TYPE) === true;
}

/**
 * Whether a request is a navigation of a browser: GET or HEAD, with a strictly higher quality for HTML than for JSON and for
 * descriptions, and no format by name. `Sec-Fetch-Dest`, where sent, excludes frames, images and `fetch`.
 */
export function acceptsPage(exchange: HttpExchange, formatParameter = FORMAT_PARAMETER): boolean {
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
