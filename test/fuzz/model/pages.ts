import type { Json, PaginationSpec } from '../schema.js';
import type { Answer, GivenAnswer } from './answers.js';
import { detailed, invalid } from './expected.js';
import { parsedBody } from './learning.js';
import { compareRows } from './ordering.js';
import type { OrderContext, OrderTerm } from './ordering.js';
import type { Parameters } from './parameters.js';
import type { Resource } from './resources.js';
import type { Row } from './state.js';

/** An ordered list, and the parameters of its pages. */
export interface Paged<Item> {
  readonly rows: readonly Item[];
  readonly parameters: Parameters;
  /** The absolute URL of the list, without parameters. */
  readonly url: string;
  readonly given: GivenAnswer;
  readonly show: (item: Item) => Json;
}

export interface PagedRows extends Paged<Row> {
  readonly resource: Resource;
  readonly order: readonly OrderTerm[];
  readonly context: OrderContext;
}

/** The position of a cursor among the groups of an aggregate, and the parameters of its request. */
interface GroupPosition {
  readonly list: string;
  readonly offset: number;
  readonly entries: Parameters['entries'];
}

/** The position of a cursor: before or after a row with these values. */
interface Position {
  readonly list: string;
  readonly row: Row;
  readonly isForward: boolean;
  /** Whether the page includes the row itself, as for the cursor of an empty page. */
  readonly isIncluded: boolean;
}

type Links = Pick<Paged<unknown>, 'url' | 'parameters'>;
type Changes = Readonly<Record<string, string | null>>;

/** The pages of lists (docs/reference/pagination.md). The position of an encrypted cursor is recorded when a response contains it. */
export class Pages {
  readonly cursors = new Map<string, Position>();
  readonly groupCursors = new Map<string, GroupPosition>();

  answer(paged: PagedRows, spec: PaginationSpec): Answer {
    return spec.kind === 'cursor' ? this.byCursor(paged, spec) : this.byWindow(paged, spec);
  }

  /** A page of groups; `asked` identifies the aggregate, in which alone its cursors are valid (contract 26.9). */
  answerGroups<Group>(paged: Paged<Group>, asked: string, spec: PaginationSpec): Answer {
    return spec.kind === 'cursor' ? this.groupsByCursor(paged, asked, spec) : this.byWindow(paged, spec);
  }

  private byWindow<Item>(paged: Paged<Item>, spec: PaginationSpec): Answer {
    return spec.kind === 'number' ? this.byNumber(paged, spec) : this.byOffset(paged, spec);
  }

  private groupsByCursor<Group>(paged: Paged<Group>, asked: string, spec: PaginationSpec): Answer {
    const size = sizeOf(paged.parameters, 'page_size', spec);
    const list = `${paged.url} ${asked}`;
    const text = paged.parameters.last('cursor') ?? '';
    const position = this.groupCursors.get(text);
    if (text !== '' && position?.list !== list) throw detailed(404, 'Invalid cursor');
    const offset = position?.offset ?? 0;
    const told = (name: 'next' | 'previous', at: number): Json => {
      const cursor = toldCursor(paged.given, name);
      if (cursor === undefined) return 'a link with a cursor';
      const entries = paged.parameters.entries.filter(([each]) => each !== 'cursor');
      this.groupCursors.set(cursor, { list, offset: at, entries });
      return linkTo(paged, { cursor });
    };
    const next = offset + size < paged.rows.length ? told('next', offset + size) : null;
    const previous = offset > 0 ? told('previous', Math.max(0, offset - size)) : null;
    const results = paged.rows.slice(offset, offset + size).map((each) => paged.show(each));
    return { status: 200, body: { next, previous, results } };
  }

  private byNumber<Item>(paged: Paged<Item>, spec: PaginationSpec): Answer {
    const size = sizeOf(paged.parameters, 'page_size', spec);
    const pages = Math.max(1, Math.ceil(paged.rows.length / size));
    const asked = paged.parameters.last('page') ?? '';
    const page = pageNumber(asked, isCounted(spec) ? pages : undefined);
    const offset = (page - 1) * size;
    if (page > pages || offset > (spec.maxOffset ?? 10_000)) throw detailed(404, 'Invalid page.');
    const to = (number: number): Changes => ({ page: number === 1 ? null : String(number) });
    return windowAnswer(paged, spec, {
      offset,
      size,
      next: page < pages ? to(page + 1) : undefined,
      previous: page > 1 ? to(page - 1) : undefined,
    });
  }

  private byOffset<Item>(paged: Paged<Item>, spec: PaginationSpec): Answer {
    const size = sizeOf(paged.parameters, 'limit', spec);
    const offset = wholeNumber(paged.parameters, 'offset') ?? 0;
    const maxOffset = spec.maxOffset ?? 10_000;
    if (offset > maxOffset)
      throw invalid({ offset: [`Ensure this value is less than or equal to ${maxOffset}.`] });
    const to = (number: number): Changes => ({
      limit: String(size),
      offset: number > 0 ? String(number) : null,
    });
    return windowAnswer(paged, spec, {
      offset,
      size,
      next: offset + size < paged.rows.length ? to(offset + size) : undefined,
      previous: offset > 0 ? to(offset - size) : undefined,
    });
  }

  private byCursor(paged: PagedRows, spec: PaginationSpec): Answer {
    const size = sizeOf(paged.parameters, 'page_size', spec);
    const list = `${paged.url} ${JSON.stringify(totalOrder(paged))}`;
    const text = paged.parameters.last('cursor') ?? '';
    const position = text === '' ? undefined : this.cursors.get(text);
    if (text !== '' && position?.list !== list) throw detailed(404, 'Invalid cursor');
    const { rows, before, after } = window(paged, position, size);
    const told = (name: 'next' | 'previous', row: Row | undefined): Json => {
      if (!row) return null;
      return this.learn(paged, name, {
        list,
        row,
        isForward: name === 'next',
        // The neighbour of an empty page is inclusive: the previous page ends with it, or the next page begins with it.
        isIncluded: rows.length === 0 && position?.isIncluded !== true,
      });
    };
    const [next, previous] = [
      told('next', after ? (rows.at(-1) ?? position?.row) : undefined),
      told('previous', before ? (rows[0] ?? position?.row) : undefined),
    ];
    return { status: 200, body: { next, previous, results: rows.map((row) => paged.show(row)) } };
  }

  /** The link of the response, if it is one of this list with a cursor. */
  private learn(paged: PagedRows, name: 'next' | 'previous', position: Position): Json {
    const cursor = toldCursor(paged.given, name);
    if (cursor === undefined) return 'a link with a cursor';
    this.cursors.set(cursor, position);
    return linkTo(paged, { cursor });
  }
}

/** The cursor of a link in the response. */
function toldCursor(given: GivenAnswer, name: 'next' | 'previous'): string | undefined {
  const body = parsedBody(given) as Readonly<Record<string, Json | undefined>> | undefined;
  const told = body?.[name];
  const cursor = typeof told === 'string' ? new URL(told).searchParams.get('cursor') : null;
  return cursor === null || cursor === '' ? undefined : cursor;
}

/** The order with the key as the last term, in the direction of the one before, unless the order already contains it. */
function totalOrder({ order, resource }: PagedRows): readonly OrderTerm[] {
  const ties = resource.entity.key.columns
    .map(({ name }): OrderTerm => ({ path: [name], isDescending: order.at(-1)?.isDescending === true }))
    .filter(({ path }) => !order.some((term) => term.path.join('.') === path.join('.')));
  return [...order, ...ties];
}

function window(
  { resource, rows, order, context }: PagedRows,
  position: Position | undefined,
  size: number,
): { readonly rows: readonly Row[]; readonly before: boolean; readonly after: boolean } {
  if (!position) return { rows: rows.slice(0, size), before: false, after: rows.length > size };
  const side = (row: Row): number => compareRows(resource, [row, position.row], { order, context });
  if (position.isForward) {
    const rest = rows.filter((row) => side(row) > 0 || (position.isIncluded && side(row) === 0));
    return { rows: rest.slice(0, size), before: true, after: rest.length > size };
  }
  const rest = rows.filter((row) => side(row) < 0 || (position.isIncluded && side(row) === 0));
  return { rows: rest.slice(-size), before: rest.length > size, after: true };
}

interface Window {
  readonly offset: number;
  readonly size: number;
  readonly next: Changes | undefined;
  readonly previous: Changes | undefined;
}

function windowAnswer<Item>(
  paged: Paged<Item>,
  spec: PaginationSpec,
  { offset, size, next, previous }: Window,
): Answer {
  const results = paged.rows.slice(offset, offset + size).map((row) => paged.show(row));
  if (spec.style === 'headers') {
    const counted = isCounted(spec) ? String(paged.rows.length) : null;
    const links = { ...linked(paged, 'next', next), ...linked(paged, 'prev', previous) };
    return { status: 200, body: results, headers: { 'x-total-count': counted }, links };
  }
  const count = isCounted(spec) ? paged.rows.length : null;
  const [nextLink, previousLink] = [next, previous].map((each) => (each ? linkTo(paged, each) : null));
  return {
    status: 200,
    body: { count, next: nextLink ?? null, previous: previousLink ?? null, results },
  };
}

/** Whether the default is to count: if the envelope of DRF has a count. */
function isCounted({ count, style }: PaginationSpec): boolean {
  return count === undefined ? style === 'envelope' : count === 'exact';
}

function linked(paged: Links, name: string, changes: Changes | undefined): Record<string, string> {
  return changes ? { [name]: linkTo(paged, changes) } : {};
}

function linkTo({ url, parameters }: Links, changes: Changes): string {
  const kept = parameters.entries.filter(([name]) => !(name in changes));
  const added = Object.entries(changes).filter((entry): entry is [string, string] => entry[1] !== null);
  const query = new URLSearchParams(
    [...kept, ...added].map(([name, value]): [string, string] => [name, value]),
  ).toString();
  return query === '' ? url : `${url}?${query}`;
}

function pageNumber(asked: string, pages: number | undefined): number {
  if (asked === '') return 1;
  if (asked === 'last' && pages !== undefined) return pages;
  if (!/^[1-9]\d{0,8}$/.test(asked)) throw detailed(404, 'Invalid page.');
  return Number(asked);
}

function wholeNumber(parameters: Parameters, name: string): number | undefined {
  const text = parameters.last(name) ?? '';
  if (text === '') return undefined;
  if (!/^\d+$/.test(text)) throw invalid({ [name]: ['A valid integer is required.'] });
  return Number(text);
}

function sizeOf(parameters: Parameters, name: string, { pageSize, maxPageSize }: PaginationSpec): number {
  return Math.min(wholeNumber(parameters, name) ?? pageSize, maxPageSize);
}

/** The parameters of a pagination. */
export function pageParameters(spec: PaginationSpec | undefined): string[] {
  switch (spec?.kind) {
    case 'number':
      return ['page', 'page_size'];
    case 'offset':
      return ['limit', 'offset'];
    case 'cursor':
      return ['cursor', 'page_size'];
    default:
      return [];
  }
}
