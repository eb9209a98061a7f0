import { NotFound } from '../../../errors/request-errors.js';
import type { Condition } from '../../../model/condition.js';
import type { ListPlan } from '../../../model/plan.js';
import type { OrderTerm, Resource } from '../../../model/resource.js';
import { compileWhere } from './compile-condition.js';
import { compileAfter, compileOrder, cursorColumns } from './compile-order.js';
import type { JsonRows } from './json-rows.js';
import { selectList } from './read-columns.js';
import type { Scope } from './scope.js';
import type { Records, Statement } from './statement.js';

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

/** The statements of a list whose rows the database writes itself. */
export class TextPages {
  /** Where the order is the key alone, the greatest key of a page is its last: the whole page is one text. */
  private readonly key: OrderTerm | undefined;
  /** The first statement looks for the parent too. */
  readonly findParent: boolean;

  constructor(
    private readonly plan: ListPlan,
    private readonly parts: TextPageParts,
  ) {
    this.key = keyOrder(plan.order, plan.resource);
    this.findParent = this.key !== undefined && plan.parent !== undefined;
  }

  /** Tells apart what lists of one resource ask of the same condition. */
  get kind(): string {
    const { order, parent } = this.plan;
    const terms = order.map(({ operand, descending }) => `${[...operand.hops.map(({ name }) => name), operand.column.id].join('/')} ${descending ? '-' : '+'}`);
    return JSON.stringify([this.parts.basePath, terms, this.findParent ? parent?.resource.id : undefined]);
  }

  /** Whose values stand at the end of the parameters of the first statement. */
  get conditions(): readonly Condition[] {
    const { where, parent } = this.plan;
    return this.findParent && parent ? [where, parent.where] : [where];
  }

  statement(after: readonly unknown[] | undefined): Statement {
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
    const parent = after ? '' : this.parentCount(scope);
    return { sql: `WITH p AS (${rows}) SELECT count(*) AS c0, count(p.c0) AS c1, ${writer.joined('p.c0')} AS c2, ${last} AS c3${parent} FROM p`, parameters: scope.parameters };
  }

  private parentCount(scope: Scope): string {
    const { parent } = this.plan;
    if (!parent) return '';
    const above = scope.within(parent.resource);
    const condition = compileWhere(parent.where, above);
    return `, (SELECT count(*) FROM ${above.from()} WHERE ${condition}) AS c4`;
  }

  /** Undefined for a page with a row that the database cannot write. Throws 404 where the parent is not there. */
  read(records: Records): TextPage | undefined {
    return this.key ? joinedPage(records[0] ?? []) : rowsPage(records);
  }
}

function joinedPage([count, written, text, last, parents]: readonly unknown[]): TextPage | undefined {
  if (parents !== undefined && Number(parents) === 0) throw new NotFound();
  return Number(written) < Number(count) ? undefined : { text: String(text ?? ''), count: Number(count), last: [last] };
}

function rowsPage(records: Records): TextPage | undefined {
  const texts = records.map(([text]) => text);
  if (texts.includes(null)) return undefined;
  return { text: texts.join(','), count: records.length, last: records.at(-1)?.slice(1) ?? [] };
}

function keyOrder([first, ...more]: readonly OrderTerm[], resource: Resource): OrderTerm | undefined {
  const [key, ...others] = resource.key.columns;
  if (!first || more.length > 0 || others.length > 0 || first.operand.hops.length > 0 || first.operand.column.id !== key?.id) return undefined;
  return key.type.kind === 'integer' || key.type.kind === 'bigint' ? first : undefined;
}
