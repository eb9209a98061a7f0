import { MAX_OFFSET, MAX_PAGE_SIZE } from '../../core/schema/limits.js';
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
import { createPageHeaders } from './page-envelope.js';
import { describePages } from './describe-pagination.js';
import { offsetProblems, PageSettings, unknownOptionProblems } from './pagination-options.js';
import type { PageOptions } from './pagination-options.js';
import { parseIntegerParameter } from './parse-positive-integer.js';

export interface JsonServerOptions extends Pick<PageOptions, 'count'> {
  /** Rows of a page without `_end`. Default: `maxPageSize`. */
  readonly pageSize?: number;
  /** The maximum number of rows of a page. Default: 100. */
  readonly maxPageSize?: number;
  /** The maximum number of skipped rows; a greater `_start` is 400. Default: 10,000. */
  readonly maxOffset?: number;
}

const OPTIONS: readonly (keyof JsonServerOptions)[] = ['pageSize', 'maxPageSize', 'maxOffset', 'count'];

/**
 * `_start=20&_end=30`, as in json-server: a plain array, with `X-Total-Count` and `Link`. A start after the last row
 * returns an empty page.
 */
export class JsonServerPagination implements Pagination {
  readonly pageSize: number;
  private readonly settings: PageSettings;
  private readonly unknownOptions: readonly PaginationProblem[];
  private readonly maxOffset: number;

  constructor(options: JsonServerOptions = {}) {
    const { pageSize, maxPageSize = MAX_PAGE_SIZE, maxOffset, count } = options;
    this.maxOffset = maxOffset ?? MAX_OFFSET;
    this.settings = new PageSettings(
      { pageSize: pageSize ?? maxPageSize, maxPageSize, style: 'headers', count: count ?? 'exact' },
      false,
      true,
    );
    this.pageSize = this.settings.pageSize;
    const made = { target: new.target, own: JsonServerPagination };
    this.unknownOptions = unknownOptionProblems(options, OPTIONS, made);
  }

  parameters(): readonly string[] {
    return ['_start', '_end'];
  }

  page({ parameters }: PageQuery): PageRequest {
    const offset = parseIntegerParameter('_start', parameters, { min: 0, max: this.maxOffset }) ?? 0;
    const end = parseIntegerParameter('_end', parameters, { min: offset + 1 });
    const limit = end === undefined ? this.pageSize : Math.min(end - offset, this.settings.maxPageSize);
    return { window: { kind: 'offset', limit, offset }, count: this.settings.counting(parameters) };
  }

  present(page: Page, { link }: PageContext): PageResponse {
    const { limit, offset = 0, more, count } = page;
    const next = more ? at(offset + limit, limit, link) : undefined;
    const previous = offset > 0 ? at(Math.max(offset - limit, 0), limit, link) : undefined;
    const last =
      count?.exact === true
        ? at(Math.floor(Math.max(count.rows - 1, 0) / limit) * limit, limit, link)
        : undefined;
    return createPageHeaders({ next, previous, first: at(0, limit, link), last }, page);
  }

  describe(): PaginationDescription {
    const { pageSize, maxPageSize } = this.settings;
    const place = {
      _start: {
        description: 'The number of rows to skip.',
        schema: { type: 'integer', minimum: 0, maximum: this.maxOffset },
      },
      _end: {
        description: `The row before which the page ends, ${maxPageSize} behind \`_start\` at most; left out, ${pageSize} behind it.`,
        schema: { type: 'integer', minimum: 1 },
      },
    } as const;
    return describePages({
      settings: this.settings,
      place,
      sizeParameter: false,
      always: true,
      missing: false,
    });
  }

  problems(): readonly PaginationProblem[] {
    return [...this.unknownOptions, ...this.settings.problems(), ...offsetProblems(this.maxOffset)];
  }
}

function at(start: number, limit: number, link: PageLink): string {
  return link({ _start: String(start), _end: String(start + limit) });
}
