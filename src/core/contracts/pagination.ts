import type { Json } from '../errors/rest-exception.js';

/**
 * The method by which rows are counted, always within the caller's grants. `estimated` is exact up to `countUpTo` rows (10,000);
 * above that it is the database's estimate, or `countUpTo` (meaning at least that many) if the estimate could disclose rows
 * that the caller may not see.
 */
export type CountKind = 'exact' | 'estimated';

/** The number of rows of a list. */
export interface CountResult {
  readonly rows: number;
  /** False for an estimate, and for a count that has stopped. */
  readonly exact: boolean;
  /** True for a count that has stopped: there are at least so many rows. */
  readonly atLeast: boolean;
}

/** A position between two rows of a list, given by the order values of one of them. */
export interface CursorPosition {
  /** The row's values of the order columns, as the database returned them. They may be of hidden columns, so they are only sent encrypted. */
  readonly values: readonly unknown[];
  /** True if the page ends at this position; else it begins there. */
  readonly backward: boolean;
  /** True if the page includes that row. */
  readonly inclusive: boolean;
}

/** The window of rows in one response: at most `limit` rows. Only an offset may have a limit of 0, an empty page. */
export type PageWindow =
  | { readonly kind: 'offset'; readonly limit: number; readonly offset: number }
  /** The last page if all have `limit` rows. The rows are counted first, and it is 404 if it would begin after `maxOffset`. */
  | { readonly kind: 'last'; readonly limit: number; readonly maxOffset: number }
  /** The page at a position; the first page without one. */
  | { readonly kind: 'cursor'; readonly limit: number; readonly position: CursorPosition | undefined };

/** Which rows of a list a request gets, and how they are counted. */
export interface PageRequest {
  readonly window: PageWindow;
  /** Default: rows are not counted. */
  readonly count?: CountKind | undefined;
  /** The rows up to which `estimated` counts exactly: a whole number above 0. Default: 10,000. */
  readonly countUpTo?: number | undefined;
}

/** What a pagination knows of a request. */
export interface PageQuery {
  /** Decoded query parameters; the last value of a repeated one. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The most expensive count that the client wants, by a header of the browsable page; undefined if it does not say. */
  readonly preferredCount?: CountKind | 'none' | undefined;
  /** Identifies the list and its order: a cursor is valid only there. */
  readonly place: string;
}

/** Returns the absolute URL of this list with these parameters changed; undefined removes one. All others are kept. */
export type PageLink = (changes: Readonly<Record<string, string | undefined>>) => string;

/** The same, and links to other pages. */
export interface PageContext extends PageQuery {
  readonly link: PageLink;
}

/** The metadata of a page that was read. */
export interface Page {
  /** Number of rows in the page. */
  readonly size: number;
  readonly limit: number;
  /** Number of rows before the page; undefined for a cursor. */
  readonly offset: number | undefined;
  /** Whether more rows follow. */
  readonly more: boolean;
  readonly count: CountResult | undefined;
  /** For a cursor: the end of the previous page, and the beginning of the next one. */
  readonly before: CursorPosition | undefined;
  readonly after: CursorPosition | undefined;
}

/** The headers and the envelope of a page's response. */
export interface PageResponse {
  readonly headers?: Readonly<Record<string, string>>;
  /** The members of the body's object, followed by the rows in the member named by `rows`. Default: the plain array of rows. */
  readonly envelope?: { readonly members: Readonly<Record<string, Json>>; readonly rows: string };
}

/** A JSON Schema object of OpenAPI 3.1. */
export type PageSchema = Readonly<Record<string, unknown>>;

/** A parameter or header of the OpenAPI document. */
export interface DescribedValue {
  readonly description: string;
  readonly schema: PageSchema;
}

/** The parameters of a standard pagination by their meaning, for the description of a list (contract 19.1). */
export interface PageParameters {
  readonly kind: 'page-number' | 'limit-offset' | 'cursor';
  /** The parameter that selects the page: its number, its offset or its cursor. */
  readonly position: string;
  /** The parameter with the number of rows; undefined if clients cannot choose it. */
  readonly size: string | undefined;
  /** The parameter by which clients choose whether rows are counted. */
  readonly count: string | undefined;
  readonly pageSize: number;
  readonly maxPageSize: number;
}

/** The description of a pagination in the OpenAPI document. */
export interface PaginationDescription {
  /** Undefined for a pagination of the application's own kind. */
  readonly standard?: PageParameters;
  /** How rows are counted unless the client chooses; undefined if they are not, or if `preferredCount` has no effect. */
  readonly counts?: CountKind | undefined;
  /** The rows up to which an estimated count is exact. Default: 10,000. */
  readonly countUpTo?: number;
  readonly parameters: Readonly<Record<string, DescribedValue>>;
  readonly headers?: Readonly<Record<string, DescribedValue>>;
  /** The envelope of `PageResponse`: members by name; `optional` lists those that may be absent. */
  readonly envelope?: {
    readonly members: Readonly<Record<string, PageSchema>>;
    readonly optional: readonly string[];
    readonly rows: string;
  };
  /** Whether a page that does not exist is 404. */
  readonly missing: boolean;
}

/** An invalid option of a pagination. */
export interface PaginationProblem {
  readonly option: string;
  readonly what: string;
  readonly repair: string;
}

/**
 * Paginates the lists of a model. Given as `pagination`; the standard ones are `LimitOffsetPagination`,
 * `PageNumberPagination` and `CursorPagination`. One instance serves all requests, so it must be stateless.
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
  /** The default page size. If it is set, only statements of pages of this size are cached, because clients may request many sizes. */
  readonly pageSize?: number;
  /** The query parameters that it reads. A field of such a name is filtered with `page__exact`. */
  parameters(): readonly string[];
  /**
   * Parses the parameters.
   * @throws InvalidInput for an invalid parameter
   * @throws InvalidPage for a page that cannot exist
   */
  page(context: PageQuery): PageRequest;
  /** @throws InvalidPage for a page that does not exist */
  present(page: Page, context: PageContext): PageResponse;
  /** Describes it for the OpenAPI document. Default: string parameters, and lists of any shape. */
  describe?(): PaginationDescription;
  /** Validates its options once, at boot: the application does not start with any problem. */
  problems?(): readonly PaginationProblem[];
}
