import { didYouMean } from '../../core/errors/declaration-error.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { COUNTED_ROWS, MAX_PAGE_SIZE, PAGE_SIZE } from '../../core/schema/limits.js';
import type {
  CountKind,
  PageQuery,
  PageRequest,
  PaginationProblem,
} from '../../core/contracts/pagination.js';
import { parseIntegerParameter } from './parse-positive-integer.js';

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

/** The shared options with their defaults, and the parsing of the parameters that they enable. */
export class PageSettings {
  readonly pageSize: number;
  readonly maxPageSize: number;
  readonly style: 'envelope' | 'headers';
  readonly count: CountKind | false;
  readonly countUpTo: number;
  readonly countKind: boolean;
  readonly countParameter: string | false;

  constructor(
    { pageSize, maxPageSize, style, count, countUpTo, countKind, countParameter }: PageOptions,
    private readonly sizeParameter: string | false,
    isCounted: boolean,
  ) {
    this.pageSize = pageSize ?? Math.min(PAGE_SIZE, maxPageSize ?? PAGE_SIZE);
    this.maxPageSize = maxPageSize ?? Math.max(MAX_PAGE_SIZE, this.pageSize);
    this.style = style ?? 'envelope';
    this.count = count ?? (isCounted && this.style === 'envelope' ? 'exact' : false);
    this.countUpTo = countUpTo ?? COUNTED_ROWS;
    this.countKind = countKind ?? false;
    this.countParameter = countParameter ?? false;
  }

  /** The default count, without a parameter. */
  get counts(): boolean {
    return this.count !== false;
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

  problems(): readonly PaginationProblem[] {
    const { pageSize, maxPageSize, style, count, countUpTo, countKind, countParameter } = this;
    return [
      ...[
        { option: 'pageSize', value: pageSize },
        { option: 'maxPageSize', value: maxPageSize },
        { option: 'countUpTo', value: countUpTo },
      ]
        .filter(({ value }) => !isSize(value))
        .map(({ option, value }) => ({
          option,
          what: `${String(value)} is not a valid number of rows`,
          repair: 'Give a whole number above 0.',
        })),
      ...(pageSize > maxPageSize
        ? [
            {
              option: 'pageSize',
              what: `${pageSize} is more than maxPageSize, ${maxPageSize}`,
              repair: 'Raise maxPageSize, or lower pageSize.',
            },
          ]
        : []),
      ...(['envelope', 'headers'].includes(style)
        ? []
        : [
            {
              option: 'style',
              what: `${JSON.stringify(style)} is not a style`,
              repair: `Write 'envelope' or 'headers'.`,
            },
          ]),
      ...(COUNTS.includes(count)
        ? []
        : [
            {
              option: 'count',
              what: `"${String(count)}" is not a counting mode`,
              repair: `Write 'exact', 'estimated' or false.`,
            },
          ]),
      ...(typeof countKind === 'boolean'
        ? []
        : [
            {
              option: 'countKind',
              what: `${JSON.stringify(countKind)} is not a boolean`,
              repair: 'Write true or false.',
            },
          ]),
      ...namesProblems({ countParameter }),
    ];
  }
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** Invalid names of query parameters. `false` disables one. */
export function namesProblems(names: Readonly<Record<string, string | false>>): readonly PaginationProblem[] {
  return Object.entries(names)
    .filter(([, name]) => name !== false && (typeof name !== 'string' || name === ''))
    .map(([option, name]) => ({
      option,
      what: `${JSON.stringify(name)} is not a valid name of a query parameter`,
      repair: 'Give a text that is not empty.',
    }));
}

/**
 * Unknown options, which would be ignored. Not of a subclass, which may have options of its own.
 * @param made the class of the instance, and the one whose options are known.
 */
export function unknownOptionProblems(
  options: object,
  known: readonly string[],
  made: { readonly target: unknown; readonly own: unknown },
): readonly PaginationProblem[] {
  if (made.target !== made.own) return [];
  return Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((option) => ({
      option,
      what: `"${option}" is not an option of this pagination`,
      repair: didYouMean(option, known),
    }));
}

/** The requirement on a maximum offset. */
export function offsetProblems(maxOffset: number): readonly PaginationProblem[] {
  if (Number.isSafeInteger(maxOffset) && maxOffset >= 0) return [];
  return [
    {
      option: 'maxOffset',
      what: `${String(maxOffset)} is not a valid number of rows`,
      repair: 'Give a whole number, or Number.MAX_SAFE_INTEGER for no bound.',
    },
  ];
}
