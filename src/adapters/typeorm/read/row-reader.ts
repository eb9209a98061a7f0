import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { JsonOutput } from '../../../core/data-adapter.js';
import { NotFound } from '../../../core/errors/http-exceptions.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import { BlockingTime, nextTurn } from '../../../core/event-loop.js';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Condition } from '../../../core/query/condition.js';
import type { ListPlan, RetrievePlan } from '../../../core/query/plan.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { OrderTerm, ResourceSchema } from '../../../core/schema/resource-schema.js';
import { cursorColumns } from '../../../sql/compile-order.js';
import { compileWhere } from '../../../sql/compile-where.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { existsStatement } from '../../../sql/exists-query.js';
import { orderText, pageRows } from '../../../sql/json-page-query.js';
import { jsonRows } from '../../../sql/json-object-sql.js';
import type { JsonRows } from '../../../sql/json-object-sql.js';
import { lockOf } from '../../../sql/lock-clause.js';
import { Scope } from '../../../sql/query-scope.js';
import { selectList } from '../../../sql/select-columns.js';
import { selectRows } from '../../../sql/select-query.js';
import type { Selection } from '../../../sql/select-query.js';
import { labelStatement } from '../../../sql/label-statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { Records, Statement } from '../../../sql/statement.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { Tables } from '../table-metadata.js';
import { EntityLoader } from './entity-loader.js';
import type { JsonSubtypeTables } from './json-subtype-tables.js';
import { charactersOf, PageSize } from './page-size.js';

/** A keyset page of a list: with an index on the order and the key, no page costs more for its position. */
export interface KeysetPage {
  readonly where: Condition;
  readonly order: readonly OrderTerm[];
  /** The cursor values of the last row of the previous page; undefined for the first page. */
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
  /** As in `ListPlan`. */
  readonly oneOff?: boolean | undefined;
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

export interface RowReaderTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager;
  readonly subtypeTables: JsonSubtypeTables;
}

/** Reads the rows of one resource as values, and knows whether the database can serialize them. */
export class RowReader {
  readonly selection: Selection;
  /** The page size of its lists, learned from the rows that were read. */
  readonly pageSize = new PageSize();
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  private readonly entities: EntityLoader | undefined;
  private readonly statements: StatementCache;
  private readonly subtypeTables: JsonSubtypeTables;
  /** `rows` is undefined if the database cannot serialize them. Created on first use. */
  private json: { readonly rows: JsonRows | undefined } | undefined;

  constructor(
    readonly resource: ResourceSchema,
    { tables, dialect, connections, subtypeTables }: RowReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.subtypeTables = subtypeTables;
    this.selection = selectRows(resource, dialect);
    this.statements = new StatementCache(dialect, this.isClientSelected);
    const { metadata, dataSource } = tables.of(resource);
    this.entities = metadata.isJunction
      ? undefined
      : new EntityLoader(resource, metadata, { dataSource, dialect });
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
      const { where, order, requester, oneOff } = plan;
      const page = await this.readPage({ where, order, after, limit, oneOff }, { requester, blocking });
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
    if (this.needsEntities())
      return this.connections.readingUnlessAborted(
        (runner) => this.readRows(statement, runner, blocking),
        requester,
      );
    return mapMaybe(this.connections.readUnlessAborted(statement, requester), (records) => {
      blocking?.resume();
      return records && { records, rows: this.decodeRows(records) };
    });
  }

  /** Cached, unless the shape of the filter comes from the caller. */
  private pageStatement(page: KeysetPage): Statement {
    const { where, order, after, limit, oneOff } = page;
    if (oneOff === true) return this.rowsStatement(page);
    const kind = `rows ${limit}${orderText(order)}`;
    return after
      ? this.statements.ofPosition(kind, { conditions: [where], position: after }, (position) =>
          this.rowsStatement({ where, order, after: position, limit }),
        )
      : this.statements.of(kind, [where], () => this.labelRows('list', page));
  }

  /** The serialization of rows by the database; undefined if rows are serialized in this process. */
  jsonRowsFor({ isDefault }: Pick<JsonOutput, 'isDefault'>): JsonRows | undefined {
    return isDefault && !this.needsEntities() ? (this.json ??= this.compileJson()).rows : undefined;
  }

  /** Reads rows as the database writes them, or by `general` if it cannot because of a column's type; from then on no rows are. */
  readJson<Result>(
    read: () => MaybePromise<Result>,
    general: () => MaybePromise<Result>,
  ): MaybePromise<Result> {
    const readOtherwise = (error: unknown): MaybePromise<Result> => {
      if (this.dialect.json?.isTypeError?.(error) !== true) throw error;
      return mapMaybe(general(), (result) => {
        this.json = { rows: undefined };
        return result;
      });
    };
    try {
      const result = read();
      return isPromise(result) ? result.catch(readOtherwise) : result;
    } catch (error) {
      return readOtherwise(error);
    }
  }

  private compileJson(): { readonly rows: JsonRows | undefined } {
    const { resource, dialect, tables } = this;
    const { metadata } = tables.of(resource);
    return {
      rows: this.subtypeTables.mayHaveSubtype(metadata) ? undefined : jsonRows(resource, dialect),
    };
  }

  /** Whether entities are loaded for the rows, because application code takes part in their values. */
  needsEntities(): boolean {
    return this.entities?.isNeeded() === true;
  }

  /** Throws 404 if the parent of a list does not exist. */
  async assertParentExists({ parent }: Pick<ListPlan, 'parent'>): Promise<void> {
    if (!parent) return;
    const { length } = await this.connections.read(
      existsStatement(parent, this.dialect, this.tables),
      'replica',
      parent.requester,
    );
    if (length === 0) throw new NotFound();
  }

  /** Rethrows the error of a list; the 404 of its parent precedes a 400 (contract 6.3). */
  async rethrowAfterParent(plan: Pick<ListPlan, 'parent'>, error: unknown): Promise<never> {
    if (isRestException(error) && error.answer.status === 400) await this.assertParentExists(plan);
    throw error;
  }

  /** Reads one row. */
  async retrieve({
    where,
    requester,
    forWriting,
  }: Omit<RetrievePlan, 'kind' | 'resource'>): Promise<Row | undefined> {
    const statement = this.statementOfOne(where);
    const from = forWriting === true ? 'primary' : 'replica';
    if (!this.needsEntities())
      return this.decodeRows(await this.connections.read(statement, from, requester))[0];
    const { rows } = await this.connections.reading(
      from,
      (runner) => this.readRows(statement, runner),
      requester,
    );
    return rows[0];
  }

  /** Reads one row on the connection of a transaction. */
  async retrieveWithin(where: Condition, runner: QueryRunner): Promise<Row | undefined> {
    const { rows } = await this.readRows(this.statementOfOne(where), runner);
    return rows[0];
  }

  private statementOfOne(where: Condition): Statement {
    return this.statements.of('row', [where], () =>
      this.labelRows('retrieve', { where, order: [], after: undefined, limit: 1 }),
    );
  }

  /** Reads the current state of the row, whatever the snapshot of the transaction, and locks it. */
  async retrieveLocked(where: Condition, runner: QueryRunner): Promise<Row | undefined> {
    const statement = this.statements.of('locked row', [where], () =>
      this.labelRows('lock', { where, order: [], after: undefined, limit: 1, locked: true }),
    );
    return (await this.readRows(statement, runner)).rows[0];
  }

  private async readRows(
    statement: Statement,
    runner: QueryRunner,
    blocking?: BlockingTime,
  ): Promise<PageOfRecords> {
    const records = await this.connections.records(runner, statement);
    blocking?.resume();
    return { records, rows: await this.rowsOf(records, runner) };
  }

  private labelRows(operation: string, query: RowsQuery): Statement {
    const { resource } = this;
    return labelStatement(this.rowsStatement(query), { operation, resource }, [
      { resource, where: query.where },
    ]);
  }

  private rowsStatement({ where, order, after, limit, locked }: RowsQuery): Statement {
    const scope = Scope.begin(this.dialect, this.tables, this.resource);
    const { selection } = this;
    const expressions = [...selection.expressions(scope), ...cursorColumns(order, scope)];
    if (order.length > 0) {
      const from = after && { values: after, backward: false, inclusive: false };
      const page = { where, order, from, offset: 0, limit, lookahead: false };
      const sql = pageRows(page, scope, { expressions, isCostly: selection.isCostly });
      return { sql, parameters: scope.parameters };
    }
    const condition = compileWhere(where, scope, order);
    const from = scope.from();
    const sql = `SELECT ${selectList(expressions)} FROM ${from} WHERE ${condition} LIMIT ${limit}${locked === true ? lockOf(scope, from) : ''}`;
    return { sql, parameters: scope.parameters };
  }

  /** Converts records to rows, and loads their entities if application code takes part in the values. */
  async rowsOf(records: Records, runner: QueryRunner): Promise<readonly Row[]> {
    const rows = this.decodeRows(records);
    if (!this.entities || !this.needsEntities()) return rows;
    return this.entities.attach(
      rows,
      records.map((record) => this.selection.readIdentity(record)),
      runner,
    );
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
