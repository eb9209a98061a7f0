import type { RowSeparator } from '../core/data-adapter.js';
import { NotFound } from '../core/errors/http-exceptions.js';
import type { CountPlan, ExistsPlan, ListPlan, PagePlan } from '../core/query/plan.js';
import { columnKey } from '../core/schema/column.js';
import type { OrderTerm } from '../core/schema/resource-schema.js';
import { compileWhere, TRUE } from './compile-where.js';
import {
  boundsOf,
  compileAfter,
  compileOrder,
  cursorColumns,
  keyOrder,
  reverseOrder,
} from './compile-order.js';
import type { JsonRowCompiler } from './json-object-sql.js';
import { selectList } from './query-scope.js';
import type { Scope } from './query-scope.js';
import { insertStoredJson } from './stored-json.js';
import { compileSegment, otherIndexOf, requiredPaths, segmentsAfter, segmentsOf } from './page-segments.js';
import type { Segment } from './page-segments.js';
import type { Records, Statement } from './statement.js';
import type { PickedValues } from './dialects/json-writer.js';

/** The window of rows of one page. */
export interface PageRows extends Pick<PagePlan, 'where' | 'order' | 'from' | 'offset' | 'limit'> {
  /** Reads one row more than the page has, to detect a next page. */
  readonly lookahead: boolean;
}

/** A page that one statement reads as JSON, together with its parent check, count and cursors. */
export interface JsonPage extends PageRows, Pick<PagePlan, 'parent' | 'count'> {
  /** The rows whose cursor values are read; the last row only if the page is full. */
  readonly edges: 'none' | 'last' | 'both';
}

export interface JsonRowOptions {
  readonly json: JsonRowCompiler;
  readonly basePath: string;
}

/**
 * The SELECT of the rows of a page, in reading order, as the first part of a statement. `isCostly`: whether the expressions should be
 * evaluated for no other rows.
 */
export function pageRows(
  page: PageRows,
  scope: Scope,
  { expressions, isCostly }: { readonly expressions: readonly string[]; readonly isCostly: boolean },
): string {
  if (!isCostly || !scope.dialect.evaluatesBeforeSort) return foundRows(page, scope, selectList(expressions));
  const found = scope.within(scope.resource);
  scope.setDerivedTable(foundRows(page, found, `${found.alias}.*`));
  const sorted = compileOrder(readingOrder(page), scope);
  return `SELECT ${selectList(expressions)} FROM ${scope.from()} ORDER BY ${sorted}`;
}

function foundRows(page: PageRows, scope: Scope, selected: string): string {
  const { where, from } = page;
  const order = readingOrder(page);
  const found = compileWhere(where, scope, order);
  const segments = segmentsOfPage(page, scope);
  if (segments.length > 1) return joinSegments(segments, { selected, found, page }, scope);
  const conditions = [found, ...(from ? [compileAfter(order, from, scope)] : [])];
  const sorted = compileOrder(order, scope);
  return `SELECT ${selected} FROM ${scope.from()} WHERE ${conditions.join(' AND ')} ORDER BY ${sorted}${limitClause(page, scope)}`;
}

/** None where the page is better read as a whole. */
function segmentsOfPage(page: PageRows, scope: Scope): readonly Segment[] {
  const { where, from, offset } = page;
  if (scope.dialect.keyset !== 'segments' || offset > 0 || otherIndexOf(where, scope.resource) === 'several')
    return [];
  const order = readingOrder(page);
  return from ? segmentsAfter(boundsOf(order, from.values), from.inclusive, scope) : segmentsOf(order, scope);
}

interface SegmentParts {
  readonly selected: string;
  /** The compiled condition of the page, whose parameters are the last that were bound. */
  readonly found: string;
  readonly page: PageRows;
}

/** One SELECT for each segment. The database reads a segment only if those before it have too few rows. */
function joinSegments(
  segments: readonly Segment[],
  { selected, found, page }: SegmentParts,
  scope: Scope,
): string {
  const isOnly = otherIndexOf(page.where, scope.resource) === 'none';
  const bound = scope.parameters.length;
  const compiled = segments.map((segment, index) => {
    if (index > 0) scope.repeatParameters(bound);
    const condition = compileSegment(segment, scope, isOnly);
    const sorted = compileOrder(segment.order, scope);
    return { segment, condition, sorted: sorted === '' ? '' : ` ORDER BY ${sorted}` };
  });
  // Behind all parts that may add a join.
  const rows = compiled.map(
    ({ segment, condition, sorted }) =>
      `SELECT * FROM (SELECT ${selected} FROM ${scope.from(requiredPaths(segment))} WHERE ${found} AND ${condition}${sorted}${limitClause(page, scope)})`,
  );
  return `${rows.join(' UNION ALL ')}${limitClause(page, scope)}`;
}

/** Call it last, because it binds the offset. */
function limitClause({ limit, lookahead, offset }: PageRows, scope: Scope): string {
  return ` LIMIT ${lookahead ? limit + 1 : limit}${offset === 0 ? '' : ` OFFSET ${scope.bindRaw(offset)}`}`;
}

/** The cursor columns that are selected with each row. */
export function edgeColumns({ edges, order }: PagePlan, scope: Scope): readonly string[] {
  return edges ? cursorColumns(order, scope) : [];
}

/** A backward page is read from its end, in inverse order. */
function readingOrder({ order, from }: Pick<PagePlan, 'order' | 'from'>): readonly OrderTerm[] {
  return from?.backward === true ? reverseOrder(order) : order;
}

/** Counts the matching rows, exactly or up to one more than `upTo` of the count. */
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
  // SQLite counts a table without reading its rows only if there is no WHERE at all.
  const found = `FROM ${rows.from()}${condition === TRUE ? '' : ` WHERE ${condition}`}`;
  return count.kind === 'exact'
    ? `(SELECT count(*) ${found})`
    : `(SELECT count(*) FROM (SELECT 1 AS c0 ${found} LIMIT ${count.upTo + 1}) counted)`;
}

/** A SELECT of all matching rows, for the estimate of the query planner. */
export function matchingRows({ where }: Pick<ListPlan, 'where'>, scope: Scope): string {
  const condition = compileWhere(where, scope);
  return `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition}`;
}

/** A scalar subquery that counts the rows of an existence check. */
function countExisting({ resource, where }: ExistsPlan, scope: Scope): string {
  const rows = scope.within(resource);
  const condition = compileWhere(where, rows);
  return `(SELECT count(*) FROM ${rows.from()} WHERE ${condition})`;
}

/** The name of the CTE. It must differ from every table name, because inside the statement it would shadow the table. */
const PAGE = 'restify_page';

/**
 * A statement that returns a whole page as one record, its rows as one JSON string. The CTE is referred to once wherever
 * possible: PostgreSQL and SQLite materialize one that is referred to twice, and SQLite then also serializes rows outside of the page.
 */
export function jsonPageStatement(page: JsonPage, scope: Scope, writing: JsonRowOptions): Statement {
  const { parent, count, where } = page;
  const edges = selectEdges(page, scope);
  const rows = jsonRowsOf(page, scope, { ...writing, edges });
  const { json } = scope.dialect;
  const values = [
    'count(*)',
    'count(p.c0)',
    json?.joinRows('p.c0') ?? 'NULL',
    parent ? countExisting(parent, scope) : '1',
    count ? countSql(where, scope, count) : 'NULL',
    ...edges.picked.flatMap(({ sql }) => sql),
    ...writing.json.stored.map((_, index) => json?.joinTexts(`p.c${1 + edges.width + index}`) ?? 'NULL'),
  ];
  const shown =
    page.from?.backward === true
      ? `(SELECT n.* FROM (SELECT r.*, row_number() OVER () AS place FROM ${PAGE} r) n ORDER BY n.place DESC)`
      : PAGE;
  return scope.complete(`WITH ${PAGE} AS (${rows}) SELECT ${selectList(values)} FROM ${shown} p`);
}

/** Applies an offset in a subquery, so that the database does not serialize the skipped rows. */
function jsonRowsOf(
  page: JsonPage,
  scope: Scope,
  { json, basePath, edges }: JsonRowOptions & { readonly edges: Edges },
): string {
  const text = json.sql(scope, basePath);
  const stored = json.stored.map(({ sql }) => sql(scope));
  const expressions = [text, ...edges.columns(scope), ...stored];
  if (page.offset === 0) return pageRows(page, scope, { expressions, isCostly: stored.length > 0 });
  const condition = compileWhere(page.where, scope, page.order);
  const sorted = compileOrder(page.order, scope);
  return `SELECT ${selectList([text, ...stored])} FROM (SELECT ${scope.alias}.* FROM ${scope.from()} WHERE ${condition} ORDER BY ${sorted}${limitClause(page, scope)}) ${scope.alias}`;
}

/** How the cursor values of the first and last row are read. */
interface Edges {
  /** The columns selected with each row. */
  columns(scope: Scope): readonly string[];
  /** The number of these columns. */
  readonly width: number;
  /** The aggregates, one per term of the order. */
  readonly picked: readonly PickedValues[];
}

const NO_EDGES: Edges = { columns: () => [], width: 0, picked: [] };

function selectEdges(page: JsonPage, { dialect, resource }: Pick<Scope, 'dialect' | 'resource'>): Edges {
  const { edges, order, limit, lookahead, from } = page;
  if (edges === 'none') return NO_EDGES;
  const key = edges === 'last' && !lookahead ? keyOrder(order, resource.key) : undefined;
  if (key) {
    // Ordered by the key alone, the last row of a page has its greatest key (the least in descending order).
    const { read } = dialect.cursor(`${key.descending ? 'min' : 'max'}(p.c1)`, key.operand.column.type);
    return {
      columns: (scope) => [scope.operand(key.operand)],
      width: 1,
      picked: [{ sql: [read], read: (raw) => raw }],
    };
  }
  const rows = edges === 'last' ? [limit] : [1, limit];
  const columns = order.map(({ operand }, index) => ({ name: `c${index + 1}`, type: operand.column.type }));
  // For a backward page, the aggregates see the rows in inverse order.
  const picked =
    from?.backward === true
      ? []
      : columns.flatMap(({ name, type }) => dialect.json?.valuesAt(`p.${name}`, type, rows) ?? []);
  return {
    columns: (scope) => cursorColumns(order, scope),
    width: order.length,
    picked: picked.length === order.length ? picked : columns.map(({ name }) => readByOffset(name, rows)),
  };
}

/** Reads the values by a second reference to the CTE. */
function readByOffset(name: string, rows: readonly number[]): PickedValues {
  return {
    sql: rows.map((row) => `(SELECT e.${name} FROM ${PAGE} e LIMIT 1 OFFSET ${row - 1})`),
    read: (raw) => raw,
  };
}

export interface JsonPageRecord {
  /** Undefined if the database could not serialize one of its rows. */
  readonly text: string | undefined;
  readonly size: number;
  readonly more: boolean;
  readonly counted: number;
  readonly first: readonly unknown[];
  readonly last: readonly unknown[];
}

interface ReadPageOptions {
  readonly json: JsonRowCompiler;
  readonly scope: Pick<Scope, 'dialect' | 'resource'>;
  /** What separates the rows of the text. Default: a comma. */
  readonly separator?: RowSeparator | undefined;
}

/**
 * Decodes the record that the statement of the page returned.
 *
 * @throws NotFound if the parent does not exist.
 */
export function readJsonPage(
  [record = []]: Records,
  page: JsonPage,
  { json, scope, separator = ',' }: ReadPageOptions,
): JsonPageRecord {
  const [count, written, joined, parents, total, ...raw] = record;
  if (Number(parents) === 0) throw new NotFound();
  const size = Math.min(Number(count), page.limit);
  const more = Number(count) > size;
  const edges = readEdges(raw, selectEdges(page, scope));
  const whole = String(joined ?? '');
  const surplus = more ? surplusRow(page) : undefined;
  const rows = surplus ? json.removeRow(surplus, whole) : whole;
  const isRight = edges !== undefined && Number(written) === Number(count) && json.isValidJson(rows);
  // The values of the edges come first.
  const texts = raw.slice(raw.length - json.stored.length);
  const stored = { texts, total: Number(count), count: size, skipped: surplus === 'first' ? 1 : 0 };
  return {
    text: isRight ? insertStoredJson(json.separate(rows, separator), json.stored, stored) : undefined,
    size,
    more,
    counted: Number(total),
    first: page.edges === 'both' ? (edges ?? []).map(([value]) => value) : [],
    last: (edges ?? []).map((values) => values.at(-1)),
  };
}

/** The row that was read to detect another page. */
function surplusRow({ from }: JsonPage): 'first' | 'last' {
  return from?.backward === true ? 'first' : 'last';
}

/** The cursor values of each term of the order; undefined if one of them cannot be read exactly. */
function readEdges(raw: readonly unknown[], { picked }: Edges): readonly (readonly unknown[])[] | undefined {
  let at = 0;
  const read = picked.map((each) => each.read(raw.slice(at, (at += each.sql.length))));
  return read.every((values) => values !== undefined) ? read : undefined;
}

/** The part of the cache key that distinguishes lists of one resource with the same condition. */
export function listKind({ order, parent }: Pick<ListPlan, 'order' | 'parent'>, basePath: string): string {
  return `list ${basePath} ${parent?.resource.id ?? ''}${orderText(order)}`;
}

/** Cached for the orders that the compiled model declares; orders of a request are a new array each time. */
const ORDER_TEXTS = new WeakMap<readonly OrderTerm[], string>();

/** Identifies an order in cache keys. */
export function orderText(order: readonly OrderTerm[]): string {
  const known = ORDER_TEXTS.get(order);
  if (known !== undefined) return known;
  let text = '';
  for (const { operand, descending, nulls = '' } of order)
    text += ` ${operand.joinPath.map(({ name }) => `${name}/`).join('')}${JSON.stringify(columnKey(operand.column))}${operand.present ? '?' : ''}${descending ? '-' : '+'}${nulls}`;
  ORDER_TEXTS.set(order, text);
  return text;
}
