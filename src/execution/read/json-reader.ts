import { validatorValuesIn } from '../../core/contracts/conditional.js';
import type { Representation } from '../../core/contracts/serializer.js';
import type { JsonOutput, JsonRow, ObjectOutput, PageOf } from '../../core/data-adapter.js';
import { isPromise, mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { CountPlan, ListPlan, PagePlan, RetrievePlan } from '../../core/query/plan.js';
import { parseJson } from '../../core/values/exact-numbers.js';
import { pagesToJson, pagesToObjects, rowToJson, rowsToJson } from '../../core/values/rows-to-json.js';
import { isWritten } from '../choose-read.js';
import { compileWhere } from '../../sql/compile-where.js';
import type { JsonRowCompiler } from '../../sql/json-object-sql.js';
import { jsonPageStatement, listKind, readJsonPage } from '../../sql/json-page-query.js';
import type { JsonPage, JsonPageRecord } from '../../sql/json-page-query.js';
import { labelStatement } from '../../sql/statement.js';
import { decodeRecord, readColumns, selectList } from '../../sql/query-scope.js';
import { StatementCache } from '../../sql/statement-cache.js';
import type { Records, Statement } from '../../sql/statement.js';
import { insertStoredJson } from '../../sql/stored-json.js';
import type { Session } from '../port.js';
import { iteratePages } from './list-pages.js';
import type { ListPage } from './list-pages.js';
import { NO_ROWS } from './row-reader.js';
import type { RowReader } from './row-reader.js';

/** A list or a page whose rows the database serializes. */
interface JsonQuery<Plan extends ListPlan | PagePlan = ListPlan | PagePlan> {
  readonly plan: Plan;
  readonly output: JsonOutput;
  readonly json: JsonRowCompiler;
}

/** What becomes of a page that is read. */
interface PageUse<Result> {
  readonly complete: (text: string, page: JsonPageRecord) => MaybePromise<Result>;
  /** Reads a page with a row that the database cannot serialize. */
  readonly serialize: (isParentKnown: boolean) => MaybePromise<Result>;
  /** The result once the client has disconnected. */
  readonly aborted: Result;
}

/** More than the usual number of orders of a model. */
const MAX_NAMES = 200;

/**
 * Reads rows, lists and pages of one resource as JSON, which the database writes where possible: each statement returns a whole
 * page as one text.
 */
export class JsonReader<S extends Session> {
  private readonly statements: StatementCache;
  /** The kinds of lists that had more than one page; cleared when it is full. */
  private readonly longLists = new Set<string>();

  constructor(private readonly rows: RowReader<S>) {
    this.statements = new StatementCache(rows.tools.dialect, rows.isClientSelected);
  }

  /** The serialization of rows by the database; undefined if rows are serialized in this process. */
  jsonRowsFor({ isDefault }: Pick<JsonOutput, 'isDefault'>): JsonRowCompiler | undefined {
    const { choices } = this.rows;
    return choices.choose(isDefault).lane === 'json' ? choices.json : undefined;
  }

  /** As declared by `DataAdapter.read`. */
  row(plan: RetrievePlan, output: JsonOutput): MaybePromise<JsonRow | undefined> {
    const json = this.jsonRowsFor(output);
    if (!json) return this.serializeRow(plan, output);
    const { dialect, connections } = this.rows.tools;
    const { validators } = plan;
    const statement = this.rowStatement(plan, output, json);
    const toRow = ([record]: Records): MaybePromise<JsonRow | undefined> => {
      if (!record) return undefined;
      const text = readText(record, json);
      if (!isWritten(text)) return this.serializeRow(plan, output);
      const validatorValues = validators ? decodeRecord(record.slice(1), validators.columns, dialect) : [];
      return { text, validatorValues };
    };
    return this.readJson(
      () => mapMaybe(connections.read(statement, 'replica', plan.requester), toRow),
      () => this.serializeRow(plan, output),
    );
  }

  private rowStatement(
    { where, validators }: RetrievePlan,
    { basePath }: JsonOutput,
    json: JsonRowCompiler,
  ): Statement {
    return this.statements.of(`${validators ? 'validated' : 'row'} ${basePath}`, [where], () => {
      const scope = this.rows.beginScope();
      const list = selectList([
        json.sql(scope, basePath),
        ...readColumns(validators?.columns ?? [], scope),
        ...json.stored.map(({ sql }) => sql(scope)),
      ]);
      const condition = compileWhere(where, scope);
      const { resource } = this.rows;
      const sql = `SELECT ${list} FROM ${scope.from()} WHERE ${condition} LIMIT 1`;
      return labelStatement({ sql, parameters: scope.parameters }, { operation: 'retrieve', resource }, [
        { resource, where },
      ]);
    });
  }

  private async serializeRow(plan: RetrievePlan, output: JsonOutput): Promise<JsonRow | undefined> {
    const row = await this.rows.retrieve(plan);
    return (
      row && {
        text: rowToJson(row, output),
        validatorValues: plan.validators ? validatorValuesIn(row, plan.validators) : [],
      }
    );
  }

  /** As declared by `DataAdapter.read`. */
  list(plan: ListPlan, output: JsonOutput): MaybePromise<string | AsyncIterable<string>> {
    const json = this.jsonRowsFor(output);
    if (!json) return pagesToJson(this.rows.list(plan), output);
    const list = { plan, output, json, kind: listKind(plan, output.basePath) };
    const pace = this.rows.pageSize.pace();
    const limit = pace.rows;
    return mapMaybe(this.readListPage(list, undefined, limit), (page) => {
      if (!page) return '';
      if (page.count < limit) return page.text;
      return iteratePages(page, pace, (after, rows) => this.readListPage(list, after, rows));
    });
  }

  /** As declared by `DataAdapter.read`. */
  async *objects(plan: ListPlan, output: ObjectOutput): AsyncGenerator<readonly Representation[]> {
    if (!this.jsonRowsFor(output)) {
      yield* pagesToObjects(this.rows.list(plan), output);
      return;
    }
    const texts = await this.list(plan, output);
    for await (const text of typeof texts === 'string' ? [texts] : texts)
      yield parseJson(`[${text}]`) as unknown as readonly Representation[];
  }

  /** Undefined once the client has disconnected. The first page also checks that the parent exists. */
  private readListPage(
    list: JsonQuery<ListPlan> & { readonly kind: string },
    after: readonly unknown[] | undefined,
    limit: number,
  ): MaybePromise<ListPage | undefined> {
    const { plan, kind } = list;
    // Reading the cursor values of the last row takes memory for each row in the database.
    const readsCursor = after !== undefined || this.longLists.has(kind);
    const complete = (page: ListPage | undefined): MaybePromise<ListPage | undefined> => {
      if (!page) return undefined;
      if (!readsCursor && page.count === limit) {
        // Earlier lists of this kind had one page. This one is read again, with its cursor.
        if (this.longLists.size >= MAX_NAMES) this.longLists.clear();
        this.longLists.add(kind);
        return this.readListPage(list, after, limit);
      }
      this.rows.pageSize.learn(page.count, page.text.length);
      return page;
    };
    return this.readPage(listPage(plan, { after, limit, readsCursor }), list, {
      complete: (text, { size, last }) => complete({ text, count: size, last }),
      serialize: (isParentKnown) =>
        mapMaybe(isParentKnown || after ? undefined : this.rows.assertParentExists(plan), () =>
          mapMaybe(this.serializeListPage(list, after, limit), complete),
        ),
      aborted: undefined,
    });
  }

  private async serializeListPage(
    { plan: { where, order, requester, uncacheable }, output }: JsonQuery<ListPlan>,
    after: readonly unknown[] | undefined,
    limit: number,
  ): Promise<ListPage | undefined> {
    const page = await this.rows.readPage({ where, order, after, limit, uncacheable }, { requester });
    return (
      page && {
        text: rowsToJson(page.rows, output),
        count: page.records.length,
        last: page.records.at(-1)?.slice(-order.length) ?? [],
      }
    );
  }

  /** As declared by `DataAdapter.read`. */
  page(plan: PagePlan, output: JsonOutput): MaybePromise<PageOf<string>> {
    const json = this.jsonRowsFor(output);
    if (!json) return this.serializePage(plan, output);
    return this.readPage(
      requestedPage(plan),
      { plan, output, json },
      {
        complete: (text, { counted, size, more, first, last }) => {
          const count = plan.count && this.rows.knownCount(plan.count, counted);
          const page = { rows: text, size, more, first, last, count };
          return plan.count && !count
            ? this.rows.estimate(plan, plan.count).then((estimated) => ({ ...page, count: estimated }))
            : page;
        },
        serialize: () => this.serializePage(plan, output),
        aborted: { ...NO_ROWS, rows: '' },
      },
    );
  }

  private async serializePage(plan: PagePlan, output: JsonOutput): Promise<PageOf<string>> {
    const { rows, ...page } = await this.rows.page(plan);
    return { ...page, rows: rowsToJson(rows, output) };
  }

  /** Reads a page by one statement. */
  private readPage<Result>(
    page: JsonPage,
    query: JsonQuery,
    { complete, serialize, aborted }: PageUse<Result>,
  ): MaybePromise<Result> {
    const { plan, output, json } = query;
    const { dialect, connections } = this.rows.tools;
    const toResult = (records: Records | undefined): MaybePromise<Result> => {
      if (!records) return aborted;
      const scope = { dialect, resource: plan.resource };
      const read = readJsonPage(records, page, { json, scope, separator: output.separator });
      return isWritten(read.text) ? complete(read.text, read) : serialize(true);
    };
    const statement = this.pageStatement(page, query);
    return this.readJson(
      () => mapMaybe(connections.readUnlessAborted(statement, plan.requester), toResult),
      () => serialize(false),
    );
  }

  /** Cached, unless the shape of the filter comes from the caller. */
  private pageStatement(page: JsonPage, { plan, output: { basePath }, json }: JsonQuery): Statement {
    const { where, parent, count, from, offset, limit, edges, lookahead } = page;
    const compile = (position: readonly unknown[]): Statement =>
      labelStatement(
        jsonPageStatement(pageAt(page, position), this.rows.beginScope(), { json, basePath }),
        { operation: 'list', resource: plan.resource },
        [plan, ...(plan.parent ? [plan.parent] : [])],
      );
    const position = offset === 0 ? (from?.values ?? []) : [...(from?.values ?? []), offset];
    if (plan.uncacheable === true) return compile(position);
    const conditions = [where, ...(parent ? [parent.where] : []), ...(count ? [where] : [])];
    const kind = `${limit} ${edges} ${lookahead} ${countText(count)} ${listKind(page, basePath)}`;
    if (position.length === 0) return this.statements.of(kind, conditions, () => compile(position));
    const side = from ? `${from.backward ? 'before' : 'after'} ${from.inclusive}` : '';
    return this.statements.ofPosition(`${side} ${offset === 0} ${kind}`, { conditions, position }, compile);
  }

  /** Reads as the database writes it, or by `general` if it cannot because of a column's type; from then on no rows are. */
  private readJson<Result>(
    read: () => MaybePromise<Result>,
    general: () => MaybePromise<Result>,
  ): MaybePromise<Result> {
    return rescueMaybe(read, (error) => {
      if (this.rows.tools.dialect.json?.isTypeError?.(error) !== true) throw error;
      return mapMaybe(general(), (result) => {
        this.rows.choices.withdrawJson();
        return result;
      });
    });
  }
}

/** Runs `work`, and `rescue` with its error, synchronously unless it returns a promise. */
function rescueMaybe<Result>(
  work: () => MaybePromise<Result>,
  rescue: (error: unknown) => MaybePromise<Result>,
): MaybePromise<Result> {
  try {
    const result = work();
    return isPromise(result) ? result.catch(rescue) : result;
  } catch (error) {
    return rescue(error);
  }
}

/** Undefined if only the process can serialize the row. */
function readText(record: readonly unknown[], json: JsonRowCompiler): string | undefined {
  const [text] = record;
  if (typeof text !== 'string' || !json.isValidJson(text)) return undefined;
  const texts = record.slice(record.length - json.stored.length);
  return insertStoredJson(text, json.stored, { texts, total: 1, count: 1, skipped: 0 });
}

interface ListPosition {
  /** The cursor values of the preceding row; undefined for the first page. */
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
  readonly readsCursor: boolean;
}

function listPage({ where, order, parent }: ListPlan, { after, limit, readsCursor }: ListPosition): JsonPage {
  return {
    where,
    order,
    from: after && { values: after, backward: false, inclusive: false },
    offset: 0,
    limit,
    lookahead: false,
    edges: readsCursor ? 'last' : 'none',
    parent: after ? undefined : parent,
    count: undefined,
  };
}

/** Written out, because the properties of a plan are copied slowly. */
function requestedPage({ where, order, from, offset, limit, parent, count, edges }: PagePlan): JsonPage {
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
function pageAt(page: JsonPage, position: readonly unknown[]): JsonPage {
  const { from, offset } = page;
  return {
    ...page,
    from: from && { ...from, values: position.slice(0, from.values.length) },
    offset: offset === 0 ? 0 : (position.at(-1) as number),
  };
}

/** Identifies a count in cache keys: statements of a bounded and of an estimated count are equal. */
function countText(count: CountPlan | undefined): string {
  if (!count) return '';
  return count.kind === 'exact' ? 'exact' : `${count.upTo}`;
}
