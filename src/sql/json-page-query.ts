import { NotFound } from '../core/errors/http-exceptions.js';
import { COUNTED_ROWS } from '../core/schema/limits.js';
import type { CountPlan, ListPlan, PagePlan } from '../core/query/plan.js';
import type { OrderTerm } from '../core/schema/resource.js';
import { compileWhere } from './compile-where.js';
import { compileAfter, compileOrder, cursorColumns, reversed } from './compile-order.js';
import type { JsonRows } from './json-object-sql.js';
import { selectList } from './select-columns.js';
import type { Scope } from './query-scope.js';
import type { Records, Statement } from './statement.js';
import { countOf } from './json-list-query.js';

/** Rows that are selected, in the order of reading: one more than the page has, which tells whether there are more. */
export function pageRows(plan: PagePlan, scope: Scope, expressions: readonly string[]): string {
  const { where, limit, offset, from } = plan;
  const order = readingOrder(plan);
  const conditions = [
    compileWhere(where, scope, order),
    ...(from ? [compileAfter(order, from.values, scope, from.inclusive)] : []),
  ];
  const sorted = compileOrder(order, scope);
  return `SELECT ${selectList(expressions)} FROM ${scope.from()} WHERE ${conditions.join(' AND ')} ORDER BY ${sorted}${windowOf(limit, offset)}`;
}

function windowOf(limit: number, offset: number): string {
  return ` LIMIT ${limit + 1}${offset > 0 ? ` OFFSET ${offset}` : ''}`;
}

/** The same as texts of its own table's columns. A database writes what it then leaves out: here it leaves out first, and writes then. */
function pageTexts(
  plan: PagePlan,
  scope: Scope,
  { json, basePath }: { json: JsonRows; basePath: string },
): string {
  const { where, order, limit, offset } = plan;
  const text = json.sql(scope, basePath);
  if (offset === 0) return pageRows(plan, scope, [text, ...edgeColumns(plan, scope)]);
  const condition = compileWhere(where, scope, order);
  const sorted = compileOrder(order, scope);
  return `SELECT ${selectList([text])} FROM (SELECT ${scope.alias}.* FROM ${scope.from()} WHERE ${condition} ORDER BY ${sorted}${windowOf(limit, offset)}) ${scope.alias}`;
}

/** What is selected beside the rows, so that pages can go on from this one. */
export function edgeColumns({ edges, order }: PagePlan, scope: Scope): readonly string[] {
  return edges ? cursorColumns(order, scope) : [];
}

/** A page that ends somewhere is read from its end. */
function readingOrder({ order, from }: PagePlan): readonly OrderTerm[] {
  return from?.backward === true ? reversed(order) : order;
}

/** How many rows fit, but no more than one above what is counted. */
export function countStatement(
  { where }: Pick<ListPlan, 'where'>,
  scope: Scope,
  count: CountPlan,
): Statement {
  return { sql: `SELECT ${counted(where, scope, count)} AS c0`, parameters: scope.parameters };
}

function counted(where: ListPlan['where'], scope: Scope, count: CountPlan): string {
  const rows = scope.within(scope.resource);
  const condition = compileWhere(where, rows, []);
  const found = `FROM ${rows.from()} WHERE ${condition}`;
  return count === 'exact'
    ? `(SELECT count(*) ${found})`
    : `(SELECT count(*) FROM (SELECT 1 AS c0 ${found} LIMIT ${COUNTED_ROWS + 1}) counted)`;
}

/** All rows that fit, for a planner to look at. */
export function fittingRows({ where }: Pick<ListPlan, 'where'>, scope: Scope): string {
  const condition = compileWhere(where, scope);
  return `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition}`;
}

/** No table's: inside the statement it would stand in that one's place. */
const READ = 'restify_page';

/** A whole page as one record, its rows as one text; it looks for the parent and counts, where the plan says so. */
export function textPageStatement(
  plan: PagePlan,
  scope: Scope,
  writing: { json: JsonRows; basePath: string },
): Statement {
  const { limit, parent, where, count } = plan;
  const rows = pageTexts(plan, scope, writing);
  const edgeAt = (offset: number): readonly string[] =>
    (plan.edges ? plan.order : []).map(
      (_, index) => `(SELECT e.c${index + 1} FROM ${READ} e LIMIT 1 OFFSET ${offset})`,
    );
  const values = [
    'count(*)',
    'count(p.c0)',
    scope.dialect.json?.joined('p.c0') ?? 'NULL',
    `(SELECT count(*) FROM ${READ} r)`,
    parent ? countOf(parent, scope) : '1',
    count ? counted(where, scope, count) : 'NULL',
    ...edgeAt(0),
    ...edgeAt(limit - 1),
  ];
  const page = `SELECT * FROM ${READ} r LIMIT ${limit}`;
  const shown =
    plan.from?.backward === true
      ? `SELECT n.* FROM (SELECT r.*, row_number() OVER () AS place FROM (${page}) r) n ORDER BY n.place DESC`
      : page;
  return {
    sql: `WITH ${READ} AS (${rows}) SELECT ${selectList(values)} FROM (${shown}) p`,
    parameters: scope.parameters,
  };
}

export interface TextPageRecord {
  /** Undefined where a row of it is none that the database can write. */
  readonly text: string | undefined;
  readonly size: number;
  readonly more: boolean;
  readonly counted: number;
  readonly first: readonly unknown[];
  readonly last: readonly unknown[];
}

/** Throws 404 where the parent is not there. */
export function readTextPage([record = []]: Records, json: JsonRows): TextPageRecord {
  const [size, written, text, read, parents, total, ...edges] = record;
  if (Number(parents) === 0) throw new NotFound();
  const half = edges.length / 2;
  const rows = String(text ?? '');
  return {
    text: Number(written) < Number(size) || !json.areRight(rows) ? undefined : rows,
    size: Number(size),
    more: Number(read) > Number(size),
    counted: Number(total),
    first: edges.slice(0, half),
    last: edges.slice(half),
  };
}
