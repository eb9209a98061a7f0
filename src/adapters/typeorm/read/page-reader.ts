import type { QueryRunner } from 'typeorm';
import type { CountResult } from '../../../core/contracts/pagination.js';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { CountPlan, PagePlan } from '../../../core/query/plan.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { JsonOutput, PageOf } from '../../../core/data-adapter.js';
import { rowsToJson } from '../../../core/values/rows-to-json.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import {
  countStatement,
  edgeColumns,
  matchingRows,
  jsonPageStatement,
  listKind,
  pageRows,
  readJsonPage,
} from '../../../sql/json-page-query.js';
import type { JsonPage } from '../../../sql/json-page-query.js';
import type { JsonRows } from '../../../sql/json-object-sql.js';
import { Scope } from '../../../sql/query-scope.js';
import { labelStatement } from '../../../sql/label-statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { Records, Statement } from '../../../sql/statement.js';
import type { Tables } from '../table-metadata.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { RowReader, RowReaderTools } from './row-reader.js';

/** The result once the client has disconnected. */
const EMPTY = { size: 0, more: false, count: undefined, first: [], last: [] } as const;

interface JsonPageQuery {
  readonly plan: PagePlan;
  readonly output: JsonOutput;
  readonly json: JsonRows;
}

/** Reads single pages of one resource. */
export class PageReader {
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  private readonly statements: StatementCache;

  constructor(
    private readonly reader: RowReader,
    { tables, dialect, connections }: RowReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.statements = new StatementCache(dialect, reader.isClientSelected);
  }

  async rows(plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    await this.reader.assertParentExists(plan);
    const read = (runner: QueryRunner): Promise<PageOf<readonly Row[]>> => this.readRows(runner, plan);
    if (plan.forWriting === true) return this.connections.reading('primary', read, plan.requester);
    return (await this.connections.readingUnlessAborted(read, plan.requester)) ?? { ...EMPTY, rows: [] };
  }

  /** As `rows`, with the rows as one text, which the database writes where possible. */
  json(plan: PagePlan, output: JsonOutput): MaybePromise<PageOf<string>> {
    const json = this.reader.jsonRowsFor(output);
    if (!json) return this.serialize(plan, output);
    try {
      const statement = this.jsonStatement(plan, output, json);
      const toPage = (records: Records | undefined): MaybePromise<PageOf<string>> =>
        records ? this.decodePage(records, { plan, output, json }) : { ...EMPTY, rows: '' };
      const read = this.reader.readJson(
        () => mapMaybe(this.connections.readUnlessAborted(statement, plan.requester), toPage),
        () => this.serialize(plan, output),
      );
      return isPromise(read)
        ? read.catch((error: unknown) => this.reader.rethrowAfterParent(plan, error))
        : read;
    } catch (error) {
      return this.reader.rethrowAfterParent(plan, error);
    }
  }

  /** Counts as the plan's `count` says, without reading the page. */
  count(plan: PagePlan): Promise<CountResult> {
    return this.connections.reading('replica', (runner) => this.countRows(runner, plan), plan.requester);
  }

  private async readRows(runner: QueryRunner, plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    const scope = this.begin(plan);
    const { selection } = this.reader;
    const sql = pageRows({ ...plan, lookahead: true }, scope, {
      expressions: [...selection.expressions(scope), ...edgeColumns(plan, scope)],
      isCostly: selection.isCostly,
    });
    const read = await this.connections.records(runner, { sql, parameters: scope.parameters });
    const records = read.slice(0, plan.limit);
    const rows = await this.reader.rowsOf(records, runner);
    const edges = edgesOf(records, plan);
    const count = plan.count && (await this.countRows(runner, plan));
    return {
      rows: plan.from?.backward === true ? [...rows].reverse() : rows,
      size: rows.length,
      more: read.length > records.length,
      count,
      ...edges,
    };
  }

  private decodePage(records: Records, { plan, output, json }: JsonPageQuery): MaybePromise<PageOf<string>> {
    const { text, counted, size, more, first, last } = readJsonPage(records, jsonPageOf(plan), {
      json,
      scope: { dialect: this.dialect, resource: plan.resource },
    });
    // The page has a row that the database cannot serialize.
    if (text === undefined) return this.serialize(plan, output);
    const count = plan.count && knownCount(plan.count, counted, this.dialect);
    if (plan.count && !count)
      return this.estimate(plan, plan.count).then((estimated) => ({
        rows: text,
        size,
        more,
        first,
        last,
        count: estimated,
      }));
    return { rows: text, size, more, first, last, count };
  }

  private async serialize(plan: PagePlan, output: JsonOutput): Promise<PageOf<string>> {
    const { rows, ...page } = await this.rows(plan);
    return { ...page, rows: rowsToJson(rows, output) };
  }

  private jsonStatement(plan: PagePlan, { basePath }: JsonOutput, json: JsonRows): Statement {
    const { where, parent, count, edges, limit, from, offset } = plan;
    const compile = (position: readonly unknown[]): Statement =>
      labelStatement(
        jsonPageStatement(pageAt(plan, position), this.begin(plan), { json, basePath }),
        { operation: 'list', resource: plan.resource },
        [plan, ...(parent ? [parent] : [])],
      );
    const position = [...(from?.values ?? []), ...(offset === 0 ? [] : [offset])];
    if (plan.oneOff === true) return compile(position);
    const conditions = [where, ...(parent ? [parent.where] : []), ...(count ? [where] : [])];
    const kind = `${limit} ${edges} ${countText(count)} ${listKind(plan, basePath)}`;
    if (position.length === 0) return this.statements.of(kind, conditions, () => compile(position));
    const side = from ? `${from.backward ? 'before' : 'after'} ${from.inclusive}` : '';
    return this.statements.ofPosition(`${side} ${offset === 0} ${kind}`, { conditions, position }, compile);
  }

  private async countRows(runner: QueryRunner, plan: PagePlan): Promise<CountResult> {
    const method = plan.count ?? EXACT;
    const [record = []] = await this.connections.records(
      runner,
      countStatement(plan, this.begin(plan), method),
    );
    return knownCount(method, Number(record[0]), this.dialect) ?? this.estimateOn(runner, plan, method);
  }

  private estimate(plan: PagePlan, count: CountPlan): Promise<CountResult> {
    return this.connections.reading(
      'replica',
      (runner) => this.estimateOn(runner, plan, count),
      plan.requester,
    );
  }

  private async estimateOn(runner: QueryRunner, plan: PagePlan, count: CountPlan): Promise<CountResult> {
    const { estimate } = this.dialect;
    const scope = this.begin(plan);
    const [record = []] = estimate
      ? await this.connections.records(runner, {
          sql: estimate.explain(matchingRows(plan, scope)),
          parameters: scope.parameters,
        })
      : [];
    const counted = count.kind === 'exact' ? 0 : count.upTo;
    const rows = estimate?.rows(record[0]) ?? 0;
    return { rows: Math.max(rows, counted), exact: false, atLeast: rows <= counted };
  }

  private begin({ resource }: PagePlan): Scope {
    return Scope.begin(this.dialect, this.tables, resource);
  }
}

const EXACT: CountPlan = { kind: 'exact' };

/** The count up to the bound; undefined beyond it, if the database can estimate it. */
function knownCount(count: CountPlan, rows: number, { estimate }: Dialect): CountResult | undefined {
  if (count.kind === 'exact' || rows <= count.upTo) return { rows, exact: true, atLeast: false };
  return count.kind === 'bounded' || !estimate
    ? { rows: count.upTo, exact: false, atLeast: true }
    : undefined;
}

/** Identifies a count in cache keys: statements of a bounded and of an estimated count are equal. */
function countText(count: CountPlan | undefined): string {
  if (!count) return '';
  return count.kind === 'exact' ? 'exact' : `${count.upTo}`;
}

/** Written out, because the properties of a plan are copied slowly. */
function jsonPageOf({ where, order, from, offset, limit, parent, count, edges }: PagePlan): JsonPage {
  return {
    where,
    order,
    from,
    offset,
    limit,
    parent,
    count,
    lookahead: true,
    edges: edges ? 'both' : 'none',
  };
}

/** The page at another position: the values of the row at which it starts, and the offset unless it is 0. */
function pageAt(plan: PagePlan, position: readonly unknown[]): JsonPage {
  const { from } = plan;
  const page = jsonPageOf(plan);
  return {
    ...page,
    from: from && { ...from, values: position.slice(0, from.values.length) },
    offset: plan.offset === 0 ? 0 : (position.at(-1) as number),
  };
}

/** The order values are the last columns of a record. */
function edgesOf(
  records: Records,
  { edges, order }: PagePlan,
): { readonly first: readonly unknown[]; readonly last: readonly unknown[] } {
  const edge = (record: readonly unknown[] | undefined): readonly unknown[] =>
    edges ? (record ?? []).slice(-order.length) : [];
  return { first: edge(records[0]), last: edge(records.at(-1)) };
}
