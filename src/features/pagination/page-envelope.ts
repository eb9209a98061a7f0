import type {
  CountKind,
  CountResult,
  Page,
  PageResponse,
  PageSchema,
  PaginationDescription,
} from '../../core/contracts/pagination.js';

/** Absolute URLs of the adjacent pages. */
export interface PageLinks {
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /** Only for the style `headers`. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

/** What a response says of the number of all rows. */
interface Counting {
  /** The default count, without a parameter. */
  readonly count: CountKind | false;
  readonly countParameter: string | false;
  /** Whether the response says what the count is. */
  readonly countKind: boolean;
  /** Whether the position of a page is known. DRF's envelope of such pages always has a `count`. */
  readonly hasOffsets: boolean;
}

/** The values of the member `count_kind`. */
const COUNT_KINDS = ['exact', 'at_least', 'estimated'] as const;

function kindOf({ exact, atLeast }: CountResult): (typeof COUNT_KINDS)[number] {
  if (exact) return 'exact';
  return atLeast ? 'at_least' : 'estimated';
}

/** DRF's pagination envelope. Without a count, `count` is absent, or null where DRF has one. */
export function createEnvelope(
  { next, previous }: PageLinks,
  { count }: Page,
  { countKind, hasOffsets }: Counting,
): PageResponse {
  const counted = {
    count: count?.rows ?? null,
    ...(countKind && { count_kind: count ? kindOf(count) : null }),
  };
  return {
    envelope: {
      members: { ...(count || hasOffsets ? counted : {}), next: next ?? null, previous: previous ?? null },
      rows: 'results',
    },
  };
}

const LINK: PageSchema = { type: ['string', 'null'], format: 'uri' };

/** The schema of `createEnvelope`. */
export function describeEnvelope({
  count,
  countParameter,
  countKind,
  hasOffsets,
}: Counting): NonNullable<PaginationDescription['envelope']> {
  const chosen = countParameter !== false;
  const mayBeNull = hasOffsets && (chosen || count === false);
  const counted: Readonly<Record<string, PageSchema>> = {
    count: { type: mayBeNull ? ['integer', 'null'] : 'integer' },
    ...(countKind && { count_kind: describeCountKind(mayBeNull) }),
  };
  const mayCount = hasOffsets || chosen || count !== false;
  return {
    members: { ...(mayCount ? counted : {}), next: LINK, previous: LINK },
    optional: !hasOffsets && chosen ? Object.keys(counted) : [],
    rows: 'results',
  };
}

function describeCountKind(mayBeNull: boolean): PageSchema {
  return mayBeNull
    ? { type: ['string', 'null'], enum: [...COUNT_KINDS, null] }
    : { type: 'string', enum: COUNT_KINDS };
}

/** `Link` (RFC 8288), `X-Total-Count` if rows are counted, `Content-Range` if the position is known. */
export function createPageHeaders(
  { first, previous, next, last }: PageLinks,
  page: Page,
  { countKind }: Counting,
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

/** The schemas of `createPageHeaders`. */
export function describePageHeaders({
  count,
  countParameter,
  countKind,
  hasOffsets,
}: Counting): NonNullable<PaginationDescription['headers']> {
  const mayCount = count !== false || countParameter !== false;
  return {
    Link: {
      description: 'Links to other pages (RFC 8288): `first`, `prev`, `next`, `last`.',
      schema: { type: 'string' },
    },
    ...(mayCount && {
      'X-Total-Count': {
        description: 'The total number of rows.',
        schema: { type: 'integer', minimum: 0 },
      },
    }),
    ...(mayCount &&
      countKind && {
        'X-Total-Count-Kind': {
          description: 'What the total number is: `at_least` if counting has stopped.',
          schema: describeCountKind(false),
        },
      }),
    ...(hasOffsets && {
      'Content-Range': {
        description: 'The range of the rows: `items 0-24/319`.',
        schema: { type: 'string' },
      },
    }),
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
