import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import { JSON_MEDIA_TYPE } from '../../core/media-type.js';
import { formatOf, qualityOf } from '../../features/rendering/negotiate-format.stage.js';
import type { HttpExchange } from '../../request/http-exchange.js';

/**
 * Whether a request is a navigation of a browser: GET or HEAD, with a strictly higher quality for HTML than for JSON, and
 * no format by name. `Sec-Fetch-Dest`, where sent, excludes frames, images and `fetch`.
 */
export function acceptsPage(exchange: HttpExchange, formatParameter = FORMAT_PARAMETER): boolean {
  const { method, query } = exchange;
  if (method !== 'GET' && method !== 'HEAD') return false;
  const accept = exchange.header('accept');
  if (accept?.includes('text/html') !== true) return false;
  if (qualityOf('text/html', accept) <= qualityOf(JSON_MEDIA_TYPE, accept)) return false;
  const destination = exchange.header('sec-fetch-dest');
  return (
    (destination === undefined || destination === 'document') &&
    formatOf(query, formatParameter) === undefined
  );
}
