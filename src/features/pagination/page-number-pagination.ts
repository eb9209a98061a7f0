import { InvalidPage } from '../../core/errors/http-exceptions.js';
import { MAX_OFFSET } from '../../core/schema/limits.js';
import type {
  Page,
  PageResponse,
  PageContext,
  PageLink,
  PageQuery,
  PageRequest,
  Pagination,
  PaginationDescription,
  PaginationProblem,
} from '../../core/contracts/pagination.js';
import { createEnvelope, createPageHeaders } from './page-envelope.js';
import { describePages } from './describe-pagination.js';
import {
  namesProblems,
  offsetProblems,
  PAGE_OPTIONS,
  PageSettings,
  unknownOptionProblems,
} from './pagination-options.js';
import type { PageOptions } from './pagination-options.js';
import { parseDigits } from './parse-positive-integer.js';

export interface PageNumberOptions extends PageOptions {
  /** The query parameter for the page: a number from 1, or `last` if rows are counted exactly. Default: `page`. */
  readonly pageParameter?: string;
  /** The query parameter for the rows of a page; `false` disables it. Default: `page_size`. */
  readonly pageSizeParameter?: string | false;
  /** The maximum number of rows before a page; a page after more is 404. Default: 10,000. */
  readonly maxOffset?: number;
}

const LAST = 'last';

const OPTIONS: readonly (keyof PageNumberOptions)[] = [
  ...PAGE_OPTIONS,
  'pageParameter',
  'pageSizeParameter',
  'maxOffset',
];

/**
 * `page=3`, as DRF's class of that name, except that an invalid `page_size` is 400. A page after the last one is 404; the
 * first page may be empty.
 */
export class PageNumberPagination implements Pagination {
  readonly pageSize: number;
  private readonly settings: PageSettings;
  private readonly unknownOptions: readonly PaginationProblem[];
  private readonly pageParameter: string;
  private readonly pageSizeParameter: string | false;
  private readonly maxOffset: number;

  constructor(options: PageNumberOptions = {}) {
    this.pageParameter = options.pageParameter ?? 'page';
    this.pageSizeParameter = options.pageSizeParameter ?? 'page_size';
    this.maxOffset = options.maxOffset ?? MAX_OFFSET;
    this.settings = new PageSettings(options, this.pageSizeParameter, true);
    this.pageSize = this.settings.pageSize;
    const made = { target: new.target, own: PageNumberPagination };
    this.unknownOptions = unknownOptionProblems(options, OPTIONS, made);
  }

  parameters(): readonly string[] {
    const { pageParameter, pageSizeParameter } = this;
    return [pageParameter, pageSizeParameter, this.settings.countParameter].filter((name) => name !== false);
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

  present(page: Page, { link }: PageContext): PageResponse {
    const { limit, offset = 0, size, more, count } = page;
    if (size === 0 && offset > 0) throw new InvalidPage();
    const number = Math.floor(offset / limit) + 1;
    const next = more ? this.at(number + 1, link) : undefined;
    const previous = number > 1 ? this.at(number - 1, link) : undefined;
    const { style, countKind } = this.settings;
    if (style === 'envelope') return createEnvelope({ next, previous }, { count, countKind }, true);
    const last =
      count?.exact === true ? this.at(Math.max(Math.ceil(count.rows / limit), 1), link) : undefined;
    return createPageHeaders({ next, previous, first: this.at(1, link), last }, page, countKind);
  }

  describe(): PaginationDescription {
    const place = {
      [this.pageParameter]: {
        description: 'The number of the page, from 1.',
        schema: this.hasLast()
          ? {
              anyOf: [
                { type: 'integer', minimum: 1 },
                { type: 'string', enum: [LAST] },
              ],
            }
          : { type: 'integer', minimum: 1 },
      },
    };
    return describePages({
      kind: 'page-number',
      settings: this.settings,
      place,
      sizeParameter: this.pageSizeParameter,
      always: true,
      missing: true,
    });
  }

  /** True if rows may be counted exactly. */
  private hasLast(): boolean {
    const { counts, countParameter } = this.settings;
    return counts || countParameter !== false;
  }

  problems(): readonly PaginationProblem[] {
    const { pageParameter, pageSizeParameter } = this;
    return [
      ...this.unknownOptions,
      ...this.settings.problems(),
      ...namesProblems({ pageParameter, pageSizeParameter }),
      ...offsetProblems(this.maxOffset),
    ];
  }

  private at(number: number, link: PageLink): string {
    return link({ [this.pageParameter]: number > 1 ? String(number) : undefined });
  }
}
