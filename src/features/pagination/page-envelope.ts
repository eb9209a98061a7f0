import type { CountResult, Page, PageResponse } from '../../core/contracts/pagination.js';

/** Absolute URLs of the pages around one. */
export interface PageLinks {
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /** For the style of headers alone. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

/** DRF's object around the rows. A page without a count has none there, or says null where DRF has one. */
export function envelopeOf(
  { next, previous }: PageLinks,
  count: CountResult | undefined,
  always: boolean,
): PageResponse {
  const counted: Readonly<Record<string, number | null>> =
    count || always ? { count: count?.rows ?? null } : {};
  return {
    envelope: { members: { ...counted, next: next ?? null, previous: previous ?? null }, rows: 'results' },
  };
}

/** `Link` (RFC 8288), `X-Total-Count` where there is a count, `Content-Range` where it is known which rows these are. */
export function headersOf({ first, previous, next, last }: PageLinks, page: Page): PageResponse {
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
      ...(range === undefined ? {} : { 'Content-Range': range }),
    },
  };
}

/** The host is the client's own text: what no URL holds would end the link, and begin another. */
function inBrackets(url: string): string {
  return url.replace(/[^\x21-\x7e]|[<>"\\^`{|}]/g, encodeURIComponent);
}

/** `items 0-24/319`; an asterisk for what is not known, or is no row. */
function rangeOf({ offset, size, count }: Page): string | undefined {
  if (offset === undefined) return undefined;
  const all = count?.exact === true ? String(count.rows) : '*';
  if (size > 0) return `items ${offset}-${offset + size - 1}/${all}`;
  return all === '*' ? undefined : `items */${all}`;
}
