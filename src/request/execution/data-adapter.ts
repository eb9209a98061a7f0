import type { ModelDescription } from '../../model/entity-description.js';
import type { CreatePlan, DeletePlan, ExistsPlan, ListPlan, ParentPlan, ParentValues, RetrievePlan, UpdatePlan } from '../../model/plan.js';
import type { Resource } from '../../model/resource.js';
import type { Representation, Row } from '../../model/serializer.js';

/** How a row is written in process. */
export interface RowWriting {
  /** The path below which the links of its model stand. */
  readonly basePath: string;
  readonly represent: (row: Row) => Representation;
}

/**
 * The port to an ORM: describes its entities at boot and runs plans. Every method rejects with a `RestError` for what
 * the contract names (invalid input, a restricted deletion, a database that is away); anything else is unforeseen.
 */
export interface DataAdapter {
  describe(): ModelDescription;
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
   * `represent`, with commas between. Undefined where it does not.
   */
  listTexts(plan: ListPlan, writing: RowWriting): AsyncIterable<string> | undefined;
  retrieve(plan: RetrievePlan): Promise<Row | undefined>;
  /** As `retrieve`, byte for byte what `JSON.stringify` makes of `represent`; written by the database where it can. */
  retrieveText(plan: RetrievePlan, writing: RowWriting): Promise<string | undefined>;
  /** Only ever inserts. All or nothing. */
  create(plan: CreatePlan): Promise<Row>;
  /** Undefined where no row fits before. All or nothing. */
  update(plan: UpdatePlan): Promise<Row | undefined>;
  /** False where no row fits. All or nothing. */
  delete(plan: DeletePlan): Promise<boolean>;
}
