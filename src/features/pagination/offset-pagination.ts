import { InvalidInput, InvalidPage } from '../../core/errors/http-exceptions.js';
import { MAX_OFFSET, MAX_PAGE_SIZE } from '../../core/schema/limits.js';
import type {
  Page,
  PageContext,
  PageQuery,
  PageRequest,
  PageResponse,
  PaginationDescription,
  PaginationProblem,
} from '../../core/contracts/pagination.js';
import { createEnvelope, createPageHeaders } from './page-envelope.js';
import { PAGE_OPTIONS, PageSettings, StandardPagination } from './standard-pagination.js';
import { parseDigits, parseIntegerParameter } from '../../request/parse/parse-integer.js';
import type { GivenOptions, PageOptions } from './standard-pagination.js';

/** A pagination whose pages are at offsets: page *n* is at the offset (*n* − 1) · `limit`. */
abstract class OffsetPagination extends StandardPagination {
  protected readonly maxOffset: number;

  constructor(settings: PageSettings, given: GivenOptions, maxOffset: number | undefined) {
    super(settings, given);
    this.maxOffset = maxOffset ?? MAX_OFFSET;
  }

  /** The link to the page at this offset. */
  protected abstract at(offset: number, limit: number, context: PageContext): string;

  present(page: Page, context: PageContext): PageResponse {
    const { limit, offset = 0, more, count } = page;
    const { settings } = this;
    const next = more ? this.at(offset + limit, limit, context) : undefined;
    const previous = this.hasPrevious(page)
      ? this.at(Math.max(offset - limit, 0), limit, context)
      : undefined;
    if (settings.style === 'envelope') return createEnvelope({ next, previous }, page, settings);
    // The offset of the last page is a multiple of the limit, whatever the offset of this page.
    const last =
      count?.exact === true
        ? this.at(Math.floor(Math.max(count.rows - 1, 0) / limit) * limit, limit, context)
        : undefined;
    return createPageHeaders({ next, previous, first: this.at(0, limit, context), last }, page, settings);
  }

  protected hasPrevious({ offset = 0 }: Page): boolean {
    return offset > 0;
  }

  override problems(): readonly PaginationProblem[] {
    const { maxOffset } = this;
    if (Number.isSafeInteger(maxOffset) && maxOffset >= 0) return super.problems();
    return [
      ...super.problems(),
      {
        option: 'maxOffset',
        what: `${String(maxOffset)} is not a valid number of rows`,
        repair: 'Give a whole number, or Number.MAX_SAFE_INTEGER for no bound.',
      },
    ];
  }
}

/** The options of `LimitOffsetPagination`; numbers are rows. */
export interface LimitOffsetOptions extends PageOptions {
  /** The query parameter for the number of rows. Default: `limit`. */
  readonly limitParameter?: string;
  /** The query parameter for the number of skipped rows. Default: `offset`. */
  readonly offsetParameter?: string;
  /** The maximum number of skipped rows; more are 400. Default: 10,000. */
  readonly maxOffset?: number;
}

/**
 * `limit=50&offset=100`, as DRF's class of that name, except that an invalid number is 400. An offset after the last row
 * returns an empty page.
 */
export class LimitOffsetPagination extends OffsetPagination {
  private readonly limitParameter: string;
  private readonly offsetParameter: string;

  constructor(options: LimitOffsetOptions = {}) {
    const limitParameter = options.limitParameter ?? 'limit';
    const offsetParameter = options.offsetParameter ?? 'offset';
    super(
      new PageSettings(options, { sizeParameter: limitParameter, hasOffsets: true }),
      {
        given: options,
        known: [...PAGE_OPTIONS, 'limitParameter', 'offsetParameter', 'maxOffset'],
        knownBy: LimitOffsetPagination,
        names: { limitParameter, offsetParameter },
      },
      options.maxOffset,
    );
    this.limitParameter = limitParameter;
    this.offsetParameter = offsetParameter;
  }

  page(query: PageQuery): PageRequest {
    const { parameters } = query;
    const limit = this.settings.size(parameters);
    const offset =
      parseIntegerParameter(this.offsetParameter, parameters, { min: 0, max: this.maxOffset }) ?? 0;
    return { window: { kind: 'offset', limit, offset }, ...this.settings.counting(query) };
  }

  protected at(offset: number, limit: number, { link }: PageContext): string {
    return link({
      [this.limitParameter]: String(limit),
      [this.offsetParameter]: offset > 0 ? String(offset) : undefined,
    });
  }

  describe(): PaginationDescription {
    const offset = {
      description: 'The number of rows to skip.',
      schema: { type: 'integer', minimum: 0, maximum: this.maxOffset },
    };
    return this.describePages(
      { kind: 'limit-offset', parameters: { [this.offsetParameter]: offset } },
      false,
    );
  }
}

/** The options of `PageNumberPagination`; numbers are rows. */
export interface PageNumberOptions extends PageOptions {
  /** The query parameter for the page: a number from 1, or `last` if rows are counted exactly. Default: `page`. */
  readonly pageParameter?: string;
  /** The query parameter for the rows of a page; `false` disables it. Default: `page_size`. */
  readonly pageSizeParameter?: string | false;
  /** The maximum number of rows before a page; a page after more is 404. Default: 10,000. */
  readonly maxOffset?: number;
}

const LAST = 'last';

/**
 * `page=3`, as DRF's class of that name, except that an invalid `page_size` is 400. A page after the last one is 404; the
 * first page may be empty.
 */
export class PageNumberPagination extends OffsetPagination {
  private readonly pageParameter: string;

  constructor(options: PageNumberOptions = {}) {
    const pageParameter = options.pageParameter ?? 'page';
    const pageSizeParameter = options.pageSizeParameter ?? 'page_size';
    super(
      new PageSettings(options, { sizeParameter: pageSizeParameter, hasOffsets: true }),
      {
        given: options,
        known: [...PAGE_OPTIONS, 'pageParameter', 'pageSizeParameter', 'maxOffset'],
        knownBy: PageNumberPagination,
        names: { pageParameter, pageSizeParameter },
      },
      options.maxOffset,
    );
    this.pageParameter = pageParameter;
  }

  page(query: PageQuery): PageRequest {
    const { parameters } = query;
    const limit = this.settings.size(parameters);
    const count = this.settings.counting(query);
    const text = parameters.get(this.pageParameter) ?? '';
    // The last page is found by its count.
    if (text === LAST && this.settings.chosenCount(parameters) === 'exact')
      return { window: { kind: 'last', limit, maxOffset: this.maxOffset }, count: 'exact' };
    const number = text === '' ? 1 : (parseDigits(text) ?? 0);
    const offset = (number - 1) * limit;
    if (number < 1 || offset > this.maxOffset) throw new InvalidPage();
    return { window: { kind: 'offset', limit, offset }, ...count };
  }

  override present(page: Page, context: PageContext): PageResponse {
    if (page.size === 0 && (page.offset ?? 0) > 0) throw new InvalidPage();
    return super.present(page, context);
  }

  protected at(offset: number, limit: number, { link }: PageContext): string {
    const number = Math.floor(offset / limit) + 1;
    return link({ [this.pageParameter]: number > 1 ? String(number) : undefined });
  }

  /** The first page may begin behind the first row, in a subclass that skips some. */
  protected override hasPrevious({ offset = 0, limit }: Page): boolean {
    return offset >= limit;
  }

  describe(): PaginationDescription {
    const { count, countParameter } = this.settings;
    const mayCount = count !== false || countParameter !== false;
    const number = { type: 'integer', minimum: 1 };
    const page = {
      description: 'The number of the page, from 1.',
      schema: mayCount ? { anyOf: [number, { type: 'string', enum: [LAST] }] } : number,
    };
    return this.describePages({ kind: 'page-number', parameters: { [this.pageParameter]: page } }, true);
  }
}

/** Options of `JsonServerPagination`. */
export interface JsonServerOptions extends Pick<PageOptions, 'count' | 'countUpTo' | 'countKind'> {
  /** Rows of a page without `_end`. Default: `maxPageSize`. */
  readonly pageSize?: number;
  /** The maximum number of rows of a page. Default: 100. */
  readonly maxPageSize?: number;
  /** The maximum number of skipped rows; a greater `_start` is 400. Default: 10,000. */
  readonly maxOffset?: number;
}

/**
 * `_start=20&_end=30`, `_start=20&_limit=10` or `_page=3&_limit=10` (also `_per_page`), as in json-server: a plain array, with
 * `X-Total-Count` and `Link`. A start after the last row returns an empty page.
 */
export class JsonServerPagination extends OffsetPagination {
  constructor(options: JsonServerOptions = {}) {
    const { pageSize, maxPageSize = MAX_PAGE_SIZE, maxOffset, count, ...counting } = options;
    super(
      new PageSettings(
        {
          pageSize: pageSize ?? maxPageSize,
          maxPageSize,
          style: 'headers',
          count: count ?? 'exact',
          ...counting,
        },
        { sizeParameter: false, hasOffsets: true },
      ),
      {
        given: options,
        known: ['pageSize', 'maxPageSize', 'maxOffset', 'count', 'countUpTo', 'countKind'],
        knownBy: JsonServerPagination,
        names: {},
      },
      maxOffset,
    );
  }

  override parameters(): readonly string[] {
    return ['_start', '_end', '_limit', '_page', '_per_page'];
  }

  page(query: PageQuery): PageRequest {
    const { parameters } = query;
    const { maxPageSize } = this.settings;
    const size =
      parseIntegerParameter('_limit', parameters, { min: 1 }) ??
      parseIntegerParameter('_per_page', parameters, { min: 1 });
    const limit = Math.min(size ?? this.pageSize, maxPageSize);
    const number = parseIntegerParameter('_page', parameters, { min: 1 });
    const count = this.settings.counting(query);
    if (number !== undefined) {
      if (['_start', '_end'].some((name) => hasValue(name, parameters)))
        throw InvalidInput.of('_page', 'Send either "_page", or "_start" and "_end".');
      const max = Math.floor(this.maxOffset / limit) + 1;
      parseIntegerParameter('_page', parameters, { min: 1, max });
      return { window: { kind: 'offset', limit, offset: (number - 1) * limit }, ...count };
    }
    const offset = parseIntegerParameter('_start', parameters, { min: 0, max: this.maxOffset }) ?? 0;
    const end = parseIntegerParameter('_end', parameters, { min: 0 });
    const rows = end === undefined ? limit : Math.min(Math.max(end - offset, 0), maxPageSize);
    return { window: { kind: 'offset', limit: rows, offset }, ...count };
  }

  override present(page: Page, context: PageContext): PageResponse {
    // `_end` is not behind `_start`: there is no page of this size before or after it.
    if (page.limit === 0)
      return createPageHeaders({ next: undefined, previous: undefined }, page, this.settings);
    return super.present(page, context);
  }

  protected at(offset: number, limit: number, { link, parameters }: PageContext): string {
    return hasValue('_page', parameters)
      ? link({ _page: String(offset / limit + 1) })
      : link({
          _start: String(offset),
          _end: String(offset + limit),
          _limit: undefined,
          _per_page: undefined,
        });
  }

  describe(): PaginationDescription {
    const { pageSize, maxPageSize } = this.settings;
    const size = {
      description: `The number of rows of a page, ${maxPageSize} at most; left out, ${pageSize}.`,
      schema: { type: 'integer', minimum: 1 },
    };
    const parameters = {
      _start: {
        description: 'The number of rows to skip.',
        schema: { type: 'integer', minimum: 0, maximum: this.maxOffset },
      },
      _end: {
        description: `The row before which the page ends, ${maxPageSize} behind \`_start\` at most. The page is empty if it is not behind \`_start\`.`,
        schema: { type: 'integer', minimum: 0 },
      },
      _page: {
        description: 'The number of the page, from 1; not with `_start` and `_end`.',
        schema: { type: 'integer', minimum: 1 },
      },
      _limit: size,
      _per_page: size,
    } as const;
    return this.describePages({ parameters }, false);
  }
}

function hasValue(name: string, parameters: ReadonlyMap<string, string>): boolean {
  return (parameters.get(name) ?? '') !== '';
}
