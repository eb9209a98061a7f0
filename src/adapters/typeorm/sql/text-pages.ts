import type { ListPlan } from '../../../model/plan.js';
import type { OrderTerm, Resource } from '../../../model/resource.js';
import { compileWhere } from './compile-condition.js';
import { compileAfter, compileOrder, cursorColumns } from './compile-order.js';
import type { JsonRows } from './json-rows.js';
import { selectList } from './read-columns.js';
import type { Scope } from './scope.js';

/** Rows as JSON with commas between, and where they end. */
export interface TextPage {
  readonly text: string;
  readonly count: number;
  /** The cursor values of the last row. */
  readonly last: readonly unknown[];
}

export interface TextPageParts {
  readonly json: JsonRows;
  readonly basePath: string;
  readonly limit: number;
  scope(): Scope;
}

type Driven = Readonly<Record<string, unknown>>;

/** The statements of a list whose rows the database writes itself. */
export class TextPages {
  /** Where the order is the key alone, the greatest key of a page is its last: the whole page is one text. */
  private readonly key: OrderTerm | undefined;

  constructor(
    private readonly plan: ListPlan,
    private readonly parts: TextPageParts,
  ) {
    this.key = keyOrder(plan.order, plan.resource);
  }

  statement(after: readonly unknown[] | undefined): { readonly sql: string; readonly parameters: readonly unknown[] } {
    const { where, order } = this.plan;
    const scope = this.parts.scope();
    const { json: writer } = scope.dialect;
    const json = this.parts.json(scope, this.parts.basePath);
    const cursors = this.key ? [scope.operand(this.key.operand)] : cursorColumns(order, scope);
    const conditions = [compileWhere(where, scope), ...(after ? [compileAfter(order, after, scope)] : [])];
    const sorted = compileOrder(order, scope);
    const rows = `SELECT ${selectList([json, ...cursors])} FROM ${scope.from()} WHERE ${conditions.join(' AND ')} ORDER BY ${sorted} LIMIT ${this.parts.limit}`;
    if (!this.key || !writer) return { sql: rows, parameters: scope.parameters };
    const last = scope.dialect.cursor(`${this.key.descending ? 'min' : 'max'}(p.c1)`, this.key.operand.column.type).read;
    return { sql: `SELECT count(*) AS c0, count(p.c0) AS c1, ${writer.joined('p.c0')} AS c2, ${last} AS c3 FROM (${rows}) p`, parameters: scope.parameters };
  }

  /** Undefined for a page with a row that the database cannot write. */
  read(records: readonly Driven[]): TextPage | undefined {
    return this.key ? joinedPage(records[0]) : rowsPage(records);
  }
}

function joinedPage(record: Driven | undefined): TextPage | undefined {
  const [count, written] = [Number(record?.c0), Number(record?.c1)];
  return written < count ? undefined : { text: String(record?.c2 ?? ''), count, last: [record?.c3] };
}

function rowsPage(records: readonly Driven[]): TextPage | undefined {
  const texts = records.map(({ c0 }) => c0);
  if (texts.includes(null)) return undefined;
  return { text: texts.join(','), count: records.length, last: Object.values(records.at(-1) ?? {}).slice(1) };
}

function keyOrder([first, ...more]: readonly OrderTerm[], resource: Resource): OrderTerm | undefined {
  const [key, ...others] = resource.key.columns;
  if (!first || more.length > 0 || others.length > 0 || first.operand.hops.length > 0 || first.operand.column.id !== key?.id) return undefined;
  return key.type.kind === 'integer' || key.type.kind === 'bigint' ? first : undefined;
}
