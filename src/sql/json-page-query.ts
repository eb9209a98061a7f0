import { NotFound } from '../core/errors/http-exceptions.js';
import { COUNTED_ROWS } from '../core/schema/limits.js';
import type { CountPlan, ExistsPlan, ListPlan, PagePlan } from '../core/query/plan.js';
import type { OrderTerm } from '../core/schema/resource.js';
import { compileWhere } from './compile-where.js';
import { compileAfter, compileOrder, cursorColumns, keyOrder, reverseOrder } from './compile-order.js';
import type { JsonRows } from './json-object-sql.js';
import { selectList } from './select-columns.js';
import type { Scope } from './query-scope.js';
import type { Records, Statement } from './statement.js';
import type { PickedValues } from './dialects/json-writer.js';

/** Rows of a list. */
export interface PageRows extends Pick<PagePlan, 'where' | 'order' | 'from' | 'offset' | 'limit'> {
  /** Reads one row more than the page has, which tells whether there are more. */
  readonly lookahead: boolean;
}

/** A page that one statement reads as JSON, with what else it reads. */
export interface JsonPage extends PageRows, Pick<PagePlan, 'parent' | 'count'> {
  /** The rows whose cursor values are read: the last one where the page is full. */
  readonly edges: 'none' | 'last' | 'both';
}

export interface JsonRowOptions {
  readonly json: JsonRows;
  readonly basePath: string;
}

/** Rows that are selected, in the order of reading. */
export function pageRows(page: PageRows, scope: Scope, expressions: readonly string[]): string {
  const { where, from } = page;
  const order = readingOrder(page);
  const conditions = [
    compileWhere(where, scope, order),
    ...(from ? [compileAfter(order, from.values, scope, from.inclusive)] : []),
  ];
  const sorted = compileOrder(order, scope);
  return `SELECT ${selectList(expressions)} FROM ${scope.from()} WHERE ${conditions.join(' AND ')} ORDER BY ${sorted}${limitClause(page)}`;
}

function limitClause({ limit, lookahead, offset }: PageRows): string {
  return ` LIMIT ${lookahead ? limit + 1 : limit}${offset > 0 ? ` OFFSET ${offset}` : ''}`;
}

/** What is selected beside the rows, so that pages can go on from this one. */
export function edgeColumns({ edges, order }: PagePlan, scope: Scope): readonly string[] {
  return edges ? cursorColumns(order, scope) : [];
}

/** A page that ends somewhere is read from its end. */
function readingOrder({ order, from }: Pick<PagePlan, 'order' | 'from'>): readonly OrderTerm[] {
  return from?.backward === true ? reverseOrder(order) : order;
}

/** How many rows fit, but no more than one above what is counted. */
export function countStatement(
  { where }: Pick<ListPlan, 'where'>,
  scope: Scope,
  count: CountPlan,
): Statement {
  return { sql: `SELECT ${countSql(where, scope, count)} AS c0`, parameters: scope.parameters };
}

function countSql(where: ListPlan['where'], scope: Scope, count: CountPlan): string {
  const rows = scope.within(scope.resource);
  const condition = compileWhere(where, rows, []);
  const found = `FROM ${rows.from()} WHERE ${condition}`;
  return count === 'exact'
    ? `(SELECT count(*) ${found})`
    : `(SELECT count(*) FROM (SELECT 1 AS c0 ${found} LIMIT ${COUNTED_ROWS + 1}) counted)`;
}

/** All rows that fit, for a planner to look at. */
export function matchingRows({ where }: Pick<ListPlan, 'where'>, scope: Scope): string {
  const condition = compileWhere(where, scope);
  return `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition}`;
}

/** How many rows a plan finds, inside a statement. */
function countExisting({ resource, where }: ExistsPlan, scope: Scope): string {
  const rows = scope.within(resource);
  const condition = compileWhere(where, rows);
  return `(SELECT count(*) FROM ${rows.from()} WHERE ${condition})`;
}

/** No table's: inside the statement it would stand in that one's place. */
const PAGE = 'restify_page';

/**
 * A whole page as one record, its rows as one text. The page is referred to once wherever that is possible: PostgreSQL and
 * SQLite keep a copy of the rows where it is referred to twice, and SQLite then writes rows as JSON that the page does not hold.
 */
export function jsonPageStatement(page: JsonPage, scope: Scope, writing: JsonRowOptions): Statement {
  const { parent, count, where } = page;
  const edges = edgesOf(page, scope);
  const rows = jsonRowsOf(page, scope, { ...writing, edges });
  const values = [
    'count(*)',
    'count(p.c0)',
    scope.dialect.json?.joinRows('p.c0') ?? 'NULL',
    parent ? countExisting(parent, scope) : '1',
    count ? countSql(where, scope, count) : 'NULL',
    ...edges.picked.flatMap(({ sql }) => sql),
  ];
  const shown =
    page.from?.backward === true
      ? `(SELECT n.* FROM (SELECT r.*, row_number() OVER () AS place FROM ${PAGE} r) n ORDER BY n.place DESC)`
      : PAGE;
  return {
    sql: `WITH ${PAGE} AS (${rows}) SELECT ${selectList(values)} FROM ${shown} p`,
    parameters: scope.parameters,
  };
}

/** A database writes what it then leaves out as an offset: here it leaves out first, and writes then. */
function jsonRowsOf(
  page: JsonPage,
  scope: Scope,
  { json, basePath, edges }: JsonRowOptions & { readonly edges: Edges },
): string {
  const text = json.sql(scope, basePath);
  if (page.offset === 0) return pageRows(page, scope, [text, ...edges.columns(scope)]);
  const condition = compileWhere(page.where, scope, page.order);
  const sorted = compileOrder(page.order, scope);
  return `SELECT ${selectList([text])} FROM (SELECT ${scope.alias}.* FROM ${scope.from()} WHERE ${condition} ORDER BY ${sorted}${limitClause(page)}) ${scope.alias}`;
}

/** How the cursor values of the rows at the ends are read. */
interface Edges {
  /** What is selected beside each row. */
  columns(scope: Scope): readonly string[];
  /** Of each term of the order. */
  readonly picked: readonly PickedValues[];
}

const NO_EDGES: Edges = { columns: () => [], picked: [] };

function edgesOf(page: JsonPage, { dialect, resource }: Pick<Scope, 'dialect' | 'resource'>): Edges {
  const { edges, order, limit, lookahead, from } = page;
  if (edges === 'none') return NO_EDGES;
  const key = edges === 'last' && !lookahead ? keyOrder(order, resource.key) : undefined;
  if (key) {
    // In the order of the key alone, the greatest key of a page is that of its last row.
    const { read } = dialect.cursor(`${key.descending ? 'min' : 'max'}(p.c1)`, key.operand.column.type);
    return {
      columns: (scope) => [scope.operand(key.operand)],
      picked: [{ sql: [read], read: (raw) => raw }],
    };
  }
  const rows = edges === 'last' ? [limit] : [1, limit];
  const columns = order.map(({ operand }, index) => ({ name: `c${index + 1}`, type: operand.column.type }));
  // Backward, the aggregates see the rows in the other order.
  const picked =
    from?.backward === true
      ? []
      : columns.flatMap(({ name, type }) => dialect.json?.valuesAt(`p.${name}`, type, rows) ?? []);
  return {
    columns: (scope) => cursorColumns(order, scope),
    picked: picked.length === order.length ? picked : columns.map(({ name }) => readByOffset(name, rows)),
  };
}

/** By looking into the page once more. */
function readByOffset(name: string, rows: readonly number[]): PickedValues {
  return {
    sql: rows.map((row) => `(SELECT e.${name} FROM ${PAGE} e LIMIT 1 OFFSET ${row - 1})`),
    read: (raw) => raw,
  };
}

export interface JsonPageRecord {
  /** Undefined where a row of it is none that the database can write. */
  readonly text: string | undefined;
  readonly size: number;
  readonly more: boolean;
  readonly counted: number;
  readonly first: readonly unknown[];
  readonly last: readonly unknown[];
}

/** What the statement of the page has brought out. Throws 404 where the parent is not there. */
export function readJsonPage(
  [record = []]: Records,
  page: JsonPage,
  { json, scope }: { readonly json: JsonRows; readonly scope: Pick<Scope, 'dialect' | 'resource'> },
): JsonPageRecord {
  const [count, written, joined, parents, total, ...raw] = record;
  if (Number(parents) === 0) throw new NotFound();
  const size = Math.min(Number(count), page.limit);
  const more = Number(count) > size;
  const edges = readEdges(raw, edgesOf(page, scope));
  const whole = String(joined ?? '');
  const rows = more ? json.removeRow(page.from?.backward === true ? 'first' : 'last', whole) : whole;
  const isRight = edges !== undefined && Number(written) === Number(count) && json.isValidJson(rows);
  return {
    text: isRight ? rows : undefined,
    size,
    more,
    counted: Number(total),
    ...endsOf(edges ?? [], page),
  };
}

function endsOf(
  edges: readonly (readonly unknown[])[],
  page: JsonPage,
): Pick<JsonPageRecord, 'first' | 'last'> {
  return {
    first: page.edges === 'both' ? edges.map(([value]) => value) : [],
    last: edges.map((values) => values.at(-1)),
  };
}

/** The values of each term of the order; undefined where the database cannot write one of them. */
function readEdges(raw: readonly unknown[], { picked }: Edges): readonly (readonly unknown[])[] | undefined {
  let at = 0;
  const read = picked.map((each) => each.read(raw.slice(at, (at += each.sql.length))));
  return read.every((values) => values !== undefined) ? read : undefined;
}
