import { InvalidPage } from '../../core/errors/http-exceptions.js';
import type {
  CountResult,
  CursorPosition,
  Page,
  PageResponse,
  PageContext,
  PageLink,
  PageRequest,
  Pagination,
} from '../../core/contracts/pagination.js';
import type { ListPlan, PagePlan } from '../../core/query/plan.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import type { DataAdapter, PageOf } from '../../core/data-adapter.js';
import type { Located } from '../../request/rest-context.js';
import { hasDefaultSerializer } from '../../pipeline/operations.js';
import type { Operations } from '../../pipeline/operations.js';
import { writingOf } from '../../request/represent-row.js';
import { placeOf, planPage } from '../../request/plan/plan-page.js';

/** The rows of a page, in whichever form, and what is told of it. */
export interface PagedList<Rows> extends PageResponse {
  readonly rows: Rows;
}

/** A list of which one page is asked for. */
interface Asked {
  readonly list: ListPlan;
  readonly located: Located;
  readonly pagination: Pagination;
  readonly request: PageRequest;
  readonly context: PageContext;
}

/** Lists of models that have a pagination: plan, execute, serialise one page. They throw the errors of contract 6.1. */
export class PagedLists {
  constructor(
    private readonly adapter: DataAdapter,
    private readonly operations: Operations,
  ) {}

  async value(
    located: Located,
    pagination: Pagination,
    link: PageLink,
  ): Promise<PagedList<readonly Representation[]>> {
    const asked = await this.asked(located, pagination, link);
    const { represent } = writingOf(asked.located);
    return this.read(asked, async (plan) => {
      const page = await this.page(plan, asked.located);
      return { ...page, rows: page.rows.map(represent) };
    });
  }

  /** Its rows as JSON with commas between. */
  async text(located: Located, pagination: Pagination, link: PageLink): Promise<PagedList<string>> {
    const asked = await this.asked(located, pagination, link);
    const writing = writingOf(asked.located);
    return this.read(asked, async (plan) => {
      if (hasDefaultSerializer(asked.located)) return this.adapter.pageText(plan, writing);
      const page = await this.page(plan, asked.located);
      return { ...page, rows: page.rows.map((row) => JSON.stringify(writing.represent(row))).join(',') };
    });
  }

  private async page(plan: PagePlan, { shape }: Located): Promise<PageOf<readonly Row[]>> {
    const page = await this.adapter.page(plan);
    return shape ? { ...page, rows: await shape.expanded(page.rows) } : page;
  }

  private async asked(given: Located, pagination: Pagination, link: PageLink): Promise<Asked> {
    const shaped = await this.operations.shaped(given);
    // A pipe of the application's stands before them: it is asked once.
    const parameters = await this.operations.afterParent(shaped, async () => shaped.parameters());
    const located = { ...shaped, parameters: () => parameters };
    const list = await this.operations.planned(located);
    const question = { parameters, place: placeOf(list, located.route, located.keys.key) };
    const request = await this.operations.afterParent(located, () =>
      Promise.resolve(pagination.page(question)),
    );
    return { list, located, pagination, request, context: { ...question, link } };
  }

  /** Throws 404 where there is no such page. */
  private async read<Rows>(
    asked: Asked,
    read: (plan: PagePlan) => Promise<PageOf<Rows>>,
  ): Promise<PagedList<Rows>> {
    const { list, located, pagination, request, context } = asked;
    const open = located.admission.rows.kind === 'always' && !located.route.parent;
    const { plan, count } = await this.placed(planPage(list, request, open), asked);
    const page = await read(plan);
    const offset = request.window.kind === 'cursor' ? undefined : plan.offset;
    const around = plan.edges ? neighbours(page, plan.from) : { before: undefined, after: undefined };
    return {
      ...pagination.present(
        {
          size: page.size,
          limit: plan.limit,
          offset,
          more: page.more,
          count: count ?? page.count,
          ...around,
        },
        context,
      ),
      rows: page.rows,
    };
  }

  /** Where the last page begins is known when all rows are counted; they need not be counted once more. */
  private async placed(
    plan: PagePlan,
    { located, request: { window } }: Asked,
  ): Promise<{ readonly plan: PagePlan; readonly count?: CountResult }> {
    if (window.kind !== 'last') return { plan };
    return this.operations.afterParent(located, async () => {
      const count = await this.adapter.countRows({ ...plan, count: 'exact' });
      const offset = Math.floor(Math.max(count.rows - 1, 0) / window.limit) * window.limit;
      if (offset > window.maxOffset) throw new InvalidPage();
      return { plan: { ...plan, offset, count: undefined }, count };
    });
  }
}

/** Where the pages on both sides begin. A page that is empty stands where it was looked for. */
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
