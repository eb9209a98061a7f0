import { InvalidInput, InvalidPage } from '../../core/errors/http-exceptions.js';
import { MIN_SECRET } from '../../core/schema/limits.js';
import type {
  CursorPosition,
  Page,
  PageResponse,
  PageContext,
  PageQuery,
  PageRequest,
  Pagination,
  PaginationDescription,
  PaginationProblem,
} from '../../core/contracts/pagination.js';
import { createEnvelope, createPageHeaders } from './page-envelope.js';
import { CursorCipher } from './cursor-cipher.js';
import { describePages } from './describe-pagination.js';
import { namesProblems, PAGE_OPTIONS, PageSettings, unknownOptionProblems } from './pagination-options.js';
import type { PageOptions } from './pagination-options.js';

export interface CursorOptions extends PageOptions {
  /**
   * Secrets that encrypt cursors: at least 32 characters, the same in all processes; the application does not start
   * without one. The first of several encrypts and each decrypts, so that a secret can be rotated.
   */
  readonly secret: string | readonly string[] | undefined;
  /** The query parameter for the cursor. Default: `cursor`. */
  readonly cursorParameter?: string;
  /** The query parameter for the rows of a page; `false` disables it. Default: `page_size`. */
  readonly pageSizeParameter?: string | false;
}

const OPTIONS: readonly (keyof CursorOptions)[] = [
  ...PAGE_OPTIONS,
  'cursorParameter',
  'pageSizeParameter',
  'secret',
];

/**
 * Keyset pagination in any order: the cost of a page does not depend on its position, and concurrent inserts and deletes
 * neither repeat nor skip rows. A cursor is valid for its list and order, and gives no access to rows that are not
 * granted.
 */
export class CursorPagination implements Pagination {
  readonly pageSize: number;
  private readonly settings: PageSettings;
  private readonly unknownOptions: readonly PaginationProblem[];
  private readonly seal: CursorCipher;
  private readonly isWeak: boolean;
  private readonly cursorParameter: string;
  private readonly pageSizeParameter: string | false;

  constructor(given: CursorOptions) {
    // Without types, the secret is reported with the other problems.
    const options = (given as CursorOptions | undefined) ?? { secret: undefined };
    this.cursorParameter = options.cursorParameter ?? 'cursor';
    this.pageSizeParameter = options.pageSizeParameter ?? 'page_size';
    this.settings = new PageSettings(options, this.pageSizeParameter, false);
    this.pageSize = this.settings.pageSize;
    const made = { target: new.target, own: CursorPagination };
    this.unknownOptions = unknownOptionProblems(options, OPTIONS, made);
    const secrets = secretsOf(options.secret);
    this.isWeak = secrets.length === 0 || secrets.some((secret) => secret.length < MIN_SECRET);
    this.seal = new CursorCipher(secrets);
  }

  parameters(): readonly string[] {
    const { cursorParameter, pageSizeParameter } = this;
    return [cursorParameter, pageSizeParameter, this.settings.countParameter].filter(
      (name) => name !== false,
    );
  }

  page(query: PageQuery): PageRequest {
    const { parameters } = query;
    const limit = this.settings.size(parameters);
    const count = this.settings.counting(query);
    const text = parameters.get(this.cursorParameter) ?? '';
    const position = text === '' ? undefined : this.seal.open(text, query.place);
    if (text !== '' && !position) throw new InvalidPage('Invalid cursor');
    return { window: { kind: 'cursor', limit, position }, ...count };
  }

  present(page: Page, context: PageContext): PageResponse {
    const links = { next: this.at(page.after, context), previous: this.at(page.before, context) };
    const { style, countKind } = this.settings;
    if (style === 'envelope') return createEnvelope(links, { count: page.count, countKind }, false);
    const first = context.link({ [this.cursorParameter]: undefined });
    return createPageHeaders({ ...links, first }, page, countKind);
  }

  describe(): PaginationDescription {
    const place = {
      [this.cursorParameter]: {
        description: 'The start of the page: a cursor of `next` or `previous` of another page.',
        schema: { type: 'string' },
      },
    };
    return describePages({
      kind: 'cursor',
      settings: this.settings,
      place,
      sizeParameter: this.pageSizeParameter,
      always: false,
      missing: true,
    });
  }

  problems(): readonly PaginationProblem[] {
    const { cursorParameter, pageSizeParameter, isWeak } = this;
    return [
      ...this.unknownOptions,
      ...this.settings.problems(),
      ...namesProblems({ cursorParameter, pageSizeParameter }),
      ...(isWeak
        ? [
            {
              option: 'secret',
              what: `cursors are sealed with it, and it has less than ${MIN_SECRET} characters`,
              repair:
                'Give a random text, the same in all processes of the application: secret: process.env.CURSOR_SECRET.',
            },
          ]
        : []),
    ];
  }

  private at(position: CursorPosition | undefined, { link, place }: PageContext): string | undefined {
    if (!position) return undefined;
    const text = this.seal.seal(position, place);
    if (text === undefined)
      throw InvalidInput.of('ordering', 'The values of this order are too long for a cursor.');
    return link({ [this.cursorParameter]: text });
  }
}

/** An unset environment variable is undefined. */
function secretsOf(secret: string | readonly string[] | undefined): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  return secrets.map((each) => (typeof each === 'string' ? each : ''));
}
