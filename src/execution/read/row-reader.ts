import type { Row } from '../../core/contracts/serializer.js';
import type { CountResult } from '../../core/contracts/pagination.js';
import type { PageOf } from '../../core/data-adapter.js';
import { NotFound } from '../../core/errors/http-exceptions.js';
import { BlockingTime, nextTurn } from '../../core/event-loop.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { Condition } from '../../core/query/condition.js';
import type { CountPlan, ListPlan, PagePlan, RetrievePlan, Requester } from '../../core/query/plan.js';
import type { OrderTerm, ResourceSchema } from '../../core/schema/resource-schema.js';
import { cursorColumns } from '../../sql/compile-order.js';
import { compileWhere } from '../../sql/compile-where.js';
import { existsStatement, selectRows } from '../../sql/select-query.js';
import { countStatement, edgeColumns, matchingRows, orderText, pageRows } from '../../sql/json-page-query.js';
import { lockOf, Scope, selectList } from '../../sql/query-scope.js';
import type { Selection } from '../../sql/select-query.js';
import { labelStatement } from '../../sql/statement.js';
import { StatementCache } from '../../sql/statement-cache.js';
import type { Records, Statement } from '../../sql/statement.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { EntityPort, EntityRows, Session } from '../port.js';
import { charactersOf, PageSize } from './list-pages.js';
import { ReadChoices } from './read-choices.js';

/** A keyset page of a list: with an index on the order and the key, no page costs more for its position. */
export interface KeysetPage {
  readonly where: Condition;
  readonly order: readonly OrderTerm[];
  /** The cursor values of the last row of the previous page; undefined for the first page. */
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
  /** As in `ListPlan`. */
  readonly uncacheable?: boolean | undefined;
}

interface RowsQuery extends KeysetPage {
  readonly locked?: boolean;
}

export interface PageOfRecords {
  /** The raw values of the columns, followed by those of the cursor. */
  readonly records: Records;
  readonly rows: readonly Row[];
}

export interface ReadPageOptions {
  readonly requester: Requester | undefined;
  /** Measures the time for which the conversion of the rows blocks the event loop. */
  readonly blocking?: BlockingTime;
}

/** What readers need of an ORM, and connections. */
export interface ReaderTools<S extends Session> extends EntityPort<S> {
  readonly connections: ConnectionManager<S>;
}

const EXACT: CountPlan = { kind: 'exact' };

/** A page once the client has disconnected. */
export const NO_ROWS = { size: 0, more: false, count: undefined, first: [], last: [] } as const;

/** Reads rows, lists and pages of one resource as values, and counts them. */
export class RowReader<S extends Session> {
  readonly selection: Selection;
  /** The page size of its lists, learned from the rows that were read. */
  readonly pageSize = new PageSize();
  readonly choices: ReadChoices;
  private readonly entities: EntityRows<S>;
  private readonly statements: StatementCache;

  constructor(
    readonly resource: ResourceSchema,
    readonly tools: ReaderTools<S>,
  ) {
    const { dialect } = tools;
    this.selection = selectRows(resource, dialect);
    this.entities = tools.entityRows(resource);
    this.choices = new ReadChoices(resource, this.entities, tools);
    this.statements = new StatementCache(dialect, this.isClientSelected);
  }

  /** Whether a client has selected the fields. */
  get isClientSelected(): boolean {
    return this.resource.isClientSelected === true;
  }

  /** Reads page after page, each once the previous one has been consumed. */
  async *list(plan: ListPlan): AsyncGenerator<readonly Row[]> {
    await this.assertParentExists(plan);
    const pace = this.pageSize.pace();
    let after: readonly unknown[] | undefined;
    for (;;) {
      const limit = pace.rows;
      const blocking = new BlockingTime();
      const { where, order, requester, uncacheable } = plan;
      const page = await this.readPage({ where, order, after, limit, uncacheable }, { requester, blocking });
      if (!page) return;
      const { records, rows } = page;
      this.pageSize.learn(records.length, charactersOf(records));
      if (rows.length > 0 || after === undefined) yield rows;
      const last = records.at(-1);
      if (!last || records.length < limit) return;
      after = last.slice(last.length - order.length);
      // Includes the time for which the consumer has blocked the event loop with these rows.
      pace.learn(blocking.milliseconds);
      await nextTurn();
    }
  }

  /** Reads one page of a list; undefined once the client has disconnected. */
  readPage(
    page: KeysetPage,
    { requester, blocking }: ReadPageOptions,
  ): MaybePromise<PageOfRecords | undefined> {
    const statement = this.pageStatement(page);
    if (this.loadsEntities)
      return this.tools.connections.readingUnlessAborted(
        (session) => this.readRows(statement, session, blocking),
        requester,
      );
    return mapMaybe(this.tools.connections.readUnlessAborted(statement, requester), (records) => {
      blocking?.resume();
      return records && { records, rows: this.decodeRows(records) };
    });
  }

  /** Cached, unless the shape of the filter comes from the caller. */
  private pageStatement(page: KeysetPage): Statement {
    const { where, order, after, limit, uncacheable } = page;
    if (uncacheable === true) return this.rowsStatement(page);
    const kind = `rows ${limit}${orderText(order)}`;
    return after
      ? this.statements.ofPosition(kind, { conditions: [where], position: after }, (position) =>
          this.rowsStatement({ where, order, after: position, limit }),
        )
      : this.statements.of(kind, [where], () => this.labelRows('list', page));
  }

  /** Whether code of the application takes part in the values of the rows. It may change from one read to the next. */
  get loadsEntities(): boolean {
    return this.choices.choose(false).lane === 'entities';
  }

  /** Throws 404 if the parent of a list does not exist. */
  async assertParentExists({ parent }: Pick<ListPlan, 'parent'>): Promise<void> {
    if (!parent) return;
    const { length } = await this.tools.connections.read(
      existsStatement(parent, this.tools.dialect, this.tools.tables),
      'replica',
      parent.requester,
    );
    if (length === 0) throw new NotFound();
  }

  /** Reads one row. */
  async retrieve({
    where,
    requester,
    forWriting,
  }: Omit<RetrievePlan, 'kind' | 'resource'>): Promise<Row | undefined> {
    const statement = this.statementOfOne(where);
    const from = forWriting === true ? 'primary' : 'replica';
    if (!this.loadsEntities)
      return this.decodeRows(await this.tools.connections.read(statement, from, requester))[0];
    const { rows } = await this.tools.connections.reading(
      from,
      (session) => this.readRows(statement, session),
      requester,
    );
    return rows[0];
  }

  /** Reads one row on the connection of a transaction. */
  async retrieveWithin(where: Condition, session: S): Promise<Row | undefined> {
    const { rows } = await this.readRows(this.statementOfOne(where), session);
    return rows[0];
  }

  private statementOfOne(where: Condition): Statement {
    return this.statements.of('row', [where], () =>
      this.labelRows('retrieve', { where, order: [], after: undefined, limit: 1 }),
    );
  }

  /** Reads the current state of the row, whatever the snapshot of the transaction, and locks it. */
  async retrieveLocked(where: Condition, session: S): Promise<Row | undefined> {
    const statement = this.statements.of('locked row', [where], () =>
      this.labelRows('lock', { where, order: [], after: undefined, limit: 1, locked: true }),
    );
    return (await this.readRows(statement, session)).rows[0];
  }

  /** Reads one page that was requested. */
  async page(plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    await this.assertParentExists(plan);
    const read = (session: S): Promise<PageOf<readonly Row[]>> => this.pageOn(session, plan);
    if (plan.forWriting === true) return this.tools.connections.reading('primary', read, plan.requester);
    return (
      (await this.tools.connections.readingUnlessAborted(read, plan.requester)) ?? { ...NO_ROWS, rows: [] }
    );
  }

  private async pageOn(session: S, plan: PagePlan): Promise<PageOf<readonly Row[]>> {
    const { edges, order, limit, from } = plan;
    const { selection } = this;
    const scope = this.beginScope();
    const sql = pageRows({ ...plan, lookahead: true }, scope, {
      expressions: [...selection.expressions(scope), ...edgeColumns(plan, scope)],
      isCostly: selection.isCostly,
    });
    const read = await this.tools.connections.records(session, { sql, parameters: scope.parameters });
    const records = read.slice(0, limit);
    const rows = await this.rowsOf(records, session);
    // The order values are the last columns of a record.
    const edge = (record: readonly unknown[] = []): readonly unknown[] =>
      edges ? record.slice(-order.length) : [];
    return {
      rows: from?.backward === true ? [...rows].reverse() : rows,
      size: rows.length,
      more: read.length > records.length,
      count: plan.count && (await this.countOn(session, plan)),
      first: edge(records[0]),
      last: edge(records.at(-1)),
    };
  }

  /** Counts as the plan's `count` says, without reading the page. */
  count(plan: PagePlan): Promise<CountResult> {
    return this.tools.connections.reading(
      'replica',
      (session) => this.countOn(session, plan),
      plan.requester,
    );
  }

  private async countOn(session: S, plan: PagePlan): Promise<CountResult> {
    const method = plan.count ?? EXACT;
    const statement = countStatement(plan, this.beginScope(), method);
    const [record = []] = await this.tools.connections.records(session, statement);
    return this.knownCount(method, Number(record[0])) ?? this.estimateOn(session, plan, method);
  }

  /** The count up to the bound; undefined beyond it, if the database can estimate it. */
  knownCount(count: CountPlan, rows: number): CountResult | undefined {
    if (count.kind === 'exact' || rows <= count.upTo) return { rows, exact: true, atLeast: false };
    return count.kind === 'bounded' || !this.tools.dialect.estimate
      ? { rows: count.upTo, exact: false, atLeast: true }
      : undefined;
  }

  /** Estimates a count that is beyond its bound. */
  estimate(plan: PagePlan, count: CountPlan): Promise<CountResult> {
    return this.tools.connections.reading(
      'replica',
      (session) => this.estimateOn(session, plan, count),
      plan.requester,
    );
  }

  private async estimateOn(session: S, plan: PagePlan, count: CountPlan): Promise<CountResult> {
    const { estimate } = this.tools.dialect;
    const scope = this.beginScope();
    const [record = []] = estimate
      ? await this.tools.connections.records(session, {
          sql: estimate.explain(matchingRows(plan, scope)),
          parameters: scope.parameters,
        })
      : [];
    const counted = count.kind === 'exact' ? 0 : count.upTo;
    const rows = estimate?.rows(record[0]) ?? 0;
    return { rows: Math.max(rows, counted), exact: false, atLeast: rows <= counted };
  }

  private async readRows(statement: Statement, session: S, blocking?: BlockingTime): Promise<PageOfRecords> {
    const records = await this.tools.connections.records(session, statement);
    blocking?.resume();
    return { records, rows: await this.rowsOf(records, session) };
  }

  beginScope(): Scope {
    return Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
  }

  private labelRows(operation: string, query: RowsQuery): Statement {
    const { resource } = this;
    return labelStatement(this.rowsStatement(query), { operation, resource }, [
      { resource, where: query.where },
    ]);
  }

  private rowsStatement({ where, order, after, limit, locked }: RowsQuery): Statement {
    const scope = this.beginScope();
    const { selection } = this;
    const expressions = [...selection.expressions(scope), ...cursorColumns(order, scope)];
    if (order.length > 0) {
      const from = after && { values: after, backward: false, inclusive: false };
      const page = { where, order, from, offset: 0, limit, lookahead: false };
      return scope.complete(pageRows(page, scope, { expressions, isCostly: selection.isCostly }));
    }
    const condition = compileWhere(where, scope, order);
    const from = scope.from();
    const sql = `SELECT ${selectList(expressions)} FROM ${from} WHERE ${condition} LIMIT ${limit}${locked === true ? lockOf(scope, from) : ''}`;
    return { sql, parameters: scope.parameters };
  }

  /** Converts records to rows, and loads their entities if application code takes part in the values. */
  async rowsOf(records: Records, session: S): Promise<readonly Row[]> {
    const rows = this.decodeRows(records);
    if (!this.loadsEntities) return rows;
    return this.entities.attach(
      rows,
      records.map((record) => this.selection.readIdentity(record)),
      session,
    );
  }

  /** The row of a statement that returns this selection; undefined without a record. */
  rowOf([record]: Records): Row | undefined {
    return record && { key: this.selection.readKey(record), values: this.selection.readValues(record) };
  }

  private decodeRows(records: Records): readonly Row[] {
    const isPair = this.resource.identity !== this.resource.key.columns;
    return records.map((record) => {
      const key = this.selection.readKey(record);
      const values = this.selection.readValues(record);
      return isPair ? { key, values, identity: this.selection.readIdentity(record) } : { key, values };
    });
  }
}
