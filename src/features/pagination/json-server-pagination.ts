import { MAX_OFFSET, MAX_PAGE_SIZE } from '../../core/schema/limits.js';
import type {
  Page,
  PageResponse,
  PageContext,
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
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { parseIntegerParameter } from './parse-positive-integer.js';

export interface JsonServerOptions extends Pick<PageOptions, 'count' | 'countUpTo' | 'countKind'> {
  /** Rows of a page without `_end`. Default: `maxPageSize`. */
  readonly pageSize?: number;
  /** The maximum number of rows of a page. Default: 100. */
  readonly maxPageSize?: number;
  /** The maximum number of skipped rows; a greater `_start` is 400. Default: 10,000. */
  readonly maxOffset?: number;
}

const OPTIONS: readonly (keyof JsonServerOptions)[] = [
  'pageSize',
  'maxPageSize',
  'maxOffset',
  'count',
  'countUpTo',
  'countKind',
];

/**
 * `_start=20&_end=30`, `_start=20&_limit=10` or `_page=3&_limit=10` (also `_per_page`), as in json-server: a plain array, with
 * `X-Total-Count` and `Link`. A start after the last row returns an empty page.
 */
export class JsonServerPagination implements Pagination {
  readonly pageSize: number;
  private readonly settings: PageSettings;
  private readonly unknownOptions: readonly PaginationProblem[];
  private readonly maxOffset: number;

  constructor(options: JsonServerOptions = {}) {
    const { pageSize, maxPageSize = MAX_PAGE_SIZE, maxOffset, count, ...counting } = options;
    this.maxOffset = maxOffset ?? MAX_OFFSET;
    this.settings = new PageSettings(
      {
        pageSize: pageSize ?? maxPageSize,
        maxPageSize,
        style: 'headers',
        count: count ?? 'exact',
        ...counting,
      },
      false,
      true,
    );
    this.pageSize = this.settings.pageSize;
    const made = { target: new.target, own: JsonServerPagination };
    this.unknownOptions = unknownOptionProblems(options, OPTIONS, made);
  }

  parameters(): readonly string[] {
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

  present(page: Page, { link, parameters }: PageContext): PageResponse {
    const { limit, offset = 0, more, count } = page;
    const { countKind } = this.settings;
    // `_end` is not behind `_start`: there is no page of this size before or after it.
    if (limit === 0) return createPageHeaders({ next: undefined, previous: undefined }, page, countKind);
    const at = (start: number): string =>
      hasValue('_page', parameters)
        ? link({ _page: String(start / limit + 1) })
        : link({
            _start: String(start),
            _end: String(start + limit),
            _limit: undefined,
            _per_page: undefined,
          });
    const next = more ? at(offset + limit) : undefined;
    const previous = offset > 0 ? at(Math.max(offset - limit, 0)) : undefined;
    const last =
      count?.exact === true ? at(Math.floor(Math.max(count.rows - 1, 0) / limit) * limit) : undefined;
    return createPageHeaders({ next, previous, first: at(0), last }, page, countKind);
  }

  describe(): PaginationDescription {
    const { pageSize, maxPageSize } = this.settings;
    const size = {
      description: `The number of rows of a page, ${maxPageSize} at most; left out, ${pageSize}.`,
      schema: { type: 'integer', minimum: 1 },
    };
    const place = {
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

function hasValue(name: string, parameters: ReadonlyMap<string, string>): boolean {
  return (parameters.get(name) ?? '') !== '';
}
