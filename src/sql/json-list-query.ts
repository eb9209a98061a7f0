import type { Json } from '../core/errors/rest-exception.js';
import type { Condition } from '../core/query/condition.js';
import type { ListPlan } from '../core/query/plan.js';
import type { OrderTerm } from '../core/schema/resource-schema.js';
import { keyOrder } from './compile-order.js';
import type { Dialect } from './dialects/dialect.js';
import { jsonPageStatement, readJsonPage } from './json-page-query.js';
import type { JsonPage, JsonRowOptions } from './json-page-query.js';
import type { Scope } from './query-scope.js';
import type { Records, Statement } from './statement.js';

/** One page of a list: its rows as comma-separated JSON, and the cursor of its end. */
export interface JsonListPage {
  readonly text: string;
  readonly count: number;
  /** The cursor values of the last row if the page is full. */
  readonly last: readonly unknown[];
}

export interface JsonListQueryOptions extends JsonRowOptions {
  readonly dialect: Dialect;
  scope(): Scope;
}

/** The position and size of one page of a list. */
export interface ListPageOptions {
  /** The cursor values of the preceding row; undefined for the first page. */
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
  /** Whether the cursor values of its last row are read, which takes memory for each row in the database. */
  readonly readsCursor: boolean;
}

/** Builds the statements of a list that the database serializes: each returns a whole page as one JSON string. */
export class JsonListQuery {
  /** Set if the list is ordered by the key alone: all pages after the first then share one cached statement. */
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

  /** The conditions whose values are the last parameters of the first page's statement. */
  get conditions(): readonly Condition[] {
    const { where, parent } = this.plan;
    return parent ? [where, parent.where] : [where];
  }

  /** The same for a page after a row; undefined if the SQL of that statement depends on the values. */
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

  /**
   * Undefined if the page has a row that the database cannot serialize.
   *
   * @throws NotFound if the parent does not exist.
   */
  read(records: Records, part: ListPageOptions): JsonListPage | undefined {
    const { json, dialect } = this.options;
    const { resource } = this.plan;
    const { text, size, last } = readJsonPage(records, this.pageOf(part), {
      json,
      scope: { dialect, resource },
    });
    return text === undefined ? undefined : { text, count: size, last };
  }

  /** The first page also checks that the parent exists. */
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

/** The part of the cache key that distinguishes lists of one resource with the same condition. */
export function listKind({ order, parent }: Pick<ListPlan, 'order' | 'parent'>, basePath: string): string {
  return `list ${basePath} ${parent?.resource.id ?? ''}${orderText(order)}`;
}

/** Cached for the orders that the compiled model declares; orders of a request are a new array each time. */
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
