import type { QueryRunner } from 'typeorm';
import { COUNTED_ROWS } from '../../../core/schema/limits.js';
import type { CountResult } from '../../../core/contracts/pagination.js';
import type { PagePlan } from '../../../core/query/plan.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { PageOf, RowEncoder } from '../../../core/data-adapter.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import {
  countStatement,
  edgeColumns,
  matchingRows,
  jsonPageStatement,
  pageRows,
  readJsonPage,
} from '../../../sql/json-page-query.js';
import type { JsonPage } from '../../../sql/json-page-query.js';
import type { JsonRows } from '../../../sql/json-object-sql.js';
import { Scope } from '../../../sql/query-scope.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { Records, Statement } from '../../../sql/statement.js';
import type { Tables } from '../table-metadata.js';
import { listKind } from '../../../sql/json-list-query.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { RowReader } from './row-reader.js';

/** Nobody waits for it. */
const UNWANTED = { size: 0, more: false, count: undefined, first: [], last: [] } as const;

export interface PageReaderTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager;
}

/** Reads the pages of one resource that clients ask for, each by itself. */
export class PageReader {
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  private readonly shapes: StatementCache;

  constructor(
    private readonly reader: RowReader,
    { tables, dialect, connections }: PageReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.shapes = new StatementCache(dialect, reader.chosen);
  }

  async rows(plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    await this.reader.findParent(plan);
    const read = (runner: QueryRunner): Promise<PageOf<readonly Row[]>> => this.rowsBy(runner, plan);
    if (plan.forWriting === true) return this.connections.reading('primary', read, plan.requester);
    return (await this.connections.readingUnlessAborted(read, plan.requester)) ?? { ...UNWANTED, rows: [] };
  }

  /** Written by the database where it writes such rows. */
  async json(plan: PagePlan, writing: RowEncoder): Promise<PageOf<string>> {
    const json = this.reader.needsEntities() ? undefined : this.reader.json;
    const statement = json && this.jsonStatement(plan, writing, json);
    if (!statement) return textOf(await this.rows(plan), writing);
    const read = this.connections.readingUnlessAborted(
      (runner) => this.readJson(runner, { plan, writing, statement, json }),
      plan.requester,
    );
    return (
      (await read.catch((error: unknown) => this.reader.afterParent(plan, error))) ?? {
        ...UNWANTED,
        rows: '',
      }
    );
  }

  /** The plan's own `count`, without its page. */
  count(plan: PagePlan): Promise<CountResult> {
    return this.connections.reading('replica', (runner) => this.countBy(runner, plan), plan.requester);
  }

  private async rowsBy(runner: QueryRunner, plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    const scope = this.begin(plan);
    const sql = pageRows({ ...plan, lookahead: true }, scope, [
      ...this.reader.selection.expressions(scope),
      ...edgeColumns(plan, scope),
    ]);
    const read = await this.connections.records(runner, { sql, parameters: scope.parameters });
    const records = read.slice(0, plan.limit);
    const rows = await this.reader.rowsOf(records, runner);
    const edges = edgesOf(records, plan);
    const count = plan.count && (await this.countBy(runner, plan));
    return {
      rows: plan.from?.backward === true ? [...rows].reverse() : rows,
      size: rows.length,
      more: read.length > records.length,
      count,
      ...edges,
    };
  }

  private async readJson(
    runner: QueryRunner,
    {
      plan,
      writing,
      statement,
      json,
    }: { plan: PagePlan; writing: RowEncoder; statement: Statement; json: JsonRows },
  ): Promise<PageOf<string>> {
    const { text, counted, ...page } = readJsonPage(
      await this.connections.records(runner, statement),
      jsonPageOf(plan),
      { json, scope: { dialect: this.dialect, resource: plan.resource } },
    );
    // A page with a row that only the process can write.
    if (text === undefined) return textOf(await this.rowsBy(runner, plan), writing);
    return { ...page, rows: text, count: plan.count && (await this.judged(runner, plan, counted)) };
  }

  private jsonStatement(plan: PagePlan, { basePath }: RowEncoder, json: JsonRows): Statement {
    const write = (): Statement => jsonPageStatement(jsonPageOf(plan), this.begin(plan), { json, basePath });
    const { resource, where, parent, count, edges, limit } = plan;
    // Where a page begins, and how many rows it has, is in the text of its statement: only usual first pages come again.
    if (
      plan.oneOff === true ||
      plan.from ||
      plan.offset > 0 ||
      limit !== (resource.pagination?.pageSize ?? limit)
    )
      return write();
    const conditions = [where, ...(parent ? [parent.where] : []), ...(count ? [where] : [])];
    return this.shapes.of(`${limit} ${edges} ${count ?? ''} ${listKind(plan, basePath)}`, conditions, write);
  }

  private async countBy(runner: QueryRunner, plan: PagePlan): Promise<CountResult> {
    const [record = []] = await this.connections.records(
      runner,
      countStatement(plan, this.begin(plan), plan.count ?? 'exact'),
    );
    return this.judged(runner, plan, Number(record[0]));
  }

  /** What was counted up to a bound, and what is known behind it. */
  private async judged(runner: QueryRunner, plan: PagePlan, rows: number): Promise<CountResult> {
    if (plan.count === 'exact' || rows <= COUNTED_ROWS) return { rows, exact: true };
    const { estimate } = this.dialect;
    if (plan.count === 'bounded' || !estimate) return { rows: COUNTED_ROWS, exact: false };
    const scope = this.begin(plan);
    const [record = []] = await this.connections.records(runner, {
      sql: estimate.question(matchingRows(plan, scope)),
      parameters: scope.parameters,
    });
    return { rows: Math.max(estimate.rows(record[0]) ?? 0, COUNTED_ROWS), exact: false };
  }

  private begin({ resource }: PagePlan): Scope {
    return Scope.begin(this.dialect, this.tables, resource);
  }
}

function jsonPageOf(plan: PagePlan): JsonPage {
  return { ...plan, lookahead: true, edges: plan.edges ? 'both' : 'none' };
}

function textOf({ rows, ...page }: PageOf<readonly Row[]>, { represent }: RowEncoder): PageOf<string> {
  return { ...page, rows: rows.map((row) => JSON.stringify(represent(row))).join(',') };
}

/** The values of the order stand at the end of a record. */
function edgesOf(
  records: Records,
  { edges, order }: PagePlan,
): { readonly first: readonly unknown[]; readonly last: readonly unknown[] } {
  const edge = (record: readonly unknown[] | undefined): readonly unknown[] =>
    edges ? (record ?? []).slice(-order.length) : [];
  return { first: edge(records[0]), last: edge(records.at(-1)) };
}
