import type { CountResult, Page, PageResponse } from '../../core/contracts/pagination.js';

/** Absolute URLs of the adjacent pages. */
export interface PageLinks {
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /** Only for the style `headers`. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

interface Counted {
  readonly count: CountResult | undefined;
  /** Whether the response says what the count is. */
  readonly countKind: boolean;
}

/** The values of the member `count_kind`. */
export const COUNT_KINDS = ['exact', 'at_least', 'estimated'] as const;

function kindOf({ exact, atLeast }: CountResult): (typeof COUNT_KINDS)[number] {
  if (exact) return 'exact';
  return atLeast ? 'at_least' : 'estimated';
}

/** DRF's pagination envelope. Without a count, `count` is absent, or null where DRF has one. */
export function createEnvelope(
  { next, previous }: PageLinks,
  { count, countKind }: Counted,
  always: boolean,
): PageResponse {
  const counted = {
    count: count?.rows ?? null,
    ...(countKind && { count_kind: count ? kindOf(count) : null }),
  };
  return {
    envelope: {
      members: { ...(count || always ? counted : {}), next: next ?? null, previous: previous ?? null },
      rows: 'results',
    },
  };
}

/** `Link` (RFC 8288), `X-Total-Count` if rows are counted, `Content-Range` if the position is known. */
export function createPageHeaders(
  { first, previous, next, last }: PageLinks,
  page: Page,
  countKind: boolean,
): PageResponse {
  const links = [
    ['first', first],
    ['prev', previous],
    ['next', next],
    ['last', last],
  ] as const;
  const link = links
    .flatMap(([rel, url]) => (url === undefined ? [] : [`<${inBrackets(url)}>; rel="${rel}"`]))
    .join(', ');
  const range = rangeOf(page);
  return {
    headers: {
      ...(link === '' ? {} : { Link: link }),
      ...(page.count ? { 'X-Total-Count': String(page.count.rows) } : {}),
      ...(page.count && countKind ? { 'X-Total-Count-Kind': kindOf(page.count) } : {}),
      ...(range === undefined ? {} : { 'Content-Range': range }),
    },
  };
}

/** The host comes from the client: characters that are invalid in a URL could end the link and inject another. */
function inBrackets(url: string): string {
  return url.replace(/[^\x21-\x7e]|[<>"\\^`{|}]/g, encodeURIComponent);
}

/** `items 0-24/319`; an asterisk for an unknown total, or for an empty range. */
function rangeOf({ offset, size, count }: Page): string | undefined {
  if (offset === undefined) return undefined;
  const all = count?.exact === true ? String(count.rows) : '*';
  if (size > 0) return `items ${offset}-${offset + size - 1}/${all}`;
  return all === '*' ? undefined : `items */${all}`;
}
