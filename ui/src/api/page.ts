import type { PaginationParameters } from '../../../src/core/contracts/route-description.js';
import type { Links } from './links.js';

export type Row = Readonly<Record<string, unknown>>;

/** A list as it was read: its rows, and links to other pages. */
export interface ListPage {
  readonly rows: readonly Row[];
  readonly total: number | undefined;
  readonly first?: string | undefined;
  readonly previous?: string | undefined;
  readonly next?: string | undefined;
  readonly last?: string | undefined;
}

interface ReceivedList {
  readonly value: unknown;
  readonly headers: Headers;
  readonly pagination: PaginationParameters | undefined;
}

/** Reads the rows and links of an array or an envelope. */
export function toListPage({ value, headers, pagination }: ReceivedList, links: Links): ListPage {
  if (Array.isArray(value)) {
    const related = parseLinkHeader(headers.get('link') ?? '');
    const local = (relation: string): string | undefined => {
      const url = related.get(relation);
      return url === undefined ? undefined : links.toLocal(url);
    };
    return {
      rows: value as readonly Row[],
      total: readTotal(value, headers),
      first: local('first'),
      previous: local('prev'),
      next: local('next'),
      last: local('last'),
    };
  }
  const envelope = (value ?? {}) as Readonly<Record<string, unknown>>;
  const rows = envelope[pagination?.rows ?? 'results'];
  const local = (name: string): string | undefined => {
    const url = envelope[name];
    return typeof url === 'string' ? links.toLocal(url) : undefined;
  };
  return {
    rows: Array.isArray(rows) ? (rows as readonly Row[]) : [],
    total: readTotal(value, headers),
    previous: local('previous'),
    next: local('next'),
  };
}

/** The number of all rows, in a header or in the envelope. */
export function readTotal(value: unknown, headers: Headers): number | undefined {
  return toCount(
    Array.isArray(value)
      ? headers.get('x-total-count')
      : (value as { readonly count?: unknown } | null | undefined)?.count,
  );
}

function toCount(given: unknown): number | undefined {
  if (given === null || given === undefined || given === '') return undefined;
  const count = Number(given);
  return Number.isSafeInteger(count) ? count : undefined;
}

/** The URLs of a `Link` header by their relation (RFC 8288). */
export function parseLinkHeader(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, url = '', relation = ''] of header.matchAll(/<([^>]*)>\s*;\s*rel="?([\w-]+)"?/g))
    found.set(relation, url);
  return found;
}
