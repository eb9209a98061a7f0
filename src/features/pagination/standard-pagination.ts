import { didYouMean } from '../../core/errors/declaration-error.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { COUNTED_ROWS, MAX_PAGE_SIZE, PAGE_SIZE } from '../../core/schema/limits.js';
import type {
  CountKind,
  Page,
  PageContext,
  PageParameters,
  PageQuery,
  PageRequest,
  PageResponse,
  Pagination,
  PaginationDescription,
  PaginationProblem,
} from '../../core/contracts/pagination.js';
import { parseIntegerParameter } from '../../request/parse/parse-integer.js';
import { describeEnvelope, describePageHeaders } from './page-envelope.js';

/** The options that the standard paginations share. */
export interface PageOptions {
  /** Rows of a page if the client does not choose. Default: 50. */
  readonly pageSize?: number;
  /** The maximum number of rows of a page. Default: 100, or `pageSize` if that is more. */
  readonly maxPageSize?: number;
  /**
   * `envelope`: DRF's object around the rows. `headers`: the body is a plain array, with the links in `Link`. Default:
   * `envelope`.
   */
  readonly style?: 'envelope' | 'headers';
  /**
   * Whether each response has the number of all matching rows. Default: `exact` for DRF's envelopes of pages and offsets,
   * which have a `count`; else false.
   */
  readonly count?: CountKind | false;
  /**
   * The rows up to which `estimated` counts exactly; above that it is the estimate of the database, or stops. Default: 10,000.
   */
  readonly countUpTo?: number;
  /**
   * Whether a count says what it is, in the member `count_kind` or the header `X-Total-Count-Kind`: `exact`, `estimated`, or
   * `at_least` if it has stopped. Default: false.
   */
  readonly countKind?: boolean;
  /** The query parameter by which clients choose `exact`, `estimated` or `none`. Default: false, disabled. */
  readonly countParameter?: string | false;
}

/** Of `PageOptions`. */
export const PAGE_OPTIONS: readonly (keyof PageOptions)[] = [
  'pageSize',
  'maxPageSize',
  'style',
  'count',
  'countUpTo',
  'countKind',
  'countParameter',
];

const COUNTS: readonly unknown[] = ['exact', 'estimated', false];
const COUNT_CHOICES: Readonly<Record<string, CountKind | false>> = {
  exact: 'exact',
  estimated: 'estimated',
  none: false,
};
/** From the cheapest count to the most expensive. */
const BY_COST = ['none', 'estimated', 'exact'] as const;

/** How a standard pagination differs from the others. */
interface PaginationKind {
  /** The parameter with the number of rows; `false` if clients cannot choose it. */
  readonly sizeParameter: string | false;
  /** Whether its pages are at offsets: their rows are counted as DRF does, and responses say where a page is. */
  readonly hasOffsets: boolean;
}

/** The shared options with their defaults, and the parsing of the parameters that they enable. */
export class PageSettings {
  readonly pageSize: number;
  readonly maxPageSize: number;
  readonly style: 'envelope' | 'headers';
  readonly count: CountKind | false;
  readonly countUpTo: number;
  readonly countKind: boolean;
  readonly countParameter: string | false;
  readonly sizeParameter: string | false;
  readonly hasOffsets: boolean;

  constructor(options: PageOptions, { sizeParameter, hasOffsets }: PaginationKind) {
    const { pageSize, maxPageSize, style, count, countUpTo, countKind, countParameter } = options;
    this.pageSize = pageSize ?? Math.min(PAGE_SIZE, maxPageSize ?? PAGE_SIZE);
    this.maxPageSize = maxPageSize ?? Math.max(MAX_PAGE_SIZE, this.pageSize);
    this.style = style ?? 'envelope';
    this.count = count ?? (hasOffsets && this.style === 'envelope' ? 'exact' : false);
    this.countUpTo = countUpTo ?? COUNTED_ROWS;
    this.countKind = countKind ?? false;
    this.countParameter = countParameter ?? false;
    this.sizeParameter = sizeParameter;
    this.hasOffsets = hasOffsets;
  }

  /** The size of a page; as in DRF, reduced to the maximum. Throws 400 for an invalid number. */
  size(parameters: ReadonlyMap<string, string>): number {
    if (this.sizeParameter === false) return this.pageSize;
    const asked = parseIntegerParameter(this.sizeParameter, parameters, { min: 1 });
    return asked === undefined ? this.pageSize : Math.min(asked, this.maxPageSize);
  }

  /** The count of a page, at most as expensive as the client prefers. Throws 400 for an unknown choice. */
  counting(query: PageQuery): Pick<PageRequest, 'count' | 'countUpTo'> {
    const chosen = this.chosenCount(query.parameters);
    const preferred = query.preferredCount;
    const isCheaper =
      preferred !== undefined && BY_COST.indexOf(preferred) < BY_COST.indexOf(chosen ?? 'none');
    const count = isCheaper ? preferred : chosen;
    return { count: count === 'none' ? undefined : count, countUpTo: this.countUpTo };
  }

  /** As `counting`, whatever the client prefers. */
  chosenCount(parameters: ReadonlyMap<string, string>): CountKind | undefined {
    const text = this.countParameter === false ? '' : (parameters.get(this.countParameter) ?? '');
    const asked = Object.hasOwn(COUNT_CHOICES, text) ? COUNT_CHOICES[text] : undefined;
    if (text !== '' && asked === undefined)
      throw InvalidInput.of(String(this.countParameter), `"${text.slice(0, 100)}" is not a valid choice.`);
    const count = asked ?? this.count;
    return count === false ? undefined : count;
  }

  *problems(): Iterable<PaginationProblem> {
    const { pageSize, maxPageSize, style, count, countUpTo, countKind, countParameter } = this;
    const repair = 'Give a whole number above 0.';
    for (const [option, value] of Object.entries({ pageSize, maxPageSize, countUpTo }))
      if (!Number.isSafeInteger(value) || value <= 0)
        yield { option, what: `${String(value)} is not a valid number of rows`, repair };
    if (pageSize > maxPageSize)
      yield {
        option: 'pageSize',
        what: `${pageSize} is more than maxPageSize, ${maxPageSize}`,
        repair: 'Raise maxPageSize, or lower pageSize.',
      };
    if (!['envelope', 'headers'].includes(style))
      yield {
        option: 'style',
        what: `${JSON.stringify(style)} is not a style`,
        repair: `Write 'envelope' or 'headers'.`,
      };
    if (!COUNTS.includes(count))
      yield {
        option: 'count',
        what: `"${String(count)}" is not a counting mode`,
        repair: `Write 'exact', 'estimated' or false.`,
      };
    if (typeof countKind !== 'boolean')
      yield {
        option: 'countKind',
        what: `${JSON.stringify(countKind)} is not a boolean`,
        repair: 'Write true or false.',
      };
    yield* nameProblems({ countParameter });
  }
}

/** The names of query parameters by the option that sets them. `false` disables one. */
type ParameterNames = Readonly<Record<string, string | false>>;

/** The options of a class, to be checked. */
export interface GivenOptions {
  readonly given: object;
  readonly known: readonly string[];
  /** The class that knows these options: a subclass of the application may have others. */
  readonly knownBy: unknown;
  /** The parameters that are not of `PageOptions`. */
  readonly names: ParameterNames;
}

/** What the standard paginations share: they differ in `page` and `present`, and in what selects a page. */
export abstract class StandardPagination implements Pagination {
  readonly pageSize: number;
  private readonly ownParameters: readonly string[];
  private readonly names: ParameterNames;
  private readonly unknownOptions: readonly PaginationProblem[];

  constructor(
    protected readonly settings: PageSettings,
    { given, known, knownBy, names }: GivenOptions,
  ) {
    this.pageSize = settings.pageSize;
    this.names = names;
    this.ownParameters = [...Object.values(names), settings.countParameter].filter((name) => name !== false);
    this.unknownOptions = new.target === knownBy ? unknownOptionProblems(given, known) : [];
  }

  parameters(): readonly string[] {
    return this.ownParameters;
  }

  abstract page(query: PageQuery): PageRequest;

  abstract present(page: Page, context: PageContext): PageResponse;

  abstract describe(): PaginationDescription;

  problems(): readonly PaginationProblem[] {
    return [...this.unknownOptions, ...this.settings.problems(), ...nameProblems(this.names)];
  }

  /**
   * The description that all of them share.
   * @param position what selects the page: the kind of its only parameter, if there is one, and the schema of each.
   * @param missing whether a page that does not exist is 404.
   */
  protected describePages(
    position: {
      readonly kind?: PageParameters['kind'];
      readonly parameters: PaginationDescription['parameters'];
    },
    missing: boolean,
  ): PaginationDescription {
    const { settings } = this;
    const { style, count, countUpTo, countParameter, sizeParameter, pageSize, maxPageSize } = settings;
    const [name] = Object.keys(position.parameters);
    return {
      ...(position.kind !== undefined &&
        name !== undefined && {
          standard: {
            kind: position.kind,
            position: name,
            size: sizeParameter === false ? undefined : sizeParameter,
            count: countParameter === false ? undefined : countParameter,
            pageSize,
            maxPageSize,
          },
        }),
      counts: count === false ? undefined : count,
      countUpTo,
      parameters: {
        ...position.parameters,
        ...(sizeParameter !== false && {
          [sizeParameter]: {
            description: `The number of rows of a page, ${maxPageSize} at most.`,
            schema: { type: 'integer', minimum: 1, default: pageSize },
          },
        }),
        ...(countParameter !== false && {
          [countParameter]: {
            description: `Whether to count all rows; \`estimated\` counts up to ${countUpTo}.`,
            schema: { type: 'string', enum: ['exact', 'estimated', 'none'] },
          },
        }),
      },
      missing,
      ...(style === 'envelope'
        ? { envelope: describeEnvelope(settings) }
        : { headers: describePageHeaders(settings) }),
    };
  }
}

/** Unknown options, which would be ignored. */
function unknownOptionProblems(given: object, known: readonly string[]): readonly PaginationProblem[] {
  return Object.keys(given)
    .filter((option) => !known.includes(option))
    .map((option) => ({
      option,
      what: `"${option}" is not an option of this pagination`,
      repair: didYouMean(option, known),
    }));
}

function* nameProblems(names: ParameterNames): Iterable<PaginationProblem> {
  for (const [option, name] of Object.entries(names))
    if (name !== false && (typeof name !== 'string' || name === ''))
      yield {
        option,
        what: `${JSON.stringify(name)} is not a valid name of a query parameter`,
        repair: 'Give a text that is not empty.',
      };
}
