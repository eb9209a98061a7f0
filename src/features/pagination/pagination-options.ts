import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { MAX_PAGE_SIZE, PAGE_SIZE } from '../../core/schema/limits.js';
import type { CountKind, PaginationProblem } from '../../core/contracts/pagination.js';
import { wholeNumber } from './parse-positive-integer.js';

/** What the standard paginations have in common. */
export interface PageOptions {
  /** Rows of a page where the client names no number. Default: 50. */
  readonly pageSize?: number;
  /** Rows that a client gets in one page, however many it asks for. Default: 100, or `pageSize` where that is more. */
  readonly maxPageSize?: number;
  /** `envelope`: DRF's object around the rows. `headers`: the body stays a plain array, and `Link` leads on. Default: `envelope`. */
  readonly style?: 'envelope' | 'headers';
  /** Whether all rows that fit are counted for each page. Default: `exact` in DRF's envelope of pages and offsets, where it has a `count`; else false. */
  readonly count?: CountKind | false;
  /** The query parameter by which clients choose: `exact`, `estimated` or `none`. Default: false, they do not. */
  readonly countParameter?: string | false;
}

const COUNTS: readonly unknown[] = ['exact', 'estimated', false];
const CHOICES: Readonly<Record<string, CountKind | false>> = {
  exact: 'exact',
  estimated: 'estimated',
  none: false,
};

/** The options that the standard paginations share, with their defaults, and what clients may say of them. */
export class PageSettings {
  readonly pageSize: number;
  readonly maxPageSize: number;
  readonly style: 'envelope' | 'headers';
  private readonly count: CountKind | false;
  readonly countParameter: string | false;

  constructor(
    { pageSize, maxPageSize, style, count, countParameter }: PageOptions,
    private readonly sizeParameter: string | false,
    isCounted: boolean,
  ) {
    this.pageSize = pageSize ?? Math.min(PAGE_SIZE, maxPageSize ?? PAGE_SIZE);
    this.maxPageSize = maxPageSize ?? Math.max(MAX_PAGE_SIZE, this.pageSize);
    this.style = style ?? 'envelope';
    this.count = count ?? (isCounted && this.style === 'envelope' ? 'exact' : false);
    this.countParameter = countParameter ?? false;
  }

  /** Whether rows are counted where the client does not say. */
  get counts(): boolean {
    return this.count !== false;
  }

  /** As DRF has it, more than there may be is as many as there may be. Throws 400 for what is no number of rows. */
  size(parameters: ReadonlyMap<string, string>): number {
    if (this.sizeParameter === false) return this.pageSize;
    const asked = wholeNumber(this.sizeParameter, parameters, { min: 1 });
    return asked === undefined ? this.pageSize : Math.min(asked, this.maxPageSize);
  }

  counting(parameters: ReadonlyMap<string, string>): CountKind | undefined {
    const text = this.countParameter === false ? '' : (parameters.get(this.countParameter) ?? '');
    const asked = Object.hasOwn(CHOICES, text) ? CHOICES[text] : undefined;
    if (text !== '' && asked === undefined)
      throw InvalidInput.of(String(this.countParameter), `"${text.slice(0, 100)}" is not a valid choice.`);
    const count = asked ?? this.count;
    return count === false ? undefined : count;
  }

  problems(): readonly PaginationProblem[] {
    const { pageSize, maxPageSize, style, count, countParameter } = this;
    return [
      ...[
        { option: 'pageSize', value: pageSize },
        { option: 'maxPageSize', value: maxPageSize },
      ]
        .filter(({ value }) => !isSize(value))
        .map(({ option, value }) => ({
          option,
          what: `${String(value)} is no number of rows`,
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
              what: `${JSON.stringify(style)} is no style`,
              repair: `Write 'envelope' or 'headers'.`,
            },
          ]),
      ...(COUNTS.includes(count)
        ? []
        : [
            {
              option: 'count',
              what: `"${String(count)}" is no way to count`,
              repair: `Write 'exact', 'estimated' or false.`,
            },
          ]),
      ...namesProblems({ countParameter }),
    ];
  }
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** Names of query parameters that are none. `false` turns one off. */
export function namesProblems(names: Readonly<Record<string, string | false>>): readonly PaginationProblem[] {
  return Object.entries(names)
    .filter(([, name]) => name !== false && (typeof name !== 'string' || name === ''))
    .map(([option, name]) => ({
      option,
      what: `${JSON.stringify(name)} is no name of a query parameter`,
      repair: 'Give a text that is not empty.',
    }));
}

/** What a bound of offsets has to be. */
export function offsetProblems(maxOffset: number): readonly PaginationProblem[] {
  if (Number.isSafeInteger(maxOffset) && maxOffset >= 0) return [];
  return [
    {
      option: 'maxOffset',
      what: `${String(maxOffset)} is no number of rows`,
      repair: 'Give a whole number, or Number.MAX_SAFE_INTEGER for no bound.',
    },
  ];
}
