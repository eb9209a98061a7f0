import { validatorValuesIn } from '../../../core/contracts/conditional.js';
import type { JsonOutput, JsonRow } from '../../../core/data-adapter.js';
import { BlockingTime, nextTurn } from '../../../core/event-loop.js';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { ListPlan, RetrievePlan } from '../../../core/query/plan.js';
import { pagesToJson, rowsToJson } from '../../../core/values/rows-to-json.js';
import { compileWhere } from '../../../sql/compile-where.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { JsonListQuery } from '../../../sql/json-list-query.js';
import type { JsonListPage, ListPageOptions } from '../../../sql/json-list-query.js';
import { jsonRows } from '../../../sql/json-object-sql.js';
import type { JsonRows } from '../../../sql/json-object-sql.js';
import { Scope } from '../../../sql/query-scope.js';
import { decodeRecord, readColumns, selectList } from '../../../sql/select-columns.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { Records, Statement } from '../../../sql/statement.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { Tables } from '../table-metadata.js';
import { BoundedSet } from './bounded-set.js';
import type { JsonSubtypeTables } from './json-subtype-tables.js';
import type { PagePace } from './page-size.js';
import type { RowReader, RowReaderTools } from './row-reader.js';

export interface JsonReaderTools extends RowReaderTools {
  readonly subtypeTables: JsonSubtypeTables;
}

/** A list whose rows the database serializes. */
interface JsonList {
  readonly plan: ListPlan;
  readonly output: JsonOutput;
  readonly query: JsonListQuery;
}

/** Reads the rows of one resource as JSON, which the database writes where possible. */
export class JsonReader {
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  private readonly statements: StatementCache;
  /** Undefined if the database cannot serialize these rows. */
  private readonly json: JsonRows | undefined;
  /** The kinds of lists that had more than one page. */
  private readonly longLists = new BoundedSet();

  constructor(
    private readonly rows: RowReader,
    { tables, dialect, connections, subtypeTables }: JsonReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.statements = new StatementCache(dialect, rows.isClientSelected);
    const { metadata } = tables.of(rows.resource);
    this.json = subtypeTables.mayHaveSubtype(metadata) ? undefined : jsonRows(rows.resource, dialect);
  }

  /** The serialization of rows by the database; undefined if rows are serialized in this process. */
  inDatabase({ isDefault }: Pick<JsonOutput, 'isDefault'>): JsonRows | undefined {
    return isDefault && !this.rows.needsEntities() ? this.json : undefined;
  }

  /** As declared by `DataAdapter.read`. */
  list(plan: ListPlan, output: JsonOutput): MaybePromise<string | AsyncIterable<string>> {
    const json = this.inDatabase(output);
    if (!json) return pagesToJson(this.rows.list(plan), output.represent);
    const query = new JsonListQuery(plan, {
      json,
      basePath: output.basePath,
      dialect: this.dialect,
      scope: () => this.beginScope(),
    });
    const list: JsonList = { plan, output, query };
    const pace = this.rows.pageSize.pace();
    const limit = pace.rows;
    return mapMaybe(this.readPage(list, undefined, limit), (page) => {
      if (!page) return '';
      return page.count < limit ? page.text : this.streamPages(list, page, pace);
    });
  }

  /** As declared by `DataAdapter.read`. */
  retrieve(plan: RetrievePlan, output: JsonOutput): MaybePromise<JsonRow | undefined> {
    const json = this.inDatabase(output);
    if (!json) return this.serializeRow(plan, output);
    const { where, requester, validators } = plan;
    const columns = validators?.columns ?? [];
    const { basePath } = output;
    const statement = this.statements.of(`${validators ? 'validated' : 'row'} ${basePath}`, [where], () => {
      const scope = this.beginScope();
      const list = selectList([json.sql(scope, basePath), ...readColumns(columns, scope)]);
      const condition = compileWhere(where, scope);
      return {
        sql: `SELECT ${list} FROM ${scope.from()} WHERE ${condition} LIMIT 1`,
        parameters: scope.parameters,
      };
    });
    return mapMaybe(this.connections.read(statement, 'replica', requester), ([record]) => {
      if (!record) return undefined;
      const text = record[0];
      if (!isValidJson(text, json)) return this.serializeRow(plan, output);
      const validatorValues = validators ? decodeRecord(record.slice(1), columns, this.dialect) : [];
      return { text, validatorValues };
    });
  }

  private async serializeRow(plan: RetrievePlan, { represent }: JsonOutput): Promise<JsonRow | undefined> {
    const row = await this.rows.retrieve(plan);
    return (
      row && {
        text: JSON.stringify(represent(row)),
        validatorValues: plan.validators ? validatorValuesIn(row, plan.validators) : [],
      }
    );
  }

  private async *streamPages(list: JsonList, first: JsonListPage, pace: PagePace): AsyncGenerator<string> {
    let blocking: BlockingTime | undefined;
    for (let page = first; ;) {
      yield page.text;
      if (blocking) pace.learn(blocking.milliseconds);
      await nextTurn();
      blocking = new BlockingTime();
      const limit = pace.rows;
      const next = await this.readPage(list, page.last, limit);
      if (!next) return;
      if (next.count < limit) {
        yield next.text;
        return;
      }
      page = next;
    }
  }

  /** Undefined once the client has disconnected. */
  private readPage(
    list: JsonList,
    after: readonly unknown[] | undefined,
    limit: number,
  ): MaybePromise<JsonListPage | undefined> {
    const { plan, query } = list;
    const readsCursor = after !== undefined || this.longLists.has(query.kind);
    const part = { after, limit, readsCursor };
    const statement = this.pageStatement(list, part);
    const toPage = (records: Records | undefined): MaybePromise<JsonListPage | undefined> =>
      records &&
      mapMaybe(query.read(records, part) ?? this.serializePage(list, after, limit), (page) => {
        if (!page) return undefined;
        if (!readsCursor && page.count === limit) {
          // Earlier lists of this kind had one page. This one is read again, with its cursor.
          this.longLists.add(query.kind);
          return this.readPage(list, after, limit);
        }
        this.rows.pageSize.learn(page.count, page.text.length);
        return page;
      });
    try {
      const read = mapMaybe(this.connections.readUnlessAborted(statement, plan.requester), toPage);
      return isPromise(read)
        ? read.catch((error: unknown) => this.rows.rethrowAfterParent(plan, error))
        : read;
    } catch (error) {
      return this.rows.rethrowAfterParent(plan, error);
    }
  }

  /** Cached, unless the shape of the filter comes from the caller. */
  private pageStatement({ plan, query }: JsonList, part: ListPageOptions): Statement {
    const compile = (): Statement => query.statement(part);
    if (plan.oneOff === true) return compile();
    const { after, limit, readsCursor } = part;
    const conditions = after ? query.conditionsAfter(after) : query.conditions;
    const position = after ? 'after' : String(readsCursor);
    return conditions
      ? this.statements.of(`${limit} ${position} ${query.kind}`, conditions, compile)
      : compile();
  }

  /** Reads a page with a row that the database cannot serialize. */
  private async serializePage(
    { plan: { where, order, requester }, output }: JsonList,
    after: readonly unknown[] | undefined,
    limit: number,
  ): Promise<JsonListPage | undefined> {
    const page = await this.rows.readPage({ where, order, after, limit }, { requester });
    return (
      page && {
        text: rowsToJson(page.rows, output.represent),
        count: page.records.length,
        last: page.records.at(-1)?.slice(-order.length) ?? [],
      }
    );
  }

  private beginScope(): Scope {
    return Scope.begin(this.dialect, this.tables, this.rows.resource);
  }
}

function isValidJson(text: unknown, json: JsonRows): text is string {
  return typeof text === 'string' && json.isValidJson(text);
}
