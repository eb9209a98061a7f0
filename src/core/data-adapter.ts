import type { Json } from './errors/rest-exception.js';
import type { ModelDescription } from './schema/entity-metadata.js';
import type { CountResult } from './contracts/pagination.js';
import type {
  BatchPlan,
  CreatePlan,
  DeletePlan,
  ExistsPlan,
  ListPlan,
  PagePlan,
  ParentPlan,
  ParentValues,
  RelatedPlan,
  RetrievePlan,
  UpdatePlan,
} from './query/plan.js';
import type { Resource } from './schema/resource.js';
import type { Representation, Row } from './contracts/serializer.js';
import type { MaybePromise } from './maybe-promise.js';
import type { IdempotencyStore } from './contracts/response-store.js';

/** How a row is written in process. */
export interface RowEncoder {
  /** The path below which the links of its model stand. */
  readonly basePath: string;
  readonly represent: (row: Row) => Representation;
}

/** A row as JSON, and canonical values of its stamps. */
export interface ValidatedJson {
  readonly text: string;
  readonly stamps: readonly Json[];
}

/** A page as it was read: its rows, or their text. */
export interface PageOf<Rows> {
  readonly rows: Rows;
  readonly size: number;
  /** Whether there are rows behind the last one that was read. */
  readonly more: boolean;
  readonly count: CountResult | undefined;
  /** Values of the order, where the plan asks for edges: of the row that was read first, which before a position is the page's last one. */
  readonly first: readonly unknown[];
  /** Of the row that was read last; told where there are more. */
  readonly last: readonly unknown[];
}

/** A row that belongs to a parent, which is named by its `identity`. */
export interface RelatedRow {
  readonly identity: readonly Json[];
  /** One object for each row, however many parents it belongs to. */
  readonly row: Row;
}

/**
 * The port to an ORM: describes its entities at boot and runs plans. Every method rejects with a `RestException` for the
 * cases of contract 6.1 (invalid input, a restricted deletion, a database that is away); anything else is unforeseen.
 */
export interface DataAdapter {
  /** Of the same database, so that an answer is kept by the transaction that writes its rows. */
  readonly answers: IdempotencyStore;
  describe(): ModelDescription;
  /** What a statement of the application's own has thrown: a `RestException` where the database is away, or has given it up; else the same. */
  reported(error: unknown): unknown;
  /** Once, at boot, for each resource that it will be asked for; views of them need none. */
  prepare(resource: Resource): void;
  /** The parent's joining values, or undefined where there is no such row. */
  findParent(plan: ParentPlan): Promise<ParentValues | undefined>;
  exists(plan: ExistsPlan): Promise<boolean>;
  /**
   * Pages of rows, in order. Memory holds one page at a time, whatever the length of the list; a page is read when the
   * one before it has been taken. Ends early when the consumer returns, or when nobody waits for it any more (`gone`).
   */
  list(plan: ListPlan): AsyncIterable<readonly Row[]>;
  /**
   * As `list`, where the database writes the rows itself: each page one text, byte for byte what `JSON.stringify` makes of
   * `represent`, with commas between. Reads the first page, and gives its text where there is no other one, at once where
   * nothing has to be waited for. Undefined where the database does not write them.
   */
  listTexts(plan: ListPlan, writing: RowEncoder): MaybePromise<string | AsyncIterable<string>> | undefined;
  /** Throws 404 where the parent is not there, as a list does. Page and count are of one state of the rows, where the database gives one. */
  page(plan: PagePlan): Promise<PageOf<readonly Row[]>>;
  /** As `page`, the rows one text, byte for byte what `JSON.stringify` makes of `represent`, with commas between; by the database where it can. */
  pageText(plan: PagePlan, writing: RowEncoder): Promise<PageOf<string>>;
  /** How many rows a plan with a `count` is about. */
  countRows(plan: PagePlan): Promise<CountResult>;
  /** What belongs to rows that were read before: one statement for as many as an answer has by default, whatever belongs to them. Entities that computed fields need are loaded behind it. */
  related(plan: RelatedPlan): Promise<readonly RelatedRow[]>;
  retrieve(plan: RetrievePlan): Promise<Row | undefined>;
  /** As `retrieve`, byte for byte what `JSON.stringify` makes of `represent`; written by the database where it can, and at once where nothing has to be waited for. */
  retrieveText(plan: RetrievePlan, writing: RowEncoder): MaybePromise<string | undefined>;
  /** As `retrieveText`, with the values of the view's stamps, of the same state of the row. */
  retrieveStamped(plan: RetrievePlan, writing: RowEncoder): Promise<ValidatedJson | undefined>;
  /** Whether nothing of the application has a say in what is read of a row. Subscribers may come and go. */
  readsAsStored(resource: Resource): boolean;
  /** Only ever inserts. All or nothing. */
  create(plan: CreatePlan): MaybePromise<Row>;
  /** Undefined where no row fits before, or one is not as it is expected. All or nothing. */
  update(plan: UpdatePlan): MaybePromise<Row | undefined>;
  /** False where no row fits, or one is not as it is expected. All or nothing. */
  delete(plan: DeletePlan): Promise<boolean>;
  /**
   * Each write as by itself, all of them in one transaction. The rows that were made and changed, in their order. Rejects with
   * `BulkWriteError` where something is wrong with single ones, and with what else keeps one from being written.
   */
  writeAll(plan: BatchPlan): Promise<readonly Row[]>;
}
