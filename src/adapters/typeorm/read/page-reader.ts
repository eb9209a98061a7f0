import type { QueryRunner } from 'typeorm';
import { COUNTED_ROWS } from '../../../core/schema/limits.js';
import type { CountResult } from '../../../core/contracts/pagination.js';
import type { PagePlan } from '../../../core/query/plan.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { JsonOutput, PageOf } from '../../../core/data-adapter.js';
import { rowsToJson } from '../../../core/values/rows-to-json.js';
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
import type { JsonReader } from './json-reader.js';
import type { RowReader, RowReaderTools } from './row-reader.js';

/** The result once the client has disconnected. */
const EMPTY = { size: 0, more: false, count: undefined, first: [], last: [] } as const;

export interface PageReaders {
  readonly rows: RowReader;
  readonly json: JsonReader;
}

interface JsonPageQuery {
  readonly plan: PagePlan;
  readonly output: JsonOutput;
  readonly statement: Statement;
  readonly json: JsonRows;
}

/** Reads single pages of one resource. */
export class PageReader {
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  private readonly statements: StatementCache;

  constructor(
    private readonly readers: PageReaders,
    { tables, dialect, connections }: RowReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.statements = new StatementCache(dialect, readers.rows.isClientSelected);
  }

  async rows(plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    await this.readers.rows.assertParentExists(plan);
    const read = (runner: QueryRunner): Promise<PageOf<readonly Row[]>> => this.readRows(runner, plan);
    if (plan.forWriting === true) return this.connections.reading('primary', read, plan.requester);
    return (await this.connections.readingUnlessAborted(read, plan.requester)) ?? { ...EMPTY, rows: [] };
  }

  /** As `rows`, with the rows as one text, which the database writes where possible. */
  async json(plan: PagePlan, output: JsonOutput): Promise<PageOf<string>> {
    const { rows, json: reader } = this.readers;
    const json = reader.inDatabase(output);
    if (!json) return serializePage(await this.rows(plan), output);
    const statement = this.jsonStatement(plan, output, json);
    const page = await this.connections
      .readingUnlessAborted(
        (runner) => this.readJson(runner, { plan, output, statement, json }),
        plan.requester,
      )
      .catch((error: unknown) => rows.rethrowAfterParent(plan, error));
    return page ?? { ...EMPTY, rows: '' };
  }

  /** Counts as the plan's `count` says, without reading the page. */
  count(plan: PagePlan): Promise<CountResult> {
    return this.connections.reading('replica', (runner) => this.countRows(runner, plan), plan.requester);
  }

  private async readRows(runner: QueryRunner, plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    const scope = this.begin(plan);
    const sql = pageRows({ ...plan, lookahead: true }, scope, [
      ...this.readers.rows.selection.expressions(scope),
      ...edgeColumns(plan, scope),
    ]);
    const read = await this.connections.records(runner, { sql, parameters: scope.parameters });
    const records = read.slice(0, plan.limit);
    const rows = await this.readers.rows.rowsOf(records, runner);
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

  private async readJson(
    runner: QueryRunner,
    { plan, output, statement, json }: JsonPageQuery,
  ): Promise<PageOf<string>> {
    const { text, counted, ...page } = readJsonPage(
      await this.connections.records(runner, statement),
      jsonPageOf(plan),
      { json, scope: { dialect: this.dialect, resource: plan.resource } },
    );
    // The page has a row that the database cannot serialize.
    if (text === undefined) return serializePage(await this.readRows(runner, plan), output);
    return { ...page, rows: text, count: plan.count && (await this.resolveCount(runner, plan, counted)) };
  }

  private jsonStatement(plan: PagePlan, { basePath }: JsonOutput, json: JsonRows): Statement {
    const compile = (): Statement =>
      jsonPageStatement(jsonPageOf(plan), this.begin(plan), { json, basePath });
    const { where, parent, count, edges, limit } = plan;
    // The text of the statement contains the position of the page: only the first page is cached.
    if (plan.oneOff === true || plan.from || plan.offset > 0) return compile();
    const conditions = [where, ...(parent ? [parent.where] : []), ...(count ? [where] : [])];
    return this.statements.of(
      `${limit} ${edges} ${count ?? ''} ${listKind(plan, basePath)}`,
      conditions,
      compile,
    );
  }

  private async countRows(runner: QueryRunner, plan: PagePlan): Promise<CountResult> {
    const [record = []] = await this.connections.records(
      runner,
      countStatement(plan, this.begin(plan), plan.count ?? 'exact'),
    );
    return this.resolveCount(runner, plan, Number(record[0]));
  }

  /** The count up to the bound; beyond it, the estimate of the database. */
  private async resolveCount(runner: QueryRunner, plan: PagePlan, rows: number): Promise<CountResult> {
    if (plan.count === 'exact' || rows <= COUNTED_ROWS) return { rows, exact: true };
    const { estimate } = this.dialect;
    if (plan.count === 'bounded' || !estimate) return { rows: COUNTED_ROWS, exact: false };
    const scope = this.begin(plan);
    const [record = []] = await this.connections.records(runner, {
      sql: estimate.explain(matchingRows(plan, scope)),
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

function serializePage({ rows, ...page }: PageOf<readonly Row[]>, { represent }: JsonOutput): PageOf<string> {
  return { ...page, rows: rowsToJson(rows, represent) };
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
