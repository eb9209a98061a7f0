import { InvalidInput, InvalidPage } from '../../core/errors/http-exceptions.js';
import { MIN_SECRET } from '../../core/schema/limits.js';
import type {
  CursorPosition,
  Page,
  PageResponse,
  PageContext,
  PageQuery,
  PageRequest,
  PaginationDescription,
  PaginationProblem,
} from '../../core/contracts/pagination.js';
import { createEnvelope, createPageHeaders } from './page-envelope.js';
import { CursorCipher } from './cursor-cipher.js';
import { PAGE_OPTIONS, PageSettings, StandardPagination } from './standard-pagination.js';
import type { PageOptions } from './standard-pagination.js';

/** The options of `CursorPagination`; numbers are rows. */
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

/**
 * Keyset pagination in any order: the cost of a page does not depend on its position, and concurrent inserts and deletes
 * neither repeat nor skip rows. A cursor is valid for its list and order, and gives no access to rows that are not
 * granted.
 */
export class CursorPagination extends StandardPagination {
  private readonly seal: CursorCipher;
  /** What is wrong with the secret; undefined if nothing is. */
  private readonly weakness: string | undefined;
  private readonly cursorParameter: string;

  /** @param secretAndOptions named for TypeScript's message about a missing argument. */
  constructor(secretAndOptions: CursorOptions) {
    // Without types, the secret is reported with the other problems.
    const options = (secretAndOptions as CursorOptions | undefined) ?? { secret: undefined };
    const cursorParameter = options.cursorParameter ?? 'cursor';
    const pageSizeParameter = options.pageSizeParameter ?? 'page_size';
    super(new PageSettings(options, { sizeParameter: pageSizeParameter, hasOffsets: false }), {
      given: options,
      known: [...PAGE_OPTIONS, 'cursorParameter', 'pageSizeParameter', 'secret'],
      knownBy: CursorPagination,
      names: { cursorParameter, pageSizeParameter },
    });
    this.cursorParameter = cursorParameter;
    const secrets = secretsOf(options.secret);
    this.weakness = weaknessOf(secrets);
    this.seal = new CursorCipher(secrets);
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
    const { settings } = this;
    const links = { next: this.at(page.after, context), previous: this.at(page.before, context) };
    if (settings.style === 'envelope') return createEnvelope(links, page, settings);
    const first = context.link({ [this.cursorParameter]: undefined });
    return createPageHeaders({ ...links, first }, page, settings);
  }

  describe(): PaginationDescription {
    const cursor = {
      description: 'The start of the page: a cursor of `next` or `previous` of another page.',
      schema: { type: 'string' },
    };
    return this.describePages({ kind: 'cursor', parameters: { [this.cursorParameter]: cursor } }, true);
  }

  override problems(): readonly PaginationProblem[] {
    if (this.weakness === undefined) return super.problems();
    return [
      ...super.problems(),
      {
        option: 'secret',
        what: `cursors are encrypted with it, and ${this.weakness}`,
        repair:
          'Give a random text, the same in all processes of the application: secret: process.env.CURSOR_SECRET.',
      },
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

function weaknessOf(secrets: readonly string[]): string | undefined {
  if (secrets.length === 0 || secrets.every((secret) => secret === '')) return 'it is missing';
  return secrets.some((secret) => secret.length < MIN_SECRET)
    ? `it has less than ${MIN_SECRET} characters`
    : undefined;
}
