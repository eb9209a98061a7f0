import type {
  PaginationParameters,
  RouteDescription,
} from '../../../src/core/contracts/route-description.js';
import { DESCRIPTION_TYPE, JSON_TYPE } from './client.js';
import type { Client } from './client.js';
import { parseLinkHeader, readTotal } from './page.js';
import { MOST_ROWS, readBody } from './read-rows.js';
import { parametersOf, withParameters } from './urls.js';

/** The number of rows of a list. */
export interface Count {
  readonly total: number;
  readonly kind: 'exact' | 'at-least' | 'about';
  /** The URL of the last page, as the server sends it. */
  readonly last?: string | undefined;
}

interface ListToCount {
  readonly pagination: PaginationParameters | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Whether the server counts the rows of this URL with each page. */
export function isCounted(url: string, pagination: PaginationParameters | undefined): boolean {
  const chosen = chosenCount(url, pagination);
  return chosen === undefined ? pagination?.counts !== undefined : chosen !== 'none';
}

/** Whether the URL asks for an exact count. */
export function isCountedExactly(url: string, pagination: PaginationParameters | undefined): boolean {
  return chosenCount(url, pagination) === 'exact';
}

/**
 * Counts the rows of a list with pages: exactly if its URL asks for that, otherwise exactly up to the number in the description.
 * Undefined if the list has no count. Rejects if the server cannot be reached, or the request is aborted.
 */
export async function countList(
  client: Client,
  url: string,
  { pagination, signal }: ListToCount,
): Promise<Count | undefined> {
  if (!pagination) return undefined;
  const { count, counts, count_up_to: upTo, position, size, rows } = pagination;
  const isExact = isCountedExactly(url, pagination);
  const asked = withParameters(url, {
    ...(position === undefined ? {} : { [position]: undefined }),
    // In headers, the last page depends on the size.
    ...(size === undefined || rows === undefined ? {} : { [size]: '1' }),
    ...(count === undefined || counts !== undefined || isExact ? {} : { [count]: 'estimated' }),
  });
  const prefer = isExact ? undefined : 'count=estimated';
  const { response } = await client.get(asked, { accept: JSON_TYPE, signal, prefer });
  if (!response.ok) return undefined;
  const { value } = await readBody(response, MOST_ROWS);
  const total = readTotal(value, response.headers);
  return total === undefined
    ? undefined
    : {
        total,
        kind: isExact ? 'exact' : kindOf(total, upTo),
        last: parseLinkHeader(response.headers.get('link') ?? '').get('last'),
      };
}

/** Of an estimated count: below the number up to which it is exact, at it, or above it. */
function kindOf(total: number, upTo: number | undefined): Count['kind'] {
  if (upTo === undefined || total < upTo) return 'exact';
  return total === upTo ? 'at-least' : 'about';
}

function chosenCount(url: string, pagination: PaginationParameters | undefined): string | undefined {
  return pagination?.count === undefined ? undefined : parametersOf(url).get(pagination.count) || undefined;
}

/** The number of rows of a list, as a text: `1000+` for at least so many, `?` if it is unknown. */
export async function countRows(client: Client, url: string): Promise<string> {
  const described = await client.get(url, { accept: DESCRIPTION_TYPE });
  const { pagination } = (await described.response.json()) as RouteDescription;
  if (pagination) {
    const count = await countList(client, url, { pagination });
    return count ? countText(count) : '?';
  }
  const { response } = await client.get(url, { accept: JSON_TYPE });
  if (!response.ok) return '?';
  const { value, cut } = await readBody(response, MOST_ROWS);
  if (Array.isArray(value)) return cut ? `${value.length}+` : String(value.length);
  const total = readTotal(value, response.headers);
  return total === undefined ? '?' : String(total);
}

function countText({ total, kind }: Count): string {
  switch (kind) {
    case 'exact':
      return String(total);
    case 'at-least':
      return `${total}+`;
    case 'about':
      return `≈ ${total}`;
    default:
      return kind satisfies never;
  }
}
