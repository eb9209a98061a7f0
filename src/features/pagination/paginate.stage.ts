import type {
  CountResult,
  CursorPosition,
  Page,
  PageResponse,
  PageContext,
  PageRequest,
  Pagination,
} from '../../core/contracts/pagination.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter, PageOf } from '../../core/data-adapter.js';
import { InvalidPage } from '../../core/errors/http-exceptions.js';
import type { PagePlan } from '../../core/query/plan.js';
import { rowsToJson } from '../../core/values/rows-to-json.js';
import { listIdentity, planPage } from '../../request/plan/plan-page.js';
import { represent } from '../../request/represent-row.js';
import { pageLinks } from '../../request/resource-urls.js';
import type { RestContext } from '../../request/rest-context.js';
import { pageValue, renderPage } from '../../request/response/json-page.js';
import type { Stage } from '../../request/stage.js';
import { jsonOutput } from '../serialization/json-output.js';

/** A page to read. */
interface PageToRead {
  readonly plan: PagePlan;
  readonly request: PageRequest;
  readonly context: PageContext;
  /** Undefined where the page's own statement counts. */
  readonly count: CountResult | undefined;
}

/**
 * Reads one page, as JSON whose rows the database serializes where possible unless its value is needed. Throws 404 if the
 * page does not exist.
 */
export function readPage(pagination: Pagination, adapter: DataAdapter): Stage {
  return async (context) => {
    const toRead = await planRequestedPage(context, pagination, adapter);
    if (!context.needsValue && !context.renderer) {
      const page = await readText(context, toRead.plan, adapter);
      context.response = renderPage(page.rows, presentPage(page, toRead, pagination));
      return;
    }
    const page = await readRows(context, toRead.plan, adapter);
    const response = presentPage(page, toRead, pagination);
    context.result = {
      value: pageValue(
        page.rows.map((row) => represent(row, context)),
        response,
      ),
      headers: response.headers,
      rowsMember: response.envelope?.rows,
    };
  };
}

async function planRequestedPage(
  context: RestContext,
  pagination: Pagination,
  adapter: DataAdapter,
): Promise<PageToRead> {
  const { list, route, keys, exchange, rows } = context;
  if (!list || !exchange) throw new Error(`A page of ${route.resource.label} is read before it is planned.`);
  const parameters = await context.parameters();
  const query = { parameters, place: listIdentity(list, route, keys.key) };
  // A pagination of the application may return a promise.
  const request = await Promise.resolve(pagination.page(query));
  const isOpen = rows.kind === 'always' && !route.parent;
  const { plan, count } = await placePage(
    planPage(list, request, { open: isOpen, defaultSize: pagination.pageSize }),
    request,
    adapter,
  );
  context.clearDeferredChecks();
  return { plan, request, count, context: { ...query, link: pageLinks(context, exchange) } };
}

/** The start of the last page is computed from the exact count, which is not repeated for the response. */
async function placePage(
  plan: PagePlan,
  { window }: PageRequest,
  adapter: DataAdapter,
): Promise<Pick<PageToRead, 'plan' | 'count'>> {
  if (window.kind !== 'last') return { plan, count: undefined };
  const count = await adapter.count({ ...plan, count: 'exact' });
  const offset = Math.floor(Math.max(count.rows - 1, 0) / window.limit) * window.limit;
  if (offset > window.maxOffset) throw new InvalidPage();
  return { plan: { ...plan, offset, count: undefined }, count };
}

async function readRows(
  { shape }: RestContext,
  plan: PagePlan,
  adapter: DataAdapter,
): Promise<PageOf<readonly Row[]>> {
  const page = await adapter.read(plan, 'rows');
  return shape ? { ...page, rows: await shape.expanded(page.rows) } : page;
}

async function readText(context: RestContext, plan: PagePlan, adapter: DataAdapter): Promise<PageOf<string>> {
  const output = jsonOutput(context);
  if (context.shape?.expands !== true) return adapter.read(plan, output);
  const page = await readRows(context, plan, adapter);
  return { ...page, rows: rowsToJson(page.rows, output.represent) };
}

function presentPage(
  page: PageOf<unknown>,
  { plan, request, count, context }: PageToRead,
  pagination: Pagination,
): PageResponse {
  const offset = request.window.kind === 'cursor' ? undefined : plan.offset;
  const around = plan.edges ? neighbours(page, plan.from) : { before: undefined, after: undefined };
  return pagination.present(
    {
      size: page.size,
      limit: plan.limit,
      offset,
      more: page.more,
      count: count ?? page.count,
      ...around,
    },
    context,
  );
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
