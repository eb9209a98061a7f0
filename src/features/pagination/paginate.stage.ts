import type {
  CountKind,
  CountResult,
  CursorPosition,
  Page,
  PageResponse,
  PageContext,
  PageQuery,
  PageRequest,
  Pagination,
  PageWindow,
} from '../../core/contracts/pagination.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter, PageOf } from '../../core/data-adapter.js';
import { InvalidInput, InvalidPage } from '../../core/errors/http-exceptions.js';
import { columnKey } from '../../core/schema/column.js';
import { COUNTED_ROWS, MAX_LINK_HEADER } from '../../core/schema/limits.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { PagePlan, CountPlan, ListPlan } from '../../core/query/plan.js';
import { rowsToJson } from '../../core/values/rows-to-json.js';
import { chooseOutput } from '../../execution/choose-read.js';
import { jsonOutput, represent } from '../../request/represent-row.js';
import { pageLinks } from '../../request/resource-urls.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { pageValue, renderPage } from '../../request/response/json-page.js';
import { touches } from '../../core/query/condition.js';
import { parameterName } from '../../core/schema/resource-schema.js';

/** A page to read. */
interface PageToRead {
  readonly plan: PagePlan;
  readonly request: PageRequest;
  readonly context: PageContext;
  /** Undefined where the page's own statement counts. */
  readonly count: CountResult | undefined;
  /** The most characters of the header `Link`; undefined where the URL of the request limits them. */
  readonly maxLink: number | undefined;
}

export interface PageServices {
  readonly adapter: DataAdapter;
  /** Whether the header `Prefer` may ask for a cheaper count. */
  readonly readsPreferences: boolean;
}

/**
 * Reads one page, as JSON whose rows the database serializes where possible unless its value is needed. Throws 404 if the
 * page does not exist.
 */
export function readPage(pagination: Pagination, services: PageServices): Stage {
  const { adapter } = services;
  return (context) =>
    mapMaybe(planRequestedPage(context, pagination, services), (toRead) => {
      const { use, form } = chooseOutput(context);
      const { plan } = toRead;
      if (use !== 'response')
        return mapMaybe(readRows(context, plan, adapter), (page) => {
          setResult(context, page, presentPage(page, toRead, pagination));
        });
      const text =
        form === 'expanded' ? readExpanded(context, plan, adapter) : adapter.read(plan, jsonOutput(context));
      return mapMaybe(text, (page) => {
        context.response = renderPage(page.rows, presentPage(page, toRead, pagination));
      });
    });
}

function setResult(context: RestContext, page: PageOf<readonly Row[]>, response: PageResponse): void {
  context.result = {
    value: pageValue(
      page.rows.map((row) => represent(row, context)),
      response,
    ),
    headers: response.headers,
    rowsMember: response.envelope?.rows,
  };
}

function planRequestedPage(
  context: RestContext,
  pagination: Pagination,
  { adapter, readsPreferences }: PageServices,
): MaybePromise<PageToRead> {
  const { list, route, exchange, grantCondition } = context;
  if (!list || !exchange)
    throw new Error(`A page of ${route.resource.className} is read before it is planned.`);
  let place: string | undefined;
  // Only cursors need it.
  const placeOf = (): string => (place ??= listIdentity(list, context));
  const isOpen = grantCondition.kind === 'always' && !route.parent;
  const preferredCount = readsPreferences ? countPreference(exchange.header('prefer')) : undefined;
  return mapMaybe(context.parameters(), (parameters) => {
    const query: PageQuery = {
      parameters,
      preferredCount,
      get place() {
        return placeOf();
      },
    };
    // A pagination of the application may return a promise.
    return mapMaybe(pagination.page(query) as MaybePromise<PageRequest>, (request) => {
      const planned = planPage(list, request, { open: isOpen, defaultSize: pagination.pageSize });
      return mapMaybe(placePage(planned, request, adapter), ({ plan, count }) => {
        context.moveChecksIntoStatement();
        return {
          plan,
          request,
          count,
          maxLink: context.isQuery ? MAX_LINK_HEADER : undefined,
          context: {
            parameters,
            get place() {
              return placeOf();
            },
            link: pageLinks(context, exchange),
          },
        };
      });
    });
  });
}

/** `count` of a `Prefer` header (RFC 7240); other preferences and values have no effect. */
function countPreference(prefer: string | undefined): PageQuery['preferredCount'] {
  const value =
    prefer === undefined ? undefined : /(?:^|,)\s*count=(none|estimated)\s*(?:[;,]|$)/.exec(prefer)?.[1];
  return value === 'none' || value === 'estimated' ? value : undefined;
}

/** The start of the last page is computed from the exact count, which is not repeated for the response. */
function placePage(
  plan: PagePlan,
  { window }: PageRequest,
  adapter: DataAdapter,
): MaybePromise<Pick<PageToRead, 'plan' | 'count'>> {
  if (window.kind !== 'last') return { plan, count: undefined };
  return adapter.count({ ...plan, count: { kind: 'exact' } }).then((count) => {
    const offset = Math.floor(Math.max(count.rows - 1, 0) / window.limit) * window.limit;
    if (offset > window.maxOffset) throw new InvalidPage();
    return { plan: { ...plan, offset, count: undefined }, count };
  });
}

async function readRows(
  { fieldSelection }: RestContext,
  plan: PagePlan,
  adapter: DataAdapter,
): Promise<PageOf<readonly Row[]>> {
  const page = await adapter.read(plan, 'rows');
  return fieldSelection ? { ...page, rows: await fieldSelection.expanded(page.rows) } : page;
}

async function readExpanded(
  context: RestContext,
  plan: PagePlan,
  adapter: DataAdapter,
): Promise<PageOf<string>> {
  const page = await readRows(context, plan, adapter);
  return { ...page, rows: rowsToJson(page.rows, jsonOutput(context)) };
}

function presentPage(
  page: PageOf<unknown>,
  { plan, request, count, context, maxLink = Infinity }: PageToRead,
  pagination: Pagination,
): PageResponse {
  const { before, after } = plan.edges
    ? neighbours(page, plan.from)
    : { before: undefined, after: undefined };
  const response = pagination.present(
    {
      size: page.size,
      limit: plan.limit,
      offset: request.window.kind === 'cursor' ? undefined : plan.offset,
      more: page.more,
      count: count ?? page.count,
      before,
      after,
    },
    context,
  );
  return (response.headers?.Link?.length ?? 0) > maxLink ? withoutLinks(response) : response;
}

/** Throws 400 for a page beside others: without its links, it would be taken for the last one. */
function withoutLinks({ headers = {}, ...response }: PageResponse): PageResponse {
  const { Link = '', ...others } = headers;
  if (/; rel="(next|prev)"/.test(Link))
    throw InvalidInput.ofNoField(
      'There are more pages than this one, and the parameters are too many for the header with their links.',
    );
  return { ...response, headers: others };
}

/** The positions of the previous and the next page. An empty page is at the requested position. */
function neighbours(
  { size, more, first, last }: PageOf<unknown>,
  from: CursorPosition | undefined,
): Pick<Page, 'before' | 'after'> {
  const backward = from?.backward === true;
  const onward = more ? { values: last, backward, inclusive: false } : undefined;
  const back =
    from &&
    (size > 0
      ? { values: first, backward: !backward, inclusive: false }
      : { values: from.values, backward: !backward, inclusive: !from.inclusive });
  return backward ? { before: onward, after: back } : { before: back, after: onward };
}

export interface PlanPageOptions {
  /** Whether no grant hides a row of the resource from the caller. */
  readonly open: boolean;
  /** The number of rows unless the client asks for another one: statements with other numbers are not cached. */
  readonly defaultSize: number | undefined;
}

/**
 * Plans one page of the list. Throws a plain error for an invalid request of a custom pagination, which is a mistake in the
 * application.
 */
export function planPage(
  list: ListPlan,
  { window, count, countUpTo = COUNTED_ROWS }: PageRequest,
  { open, defaultSize }: PlanPageOptions,
): PagePlan {
  const { resource, where, order, parent, requester, uncacheable } = list;
  if (window.kind === 'cursor' && order.some(({ operand }) => operand.document))
    throw InvalidInput.of(parameterName('ordering', resource), 'Pages with cursors have no order by rank.');
  const { limit, offset, from, edges } = planWindow(window, order.length);
  // This number becomes part of the text of the statement.
  if (!Number.isSafeInteger(countUpTo) || countUpTo < 1)
    throw new Error(`A pagination counts up to ${JSON.stringify(countUpTo)} rows.`);
  // Written out, because the properties of a plan are copied slowly.
  return {
    kind: 'page',
    resource,
    where,
    order,
    parent,
    requester,
    limit,
    offset,
    from,
    edges,
    uncacheable: uncacheable === true || limit !== defaultSize,
    count: count && countPlan(list, { count, countUpTo }, open),
  };
}

function planWindow(
  window: PageWindow,
  terms: number,
): Pick<PagePlan, 'limit' | 'offset' | 'from' | 'edges'> {
  const offset = window.kind === 'offset' ? window.offset : 0;
  // These numbers become part of the text of the statement.
  const least = window.kind === 'offset' ? 0 : 1;
  const isWhole = (value: number, lowest: number): boolean => Number.isSafeInteger(value) && value >= lowest;
  if (!isWhole(window.limit, least) || !isWhole(offset, 0))
    throw new Error(
      `A pagination asks for ${JSON.stringify(window.limit)} rows behind ${JSON.stringify(offset)} others.`,
    );
  if (window.kind === 'cursor' && window.position && window.position.values.length !== terms)
    throw new Error(
      `A pagination names a position by ${window.position.values.length} values, in an order of ${terms}.`,
    );
  switch (window.kind) {
    case 'offset':
      return { limit: window.limit, offset, from: undefined, edges: false };
    case 'last':
      return { limit: window.limit, offset: 0, from: undefined, edges: false };
    case 'cursor':
      return { limit: window.limit, offset: 0, from: window.position, edges: true };
    default:
      return window satisfies never;
  }
}

/** The planner's statistics include all rows of all tables: an estimate is limited to callers who may see them. */
function countPlan(
  { where, parent }: ListPlan,
  { count, countUpTo: upTo }: { readonly count: CountKind; readonly countUpTo: number },
  open: boolean,
): CountPlan {
  if (count === 'exact') return { kind: 'exact' };
  return { kind: open && !parent && !touches(where, () => false) ? 'estimated' : 'bounded', upTo };
}

/**
 * Identifies a list by its prefix and its place there, and its order, types included: a cursor is only valid for the same
 * comparison.
 */
function listIdentity(
  { resource, order }: ListPlan,
  { base, route: { parent, relation }, keys: { key } }: Pick<RestContext, 'base' | 'route' | 'keys'>,
): string {
  const terms = order.map(({ operand: { joinPath, column, present }, ...rest }) => [
    joinPath.map(({ name }) => name),
    columnKey(column),
    column.type.kind,
    rest,
    ...(present ?? []).map(({ id }) => id),
  ]);
  return JSON.stringify([base, resource.id, parent?.id ?? null, relation?.name ?? null, key ?? null, terms]);
}
