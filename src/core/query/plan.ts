import type { CommittedWrite, StoredValues } from '../contracts/hooks.js';
import type { ValidatorColumns } from '../contracts/conditional.js';
import type { CursorPosition } from '../contracts/pagination.js';
import type { Row } from '../contracts/serializer.js';
import type { BulkStepError, FieldErrors, Json, RestException } from '../errors/rest-exception.js';
import type { Column } from '../schema/column.js';
import type { ColumnPair, ToOneRelation } from '../schema/relation.js';
import type { OrderTerm, ResourceSchema } from '../schema/resource-schema.js';
import type { Condition } from './condition.js';

/** The client on whose behalf rows are read and written. */
export interface Requester {
  /** True once the client has disconnected. Polled while statements run, so it must be cheap. */
  isAborted(): boolean;
  /** Identifies the caller, to limit the connections of each; undefined for the application itself. */
  readonly caller: string | undefined;
  /** The request of the HTTP library. */
  readonly call?: { readonly method: string; readonly request: object } | undefined;
}

/** Tests whether a row exists. */
export interface ExistsPlan {
  readonly resource: ResourceSchema;
  readonly where: Condition;
  /** True for a write request: reads from the primary, so that recently written rows are visible. */
  readonly forWriting: boolean;
  readonly requester?: Requester | undefined;
}

/** Reads the parent that the URL names, within the caller's grants. */
export interface ParentPlan extends ExistsPlan {
  readonly kind: 'parent';
  /** localColumn: join columns of the parent; referencedColumn: the columns that get their values. */
  readonly on: readonly ColumnPair[];
}

/** The parent's values of the `localColumn` columns of `on`, in order. */
export type ParentValues = readonly Json[];

export interface ListPlan {
  readonly kind: 'list';
  readonly resource: ResourceSchema;
  readonly where: Condition;
  /** A total order: ends with the key. */
  readonly order: readonly OrderTerm[];
  /** A row that must exist: without it the list is 404. */
  readonly parent?: ExistsPlan | undefined;
  /** True if its statement is not cached, because its text depends on the caller's filter or page size. */
  readonly uncacheable?: boolean;
  readonly requester?: Requester | undefined;
}

/** The method by which the rows of a page's list are counted: exactly up to `upTo` rows, where `bounded` stops and `estimated` estimates. */
export type CountPlan =
  { readonly kind: 'exact' } | { readonly kind: 'bounded' | 'estimated'; readonly upTo: number };

/** One page of a list. */
export interface PagePlan extends Omit<ListPlan, 'kind'> {
  readonly kind: 'page';
  readonly limit: number;
  readonly offset: number;
  /** Restricts the page to the rows on one side of this position. */
  readonly from: CursorPosition | undefined;
  /** As in `ExistsPlan`. */
  readonly forWriting?: boolean;
  /** Whether the order values of the first and last row are needed. */
  readonly edges: boolean;
  readonly count: CountPlan | undefined;
}

/** Reads the related rows of rows that were read before. */
export interface RelatedPlan {
  readonly kind: 'related';
  readonly resource: ResourceSchema;
  readonly where: Condition;
  /** The order of the rows of each parent; empty if a parent has at most one. */
  readonly order: readonly OrderTerm[];
  readonly parent: ResourceSchema;
  /** localColumn: columns of the parent; referencedColumn: columns of the related rows. */
  readonly on: readonly ColumnPair[];
  /** The `identity` values of the parents. */
  readonly identities: readonly (readonly Json[])[];
  /** Maximum number of rows of each parent; undefined if a parent has at most one. */
  readonly most: number | undefined;
  /** Maximum number of rows of all parents together. */
  readonly limit: number;
  /** True if the parents have just been written, as in `ExistsPlan`. */
  readonly forWriting: boolean;
  /** The transaction that has written the parents, while it runs. */
  readonly transaction?: object | undefined;
  readonly requester?: Requester | undefined;
}

export interface RetrievePlan {
  readonly kind: 'retrieve';
  readonly resource: ResourceSchema;
  readonly where: Condition;
  /** As in `ExistsPlan`. */
  readonly forWriting?: boolean;
  /** Columns whose values are read beside the JSON of the row. */
  readonly validators?: ValidatorColumns;
  readonly requester?: Requester | undefined;
}

/** A predicate on the current row, evaluated once it is locked and before any other validation. */
export interface Expectation {
  /** The view with which the row is read. */
  readonly resource: ResourceSchema;
  readonly holds: (row: Row) => boolean;
}

/** The caller's precondition on the row to be written, in addition to the grants. */
export interface Precondition {
  /** Added to the statement that selects the row. */
  readonly where: Condition;
  readonly expected?: Expectation;
  /** Creates the error for a row that exists and does not meet the precondition. */
  readonly rejection: () => RestException;
}

/** Canonical values by field name, validated against the model and not yet against the database. */
export type FieldValues = ReadonlyMap<string, unknown>;

/** A related key in a body: the target row must exist and be visible to the caller, or may only not be hidden. */
export interface KeyCheck {
  readonly relation: ToOneRelation;
  /** Its path in the body: names of fields, embedded objects first. */
  readonly path: readonly string[];
  /** The target's key, or the value of the foreign key column, as given. */
  readonly key: readonly Json[];
  /** Its place in a list of keys at the path. */
  readonly item?: number;
  /** The rows to which the caller may refer by this key, as the database compares a foreign key with it. */
  readonly where: Condition;
  /** Those of them whose key has exactly the given value, so that it can be stored unread. */
  readonly exact: Condition;
  /** Set if the conditions select the rows to which the caller may not refer: the key is invalid if there is one. */
  readonly forbidden?: true;
}

/** A key of several columns and tables that a body has written, at least in part: invalid if the written row fits the condition. */
export interface HiddenKey {
  readonly where: Condition;
  readonly parts: readonly { readonly path: readonly string[]; readonly value: Json }[];
}

/**
 * A related row that a body references twice, by the relation and by the plain column of its foreign key (contract 5.13), if
 * the body alone does not show that both mean the same row.
 */
export interface DuplicateReference {
  readonly relation: ToOneRelation;
  /** `rows`: the rows with the key, regardless of the caller's grants. */
  readonly byRelation: KeyReference & { readonly value: readonly Json[] | null; readonly rows: Condition };
  readonly byColumn: KeyReference & { readonly value: Json };
}

interface KeyReference {
  /** As in `KeyCheck`. */
  readonly path: readonly string[];
  /** Whether the caller may read the stored value: it is not compared otherwise, so that it is not disclosed. */
  readonly isReadable: boolean;
  /** The key check of an update, which writes one of the two; undefined for null. */
  readonly check?: KeyCheck | undefined;
}

/** A canonical value of a column. */
export interface ColumnValue {
  readonly column: Column;
  readonly value: Json;
}

/** The application's hooks inside the transaction of a write; an error rolls it back. */
export interface TransactionHooks {
  /** Called after validation and before the entity is written, which the hook may still modify. */
  readonly before?: ((entity: object, transaction: object) => Promise<void>) | undefined;
  /** Called once the entity is written, and before the response is read back. */
  readonly after?: ((entity: object, transaction: object) => Promise<void>) | undefined;
  /** Called before them with what the locked row has stored, in each attempt. Set where there is one, except for a new row. */
  readonly keepStored?: ((stored: StoredValues | undefined) => void) | undefined;
}

/** A callback inside the transaction that has written these rows, with their final values; an error rolls it back. */
export type CompletedRows = (rows: readonly Row[], transaction: object) => Promise<void>;

/** A write of one row: what the database does to other rows because of it is not part of it. */
export interface Completed {
  /** An upsert is what it became. */
  readonly kind: 'create' | 'update' | 'delete' | 'restore';
  readonly resource: ResourceSchema;
  /** Undefined if the plan has none. */
  readonly origin?: WriteOrigin | undefined;
  /** The values of the columns that identify the row in its table; of a change, those after it. */
  readonly key: readonly Json[];
  /** What was stored before a change or a deletion: for several writes together, before the first of them. */
  readonly before?: StoredValues | undefined;
  /** What is stored after a creation or a change: for several writes together, after the last of them. */
  readonly after?: StoredValues | undefined;
}

/** The operation by which a row is written, and its caller. */
export interface WriteOrigin extends Pick<CommittedWrite, 'operation' | 'actor'> {
  readonly requester: Requester | undefined;
}

/** What is told of writes once they are committed. Made at start by what needs it: all writes of a transaction are told together. */
export interface Recording {
  /** `both` reads and locks each row before a change or a deletion; `after` reads it once it is written. Default: none. */
  readonly images?: 'after' | 'both' | undefined;
  /** Called after the COMMIT, in the order of the writes; what it throws is logged. */
  committed(writes: readonly Completed[]): void;
}

/** The operations of the adapter on rows that belong to a written one. */
export interface RelatedRows {
  read(plan: RetrievePlan, output: 'rows'): Promise<Row | undefined>;
  exists(plan: ExistsPlan): Promise<boolean>;
  checkAll(plan: BatchPlan): Promise<ReadonlyMap<number, BulkStepError>>;
  read(plan: ParentPlan): Promise<ParentValues | undefined>;
  related(plan: RelatedPlan): Promise<readonly { readonly row: Row }[]>;
  writeAll(plan: BatchPlan): Promise<readonly Row[]>;
  tryWriteTogether(plan: BatchPlan): Promise<boolean>;
}

/** The transaction in which a row is written; operations of the adapter join it. */
export interface WrittenIn {
  readonly adapter: RelatedRows;
  readonly transaction: object | undefined;
  /** Whether the transaction may begin again, because no code of the application has run in it but validators. */
  readonly isRepeatable?: boolean;
}

/** Pairs of a written row, which the same transaction creates and deletes. */
export interface PairWrites {
  /** The keys of pairs of a new row. */
  readonly keys: readonly KeyCheck[];
  /** The number of keys that the body names. */
  readonly size: number;
  /** Finds what there is to write, once the row is locked; of a new one there is no identity. */
  begin(identity: readonly Json[] | undefined, within: WrittenIn): Promise<StartedPairs>;
}

/** What is to be written for pairs of a row. */
export interface StartedPairs {
  /** The keys of new pairs. */
  readonly keys: readonly KeyCheck[];
  readonly errors: FieldErrors;
  /** Whether pairs will change: the version and the date of the last update of the row change with them. */
  readonly changes: boolean;
  /** Called once the row is written. Throws the errors of single pairs. */
  write(identity: readonly Json[]): Promise<void>;
}

/** Children of a row, which the same transaction creates, changes and deletes: each as if it were written alone. */
export interface ChildWrites {
  /** Whether there are any: the version and the date of the last update of the row change with them. */
  readonly changes: boolean;
  /**
   * The errors of all children by the fields of the row, before any of them is written. The entity is that of the row as it will be written,
   * for validators.
   * @param identity undefined for a new row.
   */
  check(entity: object, identity: readonly Json[] | undefined, within: WrittenIn): Promise<FieldErrors>;
  /** Called once the row is written. Throws the errors of single children. Returns whether the row is known to be as it was written. */
  write(entity: object, identity: readonly Json[], within: WrittenIn): Promise<boolean>;
  /** The new children, if nothing else is written, and the caller may name every row of the parent's model. */
  readonly creations?: readonly NewChildren[] | undefined;
  /** Called when they are about to be inserted by few statements: if one is rejected, `write` says which. */
  beginTogether(): void;
}

/** The new children in one field of a new row. */
export interface NewChildren {
  /** The columns by which they refer to the row. */
  readonly on: readonly ColumnPair[];
  /** Their plans without the values of these columns; undefined if one of them has errors. */
  plans(): readonly CreatePlan[] | undefined;
}

/** The row above a child that is written with it. Validators see its entity in the place of its key. */
export interface PendingParent {
  /** referencedColumn: the columns of the child that refer to it. */
  readonly on: readonly ColumnPair[];
  readonly entity: object;
}

/** What the plans of a new row and of an update have in common. */
interface WrittenRow {
  readonly resource: ResourceSchema;
  readonly requester?: Requester | undefined;
  readonly values: FieldValues;
  /** The raw body, if known. */
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
  /** Validation errors of the other fields. The adapter adds those that depend on rows, and rejects with all of them. */
  readonly errors: FieldErrors;
  readonly keys: readonly KeyCheck[];
  readonly hiddenKeys: readonly HiddenKey[];
  /** Of a new row both references have to lead to the same row; of an update, the one that differs from the stored value is written. */
  readonly duplicateReferences?: readonly DuplicateReference[];
  /** Values of columns from the URL. */
  readonly fixed: readonly ColumnValue[];
  readonly hooks: TransactionHooks;
  readonly pairs?: PairWrites | undefined;
  readonly children?: ChildWrites | undefined;
  readonly pending?: PendingParent | undefined;
  readonly completed?: CompletedRows | undefined;
  readonly recording?: Recording | undefined;
  readonly origin?: WriteOrigin | undefined;
}

export interface CreatePlan extends WrittenRow {
  readonly kind: 'create';
  /** Values of columns from the application. */
  readonly added: readonly ColumnValue[];
  /** Columns of which the values are those of earlier steps of the batch. */
  readonly references?: readonly StepReference[] | undefined;
  /** The condition that the written row must satisfy. */
  readonly where: Condition;
}

/** A value of the row that an earlier step has written. */
export interface StepReference {
  readonly column: Column;
  /** The index of that step, and the column of its row: one of those that identify it. */
  readonly step: number;
  readonly from: Column;
}

export interface UpdatePlan extends WrittenRow {
  readonly kind: 'update';
  /** The condition that selects the row, evaluated before the update. */
  readonly where: Condition;
  /** The update resolves to undefined if it is not met. */
  readonly expected?: Expectation | undefined;
  /** The condition that the updated row must satisfy, without the key, which changes with the other side of a junction. */
  readonly after: Condition;
  /** The fields that the URL sets. */
  readonly given: ReadonlySet<string>;
  /** Whether objects for JSON columns are merged into those of the locked row (RFC 7396). */
  readonly merges?: boolean | undefined;
  /** Further errors of the body, by the locked row in the view of the plan. */
  readonly errorsOfStored?: ((stored: Row) => FieldErrors) | undefined;
  readonly mayView: ViewCheck;
}

/** Whether the caller may view a model, so that an error may name it as referring to the row. */
export type ViewCheck = (resource: ResourceSchema) => Promise<boolean>;

export interface DeletePlan {
  readonly kind: 'delete';
  readonly resource: ResourceSchema;
  readonly requester?: Requester | undefined;
  readonly where: Condition;
  readonly mayView: ViewCheck;
  /** As in `UpdatePlan`. */
  readonly expected?: Expectation | undefined;
  readonly hooks: TransactionHooks;
  readonly recording?: Recording | undefined;
  readonly origin?: WriteOrigin | undefined;
}

/** Restores the soft-deleted row that `where` selects. */
export interface RestorePlan extends Omit<DeletePlan, 'kind'> {
  readonly kind: 'restore';
  /** The view in which the restored row is read. */
  readonly shown: ResourceSchema;
  /** The rows of the model that the caller may view, by which an error may name the fields of another one. */
  readonly visible: () => Promise<Condition>;
  readonly completed?: CompletedRows | undefined;
}

/** Updates a row if it exists, else inserts it. */
export interface UpsertPlan {
  readonly kind: 'upsert';
  /** Its `where` selects the row. */
  readonly update: UpdatePlan;
  readonly create: CreatePlan;
  /** The values that identify the row. */
  readonly identifying: readonly ColumnValue[];
  /** The errors if an earlier write of the batch has the same row. */
  readonly repeated: FieldErrors;
}

/** A write with errors of its own, reported together with those of the others. */
export interface RefusedPlan {
  readonly kind: 'refused';
  readonly errors: FieldErrors;
}

/** Several writes in one transaction. */
export interface BatchPlan {
  readonly kind: 'batch';
  readonly steps: readonly (CreatePlan | UpdatePlan | DeletePlan | UpsertPlan | RefusedPlan)[];
  /** Skips rows that do not exist; otherwise the whole batch is rejected. */
  readonly skipsMissing: boolean;
  readonly completed?: CompletedRows | undefined;
}

/** A complete description of a database operation. Its `where` combines the grants of every hop of the URL, the request's filter, and the key. */
export type Plan = ReadPlan | RelatedPlan | WritePlan | BatchPlan;

export type ReadPlan = ParentPlan | RetrievePlan | PagePlan | ListPlan;

/** A write of one row. */
export type WritePlan = CreatePlan | UpdatePlan | DeletePlan | RestorePlan;
