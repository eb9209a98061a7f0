import type { JsonOutput, ObjectOutput } from '../../../core/data-adapter.js';
import { BlockingTime, nextTurn } from '../../../core/event-loop.js';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Representation } from '../../../core/contracts/serializer.js';
import type { ListPlan } from '../../../core/query/plan.js';
import { parseJson } from '../../../core/values/exact-numbers.js';
import { pagesToJson, pagesToObjects, rowsToJson } from '../../../core/values/rows-to-json.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { jsonPageStatement, listKind, readJsonPage } from '../../../sql/json-page-query.js';
import type { JsonPage } from '../../../sql/json-page-query.js';
import type { JsonRows } from '../../../sql/json-object-sql.js';
import { Scope } from '../../../sql/query-scope.js';
import { labelStatement } from '../../../sql/label-statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { Records, Statement } from '../../../sql/statement.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { Tables } from '../table-metadata.js';
import type { PagePace } from './page-size.js';
import type { RowReader, RowReaderTools } from './row-reader.js';

/** A list whose rows the database serializes. */
interface JsonList {
  readonly plan: ListPlan;
  readonly output: JsonOutput;
  readonly json: JsonRows;
  /** The part of the cache key of its statements. */
  readonly kind: string;
}

/** The rows of one page as comma-separated JSON, and the cursor of its end. */
interface JsonListPage {
  readonly text: string;
  readonly count: number;
  /** The cursor values of the last row if the page is full. */
  readonly last: readonly unknown[];
}

/** The position and size of one page of a list. */
interface ListPageOptions {
  /** The cursor values of the preceding row; undefined for the first page. */
  readonly after: readonly unknown[] | undefined;
  readonly limit: number;
  /** Whether the cursor values of its last row are read, which takes memory for each row in the database. */
  readonly readsCursor: boolean;
}

/** More than the usual number of orders of a model. */
const MAX_NAMES = 200;

/** Reads lists of one resource as JSON, which the database writes where possible: each statement returns a whole page as one text. */
export class JsonListReader {
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  private readonly statements: StatementCache;
  /** The kinds of lists that had more than one page. */
  private readonly longLists = new BoundedSet();

  constructor(
    private readonly rows: RowReader,
    { tables, dialect, connections }: RowReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.statements = new StatementCache(dialect, rows.isClientSelected);
  }

  /** As declared by `DataAdapter.read`. */
  list(plan: ListPlan, output: JsonOutput): MaybePromise<string | AsyncIterable<string>> {
    const json = this.rows.jsonRowsFor(output);
    if (!json) return pagesToJson(this.rows.list(plan), output);
    const list: JsonList = { plan, output, json, kind: listKind(plan, output.basePath) };
    const pace = this.rows.pageSize.pace();
    const limit = pace.rows;
    return mapMaybe(this.readPage(list, undefined, limit), (page) => {
      if (!page) return '';
      if (page.count < limit) return page.text;
      return new JsonPages(page, pace, (after, rows) => this.readPage(list, after, rows));
    });
  }

  /** As declared by `DataAdapter.read`. */
  async *objects(plan: ListPlan, output: ObjectOutput): AsyncGenerator<readonly Representation[]> {
    if (!this.rows.jsonRowsFor(output)) {
      yield* pagesToObjects(this.rows.list(plan), output);
      return;
    }
    const texts = await this.list(plan, output);
    for await (const text of typeof texts === 'string' ? [texts] : texts)
      yield parseJson(`[${text}]`) as unknown as readonly Representation[];
  }

  /** Undefined once the client has disconnected. */
  private readPage(
    list: JsonList,
    after: readonly unknown[] | undefined,
    limit: number,
  ): MaybePromise<JsonListPage | undefined> {
    const { plan, kind } = list;
    const readsCursor = after !== undefined || this.longLists.has(kind);
    const part = { after, limit, readsCursor };
    const complete = (page: JsonListPage | undefined): MaybePromise<JsonListPage | undefined> => {
      if (!page) return undefined;
      if (!readsCursor && page.count === limit) {
        // Earlier lists of this kind had one page. This one is read again, with its cursor.
        this.longLists.add(kind);
        return this.readPage(list, after, limit);
      }
      this.rows.pageSize.learn(page.count, page.text.length);
      return page;
    };
    const inProcess = (): MaybePromise<JsonListPage | undefined> =>
      mapMaybe(this.serializePage(list, after, limit), complete);
    const toPage = (records: Records | undefined): MaybePromise<JsonListPage | undefined> => {
      const page = records && this.decodePage(list, part, records);
      return records && (page ? complete(page) : inProcess());
    };
    try {
      const statement = this.pageStatement(list, part);
      const read = this.rows.readJson(
        () => mapMaybe(this.connections.readUnlessAborted(statement, plan.requester), toPage),
        () => mapMaybe(after ? undefined : this.rows.assertParentExists(plan), inProcess),
      );
      return isPromise(read)
        ? read.catch((error: unknown) => this.rows.rethrowAfterParent(plan, error))
        : read;
    } catch (error) {
      return this.rows.rethrowAfterParent(plan, error);
    }
  }

  /** Cached, unless the shape of the filter comes from the caller. */
  private pageStatement({ plan, output, json, kind }: JsonList, part: ListPageOptions): Statement {
    const { after, limit, readsCursor } = part;
    const { resource } = this.rows;
    const compile = (position: readonly unknown[] | undefined): Statement =>
      labelStatement(
        jsonPageStatement(pageOf(plan, { ...part, after: position }), this.beginScope(), {
          json,
          basePath: output.basePath,
        }),
        { operation: 'list', resource },
        [{ resource, where: plan.where }, ...(plan.parent ? [plan.parent] : [])],
      );
    if (plan.oneOff === true) return compile(after);
    if (!after) {
      const conditions = plan.parent ? [plan.where, plan.parent.where] : [plan.where];
      return this.statements.of(`${limit} ${readsCursor} ${kind}`, conditions, () => compile(undefined));
    }
    return this.statements.ofPosition(
      `${limit} ${kind}`,
      { conditions: [plan.where], position: after },
      compile,
    );
  }

  /**
   * Undefined if the page has a row that the database cannot serialize.
   *
   * @throws NotFound if the parent does not exist.
   */
  private decodePage(
    { plan, json, output }: JsonList,
    part: ListPageOptions,
    records: Records,
  ): JsonListPage | undefined {
    const { text, size, last } = readJsonPage(records, pageOf(plan, part), {
      json,
      scope: { dialect: this.dialect, resource: plan.resource },
      separator: output.separator,
    });
    return text === undefined ? undefined : { text, count: size, last };
  }

  /** Reads a page with a row that the database cannot serialize. */
  private async serializePage(
    { plan: { where, order, requester, oneOff }, output }: JsonList,
    after: readonly unknown[] | undefined,
    limit: number,
  ): Promise<JsonListPage | undefined> {
    const page = await this.rows.readPage({ where, order, after, limit, oneOff }, { requester });
    return (
      page && {
        text: rowsToJson(page.rows, output),
        count: page.records.length,
        last: page.records.at(-1)?.slice(-order.length) ?? [],
      }
    );
  }

  private beginScope(): Scope {
    return Scope.begin(this.dialect, this.tables, this.rows.resource);
  }
}

/** The first page also checks that the parent exists. */
function pageOf(
  { where, order, parent }: ListPlan,
  { after, limit, readsCursor }: ListPageOptions,
): JsonPage {
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

type ReadPage = (after: readonly unknown[], limit: number) => MaybePromise<JsonListPage | undefined>;

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The texts of the pages of a long list. It refers to no page that it has returned, as the frame of a generator would:
 * the pages of all lists that wait for their turn would be copied by each garbage collection of the young generation.
 */
class JsonPages implements AsyncIterableIterator<string> {
  private blocking: BlockingTime | undefined;
  private hasEnded = false;
  /** The cursor values of the last row that was read; undefined at the end. */
  private after: readonly unknown[] | undefined;

  constructor(
    private first: JsonListPage | undefined,
    private readonly pace: PagePace,
    private readonly readPage: ReadPage,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string>> {
    const { first } = this;
    if (!first) return this.readNext();
    this.first = undefined;
    this.after = first.last;
    return { done: false, value: first.text };
  }

  return(): Promise<IteratorResult<string>> {
    this.hasEnded = true;
    this.first = undefined;
    this.after = undefined;
    return Promise.resolve(DONE);
  }

  /** Reads the next page in a turn of the event loop of its own. */
  private async readNext(): Promise<IteratorResult<string>> {
    const { after, pace } = this;
    if (!after) return DONE;
    // An error ends the iteration.
    this.after = undefined;
    if (this.blocking) pace.learn(this.blocking.milliseconds);
    await nextTurn();
    this.blocking = new BlockingTime();
    const limit = pace.rows;
    const page = await this.readPage(after, limit);
    if (!page || this.hasEnded) return DONE;
    if (page.count === limit) this.after = page.last;
    return { done: false, value: page.text };
  }
}

/** A set of names with a bounded size: it is cleared when it is full. */
class BoundedSet {
  private readonly names = new Set<string>();

  has(name: string): boolean {
    return this.names.has(name);
  }

  add(name: string): void {
    if (this.names.size >= MAX_NAMES) this.names.clear();
    this.names.add(name);
  }
}
