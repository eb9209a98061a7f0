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
import { parseIntegerParameter } from './parse-positive-integer.js';

export interface LimitOffsetOptions extends PageOptions {
  /** The query parameter for the number of rows. Default: `limit`. */
  readonly limitParameter?: string;
  /** The query parameter for the number of skipped rows. Default: `offset`. */
  readonly offsetParameter?: string;
  /** The maximum number of skipped rows; more are 400. Default: 10,000. */
  readonly maxOffset?: number;
}

const OPTIONS: readonly (keyof LimitOffsetOptions)[] = [
  ...PAGE_OPTIONS,
  'limitParameter',
  'offsetParameter',
  'maxOffset',
];

/**
 * `limit=50&offset=100`, as DRF's class of that name, except that an invalid number is 400. An offset after the last row
 * returns an empty page.
 */
export class LimitOffsetPagination implements Pagination {
  readonly pageSize: number;
  private readonly settings: PageSettings;
  private readonly unknownOptions: readonly PaginationProblem[];
  private readonly limitParameter: string;
  private readonly offsetParameter: string;
  private readonly maxOffset: number;

  constructor(options: LimitOffsetOptions = {}) {
    this.limitParameter = options.limitParameter ?? 'limit';
    this.offsetParameter = options.offsetParameter ?? 'offset';
    this.maxOffset = options.maxOffset ?? MAX_OFFSET;
    this.settings = new PageSettings(options, this.limitParameter, true);
    this.pageSize = this.settings.pageSize;
    const made = { target: new.target, own: LimitOffsetPagination };
    this.unknownOptions = unknownOptionProblems(options, OPTIONS, made);
  }

  parameters(): readonly string[] {
    const { countParameter } = this.settings;
    return [this.limitParameter, this.offsetParameter, ...(countParameter === false ? [] : [countParameter])];
  }

  page(query: PageQuery): PageRequest {
    const { parameters } = query;
    const limit = this.settings.size(parameters);
    const offset =
      parseIntegerParameter(this.offsetParameter, parameters, { min: 0, max: this.maxOffset }) ?? 0;
    return { window: { kind: 'offset', limit, offset }, ...this.settings.counting(query) };
  }

  present(page: Page, { link }: PageContext): PageResponse {
    const { limit, offset = 0, more, count } = page;
    const next = more ? this.at(offset + limit, limit, link) : undefined;
    const previous = offset > 0 ? this.at(offset - limit, limit, link) : undefined;
    const { style, countKind } = this.settings;
    if (style === 'envelope') return createEnvelope({ next, previous }, { count, countKind }, true);
    // The offset of the last page is a multiple of the limit, whatever the offset of this page.
    const last =
      count?.exact === true
        ? this.at(Math.floor(Math.max(count.rows - 1, 0) / limit) * limit, limit, link)
        : undefined;
    return createPageHeaders({ next, previous, first: this.at(0, limit, link), last }, page, countKind);
  }

  describe(): PaginationDescription {
    const place = {
      [this.offsetParameter]: {
        description: 'The number of rows to skip.',
        schema: { type: 'integer', minimum: 0, maximum: this.maxOffset },
      },
    };
    return describePages({
      kind: 'limit-offset',
      settings: this.settings,
      place,
      sizeParameter: this.limitParameter,
      always: true,
      missing: false,
    });
  }

  problems(): readonly PaginationProblem[] {
    const { limitParameter, offsetParameter } = this;
    return [
      ...this.unknownOptions,
      ...this.settings.problems(),
      ...namesProblems({ limitParameter, offsetParameter }),
      ...offsetProblems(this.maxOffset),
    ];
  }

  private at(offset: number, limit: number, link: PageLink): string {
    return link({
      [this.limitParameter]: String(limit),
      [this.offsetParameter]: offset > 0 ? String(offset) : undefined,
    });
  }
}
