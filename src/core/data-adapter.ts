import type { CountResult } from './contracts/pagination.js';
import type { IdempotencyStore } from './contracts/idempotency.js';
import type { Representation, Row } from './contracts/serializer.js';
import type { BulkStepError, Json } from './errors/rest-exception.js';
import type { MaybePromise } from './maybe-promise.js';
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
  RestorePlan,
  RetrievePlan,
  UpdatePlan,
} from './query/plan.js';
import type { AggregatePlan, AggregateResult } from './query/aggregate.js';
import type { ModelDescription } from './schema/entity-metadata.js';
import type { ResourceSchema } from './schema/resource-schema.js';

/** The JSON that a read returns: byte for byte the output of `JSON.stringify` for `represent`, whether the database or the process serializes it. */
export interface JsonOutput {
  /** The fields of each object. */
  readonly view: ResourceSchema;
  /** The path prefix of the model's links. */
  readonly basePath: string;
  /** True if `represent` is the default of the model, which a database can write. */
  readonly isDefault: boolean;
  readonly represent: (row: Row) => Representation;
  /** What separates the rows of a list. Default: a comma. */
  readonly separator?: RowSeparator;
}

/** A comma, as in a JSON array, or a line break, as in NDJSON. JSON itself has no line breaks. */
export type RowSeparator = ',' | '\n';

/** The objects of that JSON. */
export interface ObjectOutput extends JsonOutput {
  readonly as: 'objects';
}

/** A row as JSON. */
export interface JsonRow {
  readonly text: string;
  /** The canonical values of the validator columns, of the same state of the row; empty unless the plan reads them. */
  readonly validatorValues: readonly Json[];
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
  readonly responses: IdempotencyStore;
  describe(): ModelDescription;
  /** Runs operations in a transaction of the application, with a savepoint for each write. Rejects if it is none of this data source. */
  join<Result>(manager: object, work: () => Promise<Result>): Promise<Result>;
  /** Prepares a resource; called once at boot for each. Views of resources need no preparation. */
  prepare(resource: ResourceSchema): void;
  /** Whether rows are read without application code such as listeners and subscribers. Evaluated for each request, because subscribers change at run time. */
  bypassesEntityHooks(resource: ResourceSchema): boolean;

  /** Reads the values of the parent's join columns; undefined if there is no such row. */
  read(plan: ParentPlan): Promise<ParentValues | undefined>;
  read(plan: RetrievePlan, output: 'rows'): Promise<Row | undefined>;
  /** Serialized by the database if it can, synchronously if the driver is synchronous. */
  read(plan: RetrievePlan, output: JsonOutput): MaybePromise<JsonRow | undefined>;
  /** Reads one page. Rejects with 404 without the parent, as a list does. Page and count are of one snapshot if the database supports it. */
  read(plan: PagePlan, output: 'rows'): Promise<PageOf<readonly Row[]>>;
  /** The rows as one text, separated by commas; read synchronously if the driver is synchronous. */
  read(plan: PagePlan, output: JsonOutput): MaybePromise<PageOf<string>>;
  /**
   * Streams pages of rows, in order. Holds one page in memory at a time, whatever the length of the list: a page is read once
   * the previous one has been consumed. Ends early if the consumer returns, or once the client has disconnected.
   */
  read(plan: ListPlan, output: 'rows'): AsyncIterable<readonly Row[]>;
  /** The objects of each page: parsed where the database serializes its rows, which costs less than reading their values. */
  read(plan: ListPlan, output: ObjectOutput): AsyncIterable<readonly Representation[]>;
  /** Each page as one text of its rows, with a separator between them. The only page is a string, read synchronously if the driver is synchronous. */
  read(plan: ListPlan, output: JsonOutput): MaybePromise<string | AsyncIterable<string>>;

  /** Computes aggregates of the rows of a list. Rejects with 404 without the parent, as a list does, and with `InexactResult`. */
  aggregate(plan: AggregatePlan): Promise<AggregateResult>;
  /** Counts the rows of a plan with a `count`. */
  count(plan: PagePlan): Promise<CountResult>;
  exists(plan: ExistsPlan): Promise<boolean>;
  /** Reads the related rows of rows that were read before: one statement for a default page of parents. Loads entities for computed fields afterwards. */
  related(plan: RelatedPlan): Promise<readonly RelatedRow[]>;

  /** Inserts a row and never updates one. Atomic, as the other two. */
  write(plan: CreatePlan): MaybePromise<Row>;
  /** Updates a row; undefined if no row matches, or if it does not meet the expectation. */
  write(plan: UpdatePlan): MaybePromise<Row | undefined>;
  /** Deletes a row; false if no row matches, or if it does not meet the expectation. */
  write(plan: DeletePlan): Promise<boolean>;
  /** Restores a soft-deleted row; undefined if no row matches, or if it does not meet the expectation. */
  write(plan: RestorePlan): Promise<Row | undefined>;
  /** The errors of the steps, by their index, that are known before any of them is written. */
  checkAll(plan: BatchPlan): Promise<ReadonlyMap<number, BulkStepError>>;
  /**
   * Runs the writes in one transaction, each as if it were the only one. Resolves to the created and updated rows, in order.
   * Rejects with `BulkWriteError` if single writes are invalid, and with any other error that prevents one.
   */
  writeAll(plan: BatchPlan): Promise<readonly Row[]>;
  /**
   * The same by few statements and without a savepoint, in a transaction of the adapter. False if nothing has been written, and the rows have to be
   * written by `writeAll`. If the database rejects a row, the transaction begins again.
   */
  tryWriteTogether(plan: BatchPlan): Promise<boolean>;
}
