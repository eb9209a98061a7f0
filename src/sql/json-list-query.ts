import { NotFound } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { Condition } from '../core/query/condition.js';
import type { ExistsPlan, ListPlan } from '../core/query/plan.js';
import type { OrderTerm } from '../core/schema/resource.js';
import { compileWhere } from './compile-where.js';
import { compileAfter, compileOrder, cursorColumns, keyOrder } from './compile-order.js';
import type { JsonRows } from './json-object-sql.js';
import { selectList } from './select-columns.js';
import type { Scope } from './query-scope.js';
import type { Records, Statement } from './statement.js';

/** Rows as JSON with commas between, and where they end. */
export interface TextPage {
  readonly text: string;
  readonly count: number;
  /** The cursor values of the last row of a full page. */
  readonly last: readonly unknown[];
}

export interface TextPageParts {
  readonly json: JsonRows;
  readonly basePath: string;
  scope(): Scope;
}

/** No table's: inside the statement it would stand in that one's place. */
const PAGE_NAME = 'restify_page';
const PAGE = `${PAGE_NAME} p`;

/** The statements of a list whose rows the database writes itself: each brings out a whole page as one text. */
export class TextPages {
  /** Where the order is the key alone, the greatest key of a page is that of its last row. */
  private readonly key: OrderTerm | undefined;

  constructor(
    private readonly plan: ListPlan,
    private readonly parts: TextPageParts,
  ) {
    this.key = keyOrder(plan.order, plan.resource.key);
  }

  get kind(): string {
    return kindOfList(this.plan, this.parts.basePath);
  }

  /** Whose values stand at the end of the parameters of the first statement. */
  get conditions(): readonly Condition[] {
    const { where, parent } = this.plan;
    return parent ? [where, parent.where] : [where];
  }

  /** As `conditions`, of the statement behind a row; undefined where that one is another for other values. */
  conditionsBehind([value]: readonly unknown[]): readonly Condition[] | undefined {
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

  /** The first one looks for the parent too. Without `end` the page does not tell where it ends: rows stand in memory twice for that. */
  statement(
    after: readonly unknown[] | undefined,
    { limit, end }: { readonly limit: number; readonly end: boolean },
  ): Statement {
    const { where, order, parent } = this.plan;
    const scope = this.parts.scope();
    const json = this.parts.json.sql(scope, this.parts.basePath);
    const cursors = !end ? [] : this.key ? [scope.operand(this.key.operand)] : cursorColumns(order, scope);
    const conditions = [
      compileWhere(where, scope, order),
      ...(after ? [compileAfter(order, after, scope)] : []),
    ];
    const sorted = compileOrder(order, scope);
    const rows = `SELECT ${selectList([json, ...cursors])} FROM ${scope.from()} WHERE ${conditions.join(' AND ')} ORDER BY ${sorted} LIMIT ${limit}`;
    const last =
      this.key && end
        ? [
            scope.dialect.cursor(`${this.key.descending ? 'min' : 'max'}(p.c1)`, this.key.operand.column.type)
              .read,
          ]
        : cursors.map((_, index) => `(SELECT p.c${index + 1} FROM ${PAGE} LIMIT 1 OFFSET ${limit - 1})`);
    const page = [
      'count(*)',
      'count(p.c0)',
      scope.dialect.json?.joined('p.c0') ?? 'NULL',
      parent && !after ? countOf(parent, scope) : '1',
      ...last,
    ];
    return {
      sql: `WITH ${PAGE_NAME} AS (${rows}) SELECT ${selectList(page)} FROM ${PAGE}`,
      parameters: scope.parameters,
    };
  }

  /** Undefined for a page with a row that the database cannot write. Throws 404 where the parent is not there. */
  read([record = []]: Records): TextPage | undefined {
    const [count, written, text, parents, ...last] = record;
    if (Number(parents) === 0) throw new NotFound();
    if (Number(written) < Number(count)) return undefined;
    const rows = String(text ?? '');
    return this.parts.json.areRight(rows) ? { text: rows, count: Number(count), last } : undefined;
  }
}

/** Tells apart what lists of one resource ask of the same condition. */
export function kindOfList({ order, parent }: Pick<ListPlan, 'order' | 'parent'>, basePath: string): string {
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

/** How many rows a plan finds, inside a statement. */
function countOf({ resource, where }: ExistsPlan, scope: Scope): string {
  const rows = scope.within(resource);
  const condition = compileWhere(where, rows);
  return `(SELECT count(*) FROM ${rows.from()} WHERE ${condition})`;
}
