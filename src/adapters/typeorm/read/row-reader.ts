import type { QueryRunner } from 'typeorm';
import { NotFound } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import type { Condition } from '../../../core/query/condition.js';
import { validatorColumnsIn, validatorColumnsOf } from '../../../core/contracts/conditional.js';
import type { ListPlan, RetrievePlan } from '../../../core/query/plan.js';
import type { OrderTerm, Resource } from '../../../core/schema/resource.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { BlockingTime, nextTurn } from '../../../core/event-loop.js';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { compileAfter, compileOrder, cursorColumns } from '../../../sql/compile-order.js';
import { existsStatement } from '../../../sql/exists-query.js';
import { lockOf } from '../../../sql/lock-clause.js';
import { decodeRecord, readColumns, selectList } from '../../../sql/select-columns.js';
import { Scope } from '../../../sql/query-scope.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import { selectRows } from '../../../sql/select-query.js';
import type { Selection } from '../../../sql/select-query.js';
import type { Tables } from '../table-metadata.js';
import { jsonRows } from '../../../sql/json-object-sql.js';
import type { JsonRows } from '../../../sql/json-object-sql.js';
import { JsonListQuery } from '../../../sql/json-list-query.js';
import type { JsonListPage } from '../../../sql/json-list-query.js';
import type { RowEncoder, ValidatedJson } from '../../../core/data-adapter.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import { EntityLoader } from './entity-loader.js';
import type { JsonSubtypeTables } from './json-subtype-tables.js';
import { BoundedSet } from './bounded-set.js';
import { charactersOf, PageSize } from './page-size.js';
import type { PagePace } from './page-size.js';

type ReadOfOne = Pick<RetrievePlan, 'where' | 'forWriting' | 'requester'>;

interface PageQuery {
  readonly where: Condition;
  readonly order: readonly OrderTerm[];
  /** The cursor values of the last row before, or undefined for the first page. */
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
  readonly locked?: boolean;
}

interface Page {
  /** As the database gave them: values, then the cursor's. */
  readonly records: readonly (readonly unknown[])[];
  readonly rows: readonly Row[];
}

/** A list whose rows the database writes. */
interface JsonList {
  readonly plan: ListPlan;
  readonly writing: RowEncoder;
  readonly pages: JsonListQuery;
  /** Tells it apart from lists in another order, or of another parent's model. */
  readonly kind: string;
}

export interface RowReaderTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager;
  readonly marked: JsonSubtypeTables;
}

/** Reads the rows of one resource. */
export class RowReader {
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  readonly selection: Selection;
  private readonly entities: EntityLoader | undefined;
  /** Undefined where the database does not write such rows. */
  readonly json: JsonRows | undefined;
  private readonly shapes: StatementCache;
  private readonly pageSize = new PageSize();
  private readonly longLists = new BoundedSet();

  constructor(
    private readonly resource: Resource,
    { tables, dialect, connections, marked }: RowReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.selection = selectRows(resource, dialect);
    this.shapes = new StatementCache(dialect, this.chosen);
    const { metadata, dataSource } = tables.of(resource);
    this.json = marked.mayHaveSubtype(metadata) ? undefined : jsonRows(resource, dialect);
    this.entities = metadata.isJunction ? undefined : new EntityLoader(resource, metadata, dataSource);
  }

  /** Whether some client has chosen what is read. */
  get chosen(): boolean {
    return this.resource.chosen === true;
  }

  /** Page after page by keyset: no page costs more for standing further back, and none is read before it is wanted. */
  async *list(plan: ListPlan): AsyncGenerator<readonly Row[]> {
    await this.findParent(plan);
    const pace = this.pageSize.pace();
    let after: readonly unknown[] | undefined;
    for (;;) {
      const limit = pace.rows;
      const statement = this.pageStatement({ where: plan.where, order: plan.order, after, limit });
      const held = new BlockingTime();
      const page = await this.connections.readingUnlessAborted(
        (runner) => this.readPage(statement, runner, held),
        plan.requester,
      );
      if (!page) return;
      const { records, rows } = page;
      this.pageSize.learn(records.length, charactersOf(records));
      if (rows.length > 0 || after === undefined) yield rows;
      const last = records.at(-1);
      if (!last || records.length < limit) return;
      after = last.slice(last.length - plan.order.length);
      // What is made of the rows belongs to it.
      pace.learn(held.milliseconds);
      await nextTurn();
    }
  }

  /** As `list`, each page one text of its rows with commas between: the only one as it is, at once where nothing is waited for. Undefined where the database does not write such rows. */
  listJson(plan: ListPlan, writing: RowEncoder): MaybePromise<string | AsyncIterable<string>> | undefined {
    const { json } = this;
    if (!json || this.needsEntities()) return undefined;
    const pages = new JsonListQuery(plan, {
      json,
      basePath: writing.basePath,
      dialect: this.dialect,
      scope: () => Scope.begin(this.dialect, this.tables, this.resource),
    });
    const list: JsonList = { plan, writing, pages, kind: pages.kind };
    const pace = this.pageSize.pace();
    const limit = pace.rows;
    return mapMaybe(this.readJsonPage(list, undefined, limit), (page) =>
      !page ? '' : page.count < limit ? page.text : this.streamJson(list, page, pace),
    );
  }

  /** Whether rows are made of entities, because something of the application has a say in their values. */
  needsEntities(): boolean {
    return this.entities?.isNeeded() === true;
  }

  /** Throws 404 where the parent is not there. */
  async findParent({ parent }: Pick<ListPlan, 'parent'>): Promise<void> {
    if (!parent) return;
    const { length } = await this.connections.read(
      existsStatement(parent, this.dialect, this.tables),
      'replica',
      parent.requester,
    );
    if (length === 0) throw new NotFound();
  }

  /** What is wrong with the query is told of a parent that is there (contract 6.3). */
  async afterParent(plan: Pick<ListPlan, 'parent'>, error: unknown): Promise<never> {
    if (isRestException(error) && error.answer.status === 400) await this.findParent(plan);
    throw error;
  }

  private async *streamJson(list: JsonList, first: JsonListPage, pace: PagePace): AsyncGenerator<string> {
    let held: BlockingTime | undefined;
    for (let page = first; ;) {
      yield page.text;
      if (held) pace.learn(held.milliseconds);
      await nextTurn();
      held = new BlockingTime();
      const limit = pace.rows;
      const next = await this.readJsonPage(list, page.last, limit);
      if (!next) return;
      if (next.count < limit) {
        yield next.text;
        return;
      }
      page = next;
    }
  }

  /** Undefined where nobody wants it any more. */
  private readJsonPage(
    list: JsonList,
    after: readonly unknown[] | undefined,
    limit: number,
  ): MaybePromise<JsonListPage | undefined> {
    const { plan, pages, kind } = list;
    const readsCursor = after !== undefined || this.longLists.has(kind);
    const part = { after, limit, readsCursor };
    const write = (): Statement => pages.statement(part);
    const conditions =
      plan.oneOff === true ? undefined : after ? pages.conditionsAfter(after) : pages.conditions;
    const statement = conditions
      ? this.shapes.of(`${limit} ${after ? 'behind' : String(readsCursor)} ${kind}`, conditions, write)
      : write();
    const taken = (records: Records | undefined): MaybePromise<JsonListPage | undefined> =>
      records &&
      mapMaybe(pages.read(records, part) ?? this.serializePage(list, after, limit), (page) => {
        if (!page) return undefined;
        if (!readsCursor && page.count === limit) {
          // Longer than lists of its kind were: read once more, with its end.
          this.longLists.add(kind);
          return this.readJsonPage(list, after, limit);
        }
        this.pageSize.learn(page.count, page.text.length);
        return page;
      });
    try {
      const read = mapMaybe(this.connections.readUnlessAborted(statement, plan.requester), taken);
      return isPromise(read) ? read.catch((error: unknown) => this.afterParent(plan, error)) : read;
    } catch (error) {
      return this.afterParent(plan, error);
    }
  }

  /** A page with a row that only the process can write. */
  private async serializePage(
    { plan, writing }: JsonList,
    after: readonly unknown[] | undefined,
    limit: number,
  ): Promise<JsonListPage | undefined> {
    const statement = this.pageStatement({ where: plan.where, order: plan.order, after, limit });
    const page = await this.connections.readingUnlessAborted(
      (runner) => this.readPage(statement, runner),
      plan.requester,
    );
    return (
      page && {
        text: page.rows.map((row) => JSON.stringify(writing.represent(row))).join(','),
        count: page.records.length,
        last: page.records.at(-1)?.slice(-plan.order.length) ?? [],
      }
    );
  }

  /** The row as JSON, by the database where it can write it; at once, where nothing is waited for. */
  retrieveJson(
    { where, requester }: ReadOfOne,
    { basePath, represent }: RowEncoder,
  ): MaybePromise<string | undefined> {
    const { json } = this;
    const general = async (): Promise<string | undefined> => {
      const row = await this.retrieve({ where, requester });
      return row && JSON.stringify(represent(row));
    };
    if (!json || this.needsEntities()) return general();
    const statement = this.shapes.of(`text ${basePath}`, [where], () => {
      const scope = Scope.begin(this.dialect, this.tables, this.resource);
      const text = json.sql(scope, basePath);
      const condition = compileWhere(where, scope);
      return {
        sql: `SELECT ${text} AS c0 FROM ${scope.from()} WHERE ${condition} LIMIT 1`,
        parameters: scope.parameters,
      };
    });
    return mapMaybe(this.connections.read(statement, 'replica', requester), ([record]) =>
      !record ? undefined : isValidJson(record[0], json) ? record[0] : general(),
    );
  }

  /** With the values of the view's stamps, by the same statement. */
  async retrieveStamped(
    { where, requester }: ReadOfOne,
    { basePath, represent }: RowEncoder,
  ): Promise<ValidatedJson | undefined> {
    const { json } = this;
    const general = async (): Promise<ValidatedJson | undefined> => {
      const row = await this.retrieve({ where, requester });
      return row && { text: JSON.stringify(represent(row)), stamps: validatorColumnsIn(row, this.resource) };
    };
    if (!json || this.needsEntities()) return general();
    const { columns } = validatorColumnsOf(this.resource);
    const statement = this.shapes.of(`stamped ${basePath}`, [where], () => {
      const scope = Scope.begin(this.dialect, this.tables, this.resource);
      const list = selectList([json.sql(scope, basePath), ...readColumns(columns, scope)]);
      const condition = compileWhere(where, scope);
      return {
        sql: `SELECT ${list} FROM ${scope.from()} WHERE ${condition} LIMIT 1`,
        parameters: scope.parameters,
      };
    });
    const [record] = await this.connections.read(statement, 'replica', requester);
    if (!record) return undefined;
    return isValidJson(record[0], json)
      ? { text: record[0], stamps: decodeRecord(record.slice(1), columns, this.dialect) }
      : general();
  }

  async retrieve({ where, requester, forWriting }: ReadOfOne): Promise<Row | undefined> {
    const statement = this.statementOfOne(where);
    const { rows } = await this.connections.reading(
      forWriting === true ? 'primary' : 'replica',
      (runner) => this.readPage(statement, runner),
      requester,
    );
    return rows[0];
  }

  async retrieveWithin(where: Condition, runner: QueryRunner): Promise<Row | undefined> {
    const { rows } = await this.readPage(this.statementOfOne(where), runner);
    return rows[0];
  }

  private statementOfOne(where: Condition): Statement {
    return this.shapes.of('row', [where], () =>
      this.pageStatement({ where, order: [], after: undefined, limit: 1 }),
    );
  }

  /** As the row is now, whatever the snapshot of the transaction says, and locked for it. */
  async retrieveLocked(where: Condition, runner: QueryRunner): Promise<Row | undefined> {
    const statement = this.shapes.of('locked row', [where], () =>
      this.pageStatement({ where, order: [], after: undefined, limit: 1, locked: true }),
    );
    return (await this.readPage(statement, runner)).rows[0];
  }

  private async readPage(statement: Statement, runner: QueryRunner, held?: BlockingTime): Promise<Page> {
    const records = await this.connections.records(runner, statement);
    held?.resume();
    return { records, rows: await this.rowsOf(records, runner) };
  }

  private pageStatement({ where, order, after, limit, locked }: PageQuery): Statement {
    const scope = Scope.begin(this.dialect, this.tables, this.resource);
    const expressions = [...this.selection.expressions(scope), ...cursorColumns(order, scope)];
    const conditions = [
      compileWhere(where, scope, order),
      ...(after ? [compileAfter(order, after, scope)] : []),
    ];
    const sorted = order.length === 0 ? '' : ` ORDER BY ${compileOrder(order, scope)}`;
    const from = scope.from();
    const sql = `SELECT ${selectList(expressions)} FROM ${from} WHERE ${conditions.join(' AND ')}${sorted} LIMIT ${limit}${locked === true ? lockOf(scope, from) : ''}`;
    return { sql, parameters: scope.parameters };
  }

  async rowsOf(records: readonly (readonly unknown[])[], runner: QueryRunner): Promise<readonly Row[]> {
    const isPair = this.resource.identity !== this.resource.key.columns;
    const rows = records.map((record) => ({
      key: this.selection.readKey(record),
      values: this.selection.readValues(record),
      ...(isPair ? { identity: this.selection.readIdentity(record) } : {}),
    }));
    if (!this.entities || !this.needsEntities()) return rows;
    return this.entities.attach(
      rows,
      records.map((record) => this.selection.readIdentity(record)),
      runner,
    );
  }
}

function isValidJson(text: unknown, json: JsonRows): text is string {
  return typeof text === 'string' && json.isValidJson(text);
}
