import type { Json } from '../core/errors/rest-exception.js';
import type { Condition } from '../core/query/condition.js';
import type { ListPlan } from '../core/query/plan.js';
import type { OrderTerm } from '../core/schema/resource.js';
import { keyOrder } from './compile-order.js';
import type { Dialect } from './dialects/dialect.js';
import { jsonPageStatement, readJsonPage } from './json-page-query.js';
import type { JsonPage, JsonRowOptions } from './json-page-query.js';
import type { Scope } from './query-scope.js';
import type { Records, Statement } from './statement.js';

/** Rows as JSON with commas between, and where they end. */
export interface JsonListPage {
  readonly text: string;
  readonly count: number;
  /** The cursor values of the last row of a full page. */
  readonly last: readonly unknown[];
}

export interface JsonListQueryOptions extends JsonRowOptions {
  readonly dialect: Dialect;
  scope(): Scope;
}

/** The rows of one page of a list. */
export interface ListPageOptions {
  /** The cursor values of the row before; undefined for the first page. */
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
  /** Whether the cursor values of its last row are read, which takes memory for each row. */
  readonly readsCursor: boolean;
}

/** The statements of a list whose rows the database writes itself: each brings out a whole page as one text. */
export class JsonListQuery {
  /** Where the order is the key alone, all pages after the first have one statement. */
  private readonly key: OrderTerm | undefined;

  constructor(
    private readonly plan: ListPlan,
    private readonly options: JsonListQueryOptions,
  ) {
    this.key = keyOrder(plan.order, plan.resource.key);
  }

  get kind(): string {
    return listKind(this.plan, this.options.basePath);
  }

  /** Whose values stand at the end of the parameters of the first statement. */
  get conditions(): readonly Condition[] {
    const { where, parent } = this.plan;
    return parent ? [where, parent.where] : [where];
  }

  /** As `conditions`, of the statement behind a row; undefined where that one is another for other values. */
  conditionsAfter([value]: readonly unknown[]): readonly Condition[] | undefined {
    return (
      this.key && [
        this.plan.where,
        {
          kind: 'compare',
          operand: this.key.operand,
          lookup: this.key.descending ? 'lt' : 'gt',
          value: value as Json,
        },
      ]
    );
  }

  statement(part: ListPageOptions): Statement {
    return jsonPageStatement(this.pageOf(part), this.options.scope(), this.options);
  }

  /** Undefined for a page with a row that the database cannot write. Throws 404 where the parent is not there. */
  read(records: Records, part: ListPageOptions): JsonListPage | undefined {
    const { json, dialect } = this.options;
    const { resource } = this.plan;
    const { text, size, last } = readJsonPage(records, this.pageOf(part), {
      json,
      scope: { dialect, resource },
    });
    return text === undefined ? undefined : { text, count: size, last };
  }

  /** The first one looks for the parent too. */
  private pageOf({ after, limit, readsCursor }: ListPageOptions): JsonPage {
    const { where, order, parent } = this.plan;
    return {
      where,
      order,
      from: after && { values: after, backward: false, inclusive: false },
      offset: 0,
      limit,
      lookahead: false,
      edges: readsCursor ? 'last' : 'none',
      parent: after ? undefined : parent,
      count: undefined,
    };
  }
}

/** Tells apart what lists of one resource ask of the same condition. */
export function listKind({ order, parent }: Pick<ListPlan, 'order' | 'parent'>, basePath: string): string {
  return `list ${basePath} ${parent?.resource.id ?? ''}${orderText(order)}`;
}

/** Of the orders that models have of their own; others are another list for each request. */
const ORDER_TEXTS = new WeakMap<readonly OrderTerm[], string>();

function orderText(order: readonly OrderTerm[]): string {
  const known = ORDER_TEXTS.get(order);
  if (known !== undefined) return known;
  let text = '';
  for (const { operand, descending, nulls = '' } of order)
    text += ` ${operand.hops.map(({ name }) => `${name}/`).join('')}${JSON.stringify(operand.column.id)}${descending ? '-' : '+'}${nulls}`;
  ORDER_TEXTS.set(order, text);
  return text;
}
