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

/** The serializer of rows in this process, for a path prefix. */
export interface RowEncoder {
  /** The path prefix of its model's links. */
  readonly basePath: string;
  readonly represent: (row: Row) => Representation;
}

/** A row as JSON, and the canonical values of its validator columns. */
export interface ValidatedJson {
  readonly text: string;
  readonly stamps: readonly Json[];
}

/** A page with its rows, or with their text. */
export interface PageOf<Rows> {
  readonly rows: Rows;
  readonly size: number;
  /** Whether more rows follow the last one that was read. */
  readonly more: boolean;
  readonly count: CountResult | undefined;
  /** Order values of the row that was read first, if the plan has `edges`; in a backward page that is its last row. */
  readonly first: readonly unknown[];
  /** Order values of the row that was read last; set if there are more. */
  readonly last: readonly unknown[];
}

/** A row with the `identity` of the parent to which it belongs. */
export interface RelatedRow {
  readonly identity: readonly Json[];
  /** The same object for all parents of the row. */
  readonly row: Row;
}

/**
 * The port to an ORM: describes its entities at boot and runs plans. Every method rejects with a `RestException` for the
 * cases of contract 6.1 (invalid input, a restricted deletion, an unavailable database); any other error is unexpected.
 */
export interface DataAdapter {
  /** The store of idempotent responses, in the same database, so that a response commits in the transaction of its rows. */
  readonly answers: IdempotencyStore;
  describe(): ModelDescription;
  /** Converts an error of the application's own statement: a `RestException` if the database is unavailable or has aborted it, else the same error. */
  reported(error: unknown): unknown;
  /** Prepares a resource; called once at boot for each. Views of resources need no preparation. */
  prepare(resource: Resource): void;
  /** Reads the values of the parent's join columns; undefined if there is no such row. */
  findParent(plan: ParentPlan): Promise<ParentValues | undefined>;
  exists(plan: ExistsPlan): Promise<boolean>;
  /**
   * Streams pages of rows, in order. Holds one page in memory at a time, whatever the length of the list: a page is read once
   * the previous one has been consumed. Ends early if the consumer returns, or once the client has disconnected.
   */
  list(plan: ListPlan): AsyncIterable<readonly Row[]>;
  /**
   * As `list`, with the rows serialized by the database: each page is one text, byte for byte the output of `JSON.stringify`
   * for `represent`, separated by commas. Reads the first page and returns its text if it is the only one, synchronously if
   * the driver is synchronous. Undefined if the database cannot serialize them.
   */
  listTexts(plan: ListPlan, writing: RowEncoder): MaybePromise<string | AsyncIterable<string>> | undefined;
  /** Reads one page. Rejects with 404 without the parent, as a list does. Page and count are of one snapshot if the database supports it. */
  page(plan: PagePlan): Promise<PageOf<readonly Row[]>>;
  /** As `page`, with the rows as one text, byte for byte the output of `JSON.stringify` for `represent`, separated by commas; serialized by the database if it can. */
  pageText(plan: PagePlan, writing: RowEncoder): Promise<PageOf<string>>;
  /** Counts the rows of a plan with a `count`. */
  countRows(plan: PagePlan): Promise<CountResult>;
  /** Reads the related rows of rows that were read before: one statement for a default page of parents. Loads entities for computed fields afterwards. */
  related(plan: RelatedPlan): Promise<readonly RelatedRow[]>;
  retrieve(plan: RetrievePlan): Promise<Row | undefined>;
  /** As `retrieve`, byte for byte the output of `JSON.stringify` for `represent`; serialized by the database if it can, synchronously if the driver is synchronous. */
  retrieveText(plan: RetrievePlan, writing: RowEncoder): MaybePromise<string | undefined>;
  /** As `retrieveText`, with the values of the view's validator columns, from the same state of the row. */
  retrieveStamped(plan: RetrievePlan, writing: RowEncoder): Promise<ValidatedJson | undefined>;
  /** Whether rows are read without application code such as listeners and subscribers. Evaluated for each request, because subscribers change at run time. */
  readsAsStored(resource: Resource): boolean;
  /** Inserts a row and never updates one. Atomic. */
  create(plan: CreatePlan): MaybePromise<Row>;
  /** Updates a row; undefined if no row matches, or if it does not meet the expectation. Atomic. */
  update(plan: UpdatePlan): MaybePromise<Row | undefined>;
  /** Deletes a row; false if no row matches, or if it does not meet the expectation. Atomic. */
  delete(plan: DeletePlan): Promise<boolean>;
  /**
   * Runs the writes in one transaction, each as if it were the only one. Resolves to the created and updated rows, in order.
   * Rejects with `BulkWriteError` if single writes are invalid, and with any other error that prevents one.
   */
  writeAll(plan: BatchPlan): Promise<readonly Row[]>;
}
