import type { Json } from '../errors/rest-exception.js';

/**
 * How rows are counted, always within the caller's grants. `estimated` is exact up to 10,000 rows; behind them it is what the
 * database expects, and 10,000 (as many or more) where that could tell of rows that the caller may not see.
 */
export type CountKind = 'exact' | 'estimated';

export interface CountResult {
  readonly rows: number;
  /** False for an estimate. */
  readonly exact: boolean;
}

/** A place between two rows of a list, named by one of them. */
export interface CursorPosition {
  /** The row's values of the list's order, as the database gave them. They may be of hidden columns: they never leave unsealed. */
  readonly values: readonly unknown[];
  /** The page ends there; else it begins there. */
  readonly backward: boolean;
  /** The page holds that row too. */
  readonly inclusive: boolean;
}

/** Which rows one answer holds: `limit` of them at most. */
export type PageWindow =
  | { readonly kind: 'offset'; readonly limit: number; readonly offset: number }
  /** The last page where all have `limit` rows; counted first, and 404 where it would begin behind `maxOffset`. */
  | { readonly kind: 'last'; readonly limit: number; readonly maxOffset: number }
  /** Without a position, the first page. */
  | { readonly kind: 'cursor'; readonly limit: number; readonly position: CursorPosition | undefined };

export interface PageRequest {
  readonly window: PageWindow;
  /** Left out: nothing is counted. */
  readonly count?: CountKind | undefined;
}

export interface PageQuery {
  /** Query parameters, decoded; of a repeated one, the last value. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Names the list and its order, in which alone a cursor means something. */
  readonly place: string;
}

/** The absolute URL of this list with these parameters changed; undefined leaves one out. All others stay. */
export type PageLink = (changes: Readonly<Record<string, string | undefined>>) => string;

export interface PageContext extends PageQuery {
  readonly link: PageLink;
}

/** A page that was read. */
export interface Page {
  /** Rows that it holds. */
  readonly size: number;
  readonly limit: number;
  /** Rows before it; undefined where a cursor was asked for. */
  readonly offset: number | undefined;
  /** Whether rows are behind it. */
  readonly more: boolean;
  readonly count: CountResult | undefined;
  /** For a cursor: where the page before it ends, and the page behind it begins. */
  readonly before: CursorPosition | undefined;
  readonly after: CursorPosition | undefined;
}

/** What is told of a page. */
export interface PageResponse {
  readonly headers?: Readonly<Record<string, string>>;
  /** The body is an object of these members, and the rows behind them by the name that `rows` says. Left out: the plain array of rows. */
  readonly envelope?: { readonly members: Readonly<Record<string, Json>>; readonly rows: string };
}

/** JSON Schema, as OpenAPI 3.1 has it. */
export type PageSchema = Readonly<Record<string, unknown>>;

/** A parameter, or a header. */
export interface DescribedValue {
  readonly description: string;
  readonly schema: PageSchema;
}

/** What the OpenAPI document tells of a pagination. */
export interface PaginationDescription {
  readonly parameters: Readonly<Record<string, DescribedValue>>;
  readonly headers?: Readonly<Record<string, DescribedValue>>;
  /** As of `PageResponse`: members by name, those that need not be there under `optional`. */
  readonly envelope?: {
    readonly members: Readonly<Record<string, PageSchema>>;
    readonly optional: readonly string[];
    readonly rows: string;
  };
  /** A page that there is not is 404. */
  readonly missing: boolean;
}

/** What is wrong with an option of a pagination. */
export interface PaginationProblem {
  readonly option: string;
  readonly what: string;
  readonly repair: string;
}

/**
 * Cuts the lists of a model into pages. Given as `pagination`; the standard ones are `LimitOffsetPagination`,
 * `PageNumberPagination` and `CursorPagination`. It is one object for all requests, and keeps nothing of any.
 *
 * ```ts
 * export class FirstRows implements Pagination {
 *   parameters() { return ['first']; }
 *   page({ parameters }: PageQuery): PageRequest {
 *     return { window: { kind: 'offset', limit: parameters.get('first') === 'few' ? 3 : 10, offset: 0 } };
 *   }
 *   present(page: Page): PageResponse { return { headers: { 'X-More': String(page.more) } }; }
 * }
 * ```
 */
export interface Pagination {
  /** Rows of a page for which the client names no number. Where it is said, the statements of these pages alone are kept: clients may choose among many. */
  readonly pageSize?: number;
  /** The query parameters that it reads. A field of such a name is filtered by `page__exact`. */
  parameters(): readonly string[];
  /** Throws `InvalidInput` for a parameter that does not fit, and `InvalidPage` for a page that there cannot be. */
  page(question: PageQuery): PageRequest;
  /** Throws `InvalidPage` for a page that there is not. */
  present(page: Page, context: PageContext): PageResponse;
  /** For the OpenAPI document. Left out: parameters that are texts, and lists of any shape. */
  describe?(): PaginationDescription;
  /** Asked once, at boot: the application does not start with any. */
  problems?(): readonly PaginationProblem[];
}
