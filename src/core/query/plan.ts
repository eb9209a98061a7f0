import type { FieldErrors, Json, RestException } from '../errors/rest-exception.js';
import type { Column } from '../schema/column.js';
import type { Condition } from './condition.js';
import type { CursorPosition } from '../contracts/pagination.js';
import type { ColumnPair, ToOneRelation } from '../schema/relation.js';
import type { Requester } from '../contracts/requester.js';
import type { OrderTerm, Resource } from '../schema/resource.js';
import type { Row } from '../contracts/serializer.js';

/** Whether a row is there at all. */
export interface ExistsPlan {
  readonly resource: Resource;
  readonly where: Condition;
  /** A write follows, or was asked for: a row that was made a moment ago must be found. */
  readonly forWriting: boolean;
  readonly requester?: Requester | undefined;
}

/** A row that must be there first: the parent that the URL names, under what hides it. */
export interface ParentPlan extends ExistsPlan {
  /** near: columns of the parent, whose values join its rows; far: the columns that they fill. */
  readonly on: readonly ColumnPair[];
}

/** The parent's values of its `on`, in their order. */
export type ParentValues = readonly Json[];

export interface ListPlan {
  readonly kind: 'list';
  readonly resource: Resource;
  readonly where: Condition;
  /** Total: ends with the key. */
  readonly order: readonly OrderTerm[];
  /** A row that must be there too: without it the whole list is not found. */
  readonly parent?: ExistsPlan | undefined;
  /** No statement of it is worth keeping: its rows are put together by the caller. */
  readonly oneOff?: boolean;
  readonly requester?: Requester | undefined;
}

/** Which rows behind which page are counted: `bounded` as `estimated`, but never by an estimate. */
export type CountPlan = 'exact' | 'bounded' | 'estimated';

/** One page of a list. */
export interface PagePlan extends Omit<ListPlan, 'kind'> {
  readonly kind: 'page';
  readonly limit: number;
  readonly offset: number;
  /** Rows on one side of it only. */
  readonly from: CursorPosition | undefined;
  /** As of an `ExistsPlan`. */
  readonly forWriting?: boolean;
  /** Whether it is asked where the page begins and ends. */
  readonly edges: boolean;
  readonly count: CountPlan | undefined;
}

/** Rows that belong to others, which were read before. */
export interface RelatedPlan {
  readonly kind: 'related';
  readonly resource: Resource;
  readonly where: Condition;
  /** Those of one parent are in this order; empty where a parent has one at most. */
  readonly order: readonly OrderTerm[];
  readonly parent: Resource;
  /** near: columns of the parent; far: columns of its rows. */
  readonly on: readonly ColumnPair[];
  /** The parents, each by the values of its `identity`. */
  readonly identities: readonly (readonly Json[])[];
  /** Rows of one parent that are read at most; undefined where it has one at most. */
  readonly most: number | undefined;
  /** Rows of all parents that are read at most. */
  readonly limit: number;
  /** The parents were written a moment ago. */
  readonly forWriting: boolean;
  readonly requester?: Requester | undefined;
}

export interface RetrievePlan {
  readonly kind: 'retrieve';
  readonly resource: Resource;
  readonly where: Condition;
  /** As of an `ExistsPlan`. */
  readonly forWriting?: boolean;
  readonly requester?: Requester | undefined;
}

/** What a row must be before it is written: asked when it is locked, and before anything else is judged. */
export interface Expectation {
  /** The view in which it is read. */
  readonly resource: Resource;
  readonly holds: (row: Row) => boolean;
}

/** What a caller asks of the row that it writes, beside the grants. */
export interface Precondition {
  /** Stands in the statement that looks for the row. */
  readonly where: Condition;
  readonly expected?: Expectation;
  /** The answer where the row is there, and is not so. */
  readonly refusal: () => RestException;
}

/** Values by field name, canonical. They were checked against the model, and not yet against the database. */
export type FieldValues = ReadonlyMap<string, unknown>;

/** A key in a body: a row of the target that must exist and be seen by the caller. */
export interface KeyCheck {
  readonly relation: ToOneRelation;
  /** Where it stands in the body: names of fields, of embedded objects first. */
  readonly path: readonly string[];
  /** As it was given: the target's key, or the value of the column that refers to it. */
  readonly key: readonly Json[];
  readonly where: Condition;
}

/**
 * A related row that a body names by the relation and by the plain column of its foreign key (contract 5.13), where the body
 * alone does not tell that they mean the same row.
 */
export interface NamedTwice {
  readonly relation: ToOneRelation;
  /** `rows`: those of the key, whether the caller may name them or not. */
  readonly byRelation: SaidName & { readonly value: readonly Json[] | null; readonly rows: Condition };
  readonly byColumn: SaidName & { readonly value: Json };
}

interface SaidName {
  /** As of a `KeyCheck`. */
  readonly path: readonly string[];
  /** Whether the caller may read what is stored: what it may not read is not compared for it. */
  readonly told: boolean;
  /** Of a change, which writes one of the two; undefined for null. */
  readonly check?: KeyCheck | undefined;
}

/** A value of a column, canonical. */
export interface ColumnValue {
  readonly column: Column;
  readonly value: Json;
}

/** What the application does inside the transaction of a write; what it throws undoes the write. */
export interface TransactionHooks {
  /** When all is checked, and before the entity is written: it may still be changed. */
  readonly before?: (entity: object, transaction: object) => Promise<void>;
  /** When the entity is written, and before the answer is read back. */
  readonly after?: (entity: object, transaction: object) => Promise<void>;
}

/** Run inside the transaction that has made these rows, as they are answered; what it throws undoes them. */
export type CompletedRows = (rows: readonly Row[], transaction: object) => Promise<void>;

export interface CreatePlan {
  readonly kind: 'create';
  readonly resource: Resource;
  readonly requester?: Requester | undefined;
  readonly values: FieldValues;
  /** The body that they were parsed from, where that is known. */
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
  /** What is wrong with the other fields. The adapter adds what only the rows can tell, and refuses with all of it. */
  readonly errors: FieldErrors;
  readonly keys: readonly KeyCheck[];
  /** Refused unless both names lead to the same row. */
  readonly twice?: readonly NamedTwice[];
  /** Columns that the URL fills. */
  readonly fixed: readonly ColumnValue[];
  /** Columns that the application fills. */
  readonly added: readonly ColumnValue[];
  /** The row must satisfy it when it is written. */
  readonly where: Condition;
  readonly hooks: TransactionHooks;
  readonly completed?: CompletedRows | undefined;
}

export interface UpdatePlan {
  readonly kind: 'update';
  readonly resource: Resource;
  readonly requester?: Requester | undefined;
  /** The row that the URL names, before. */
  readonly where: Condition;
  /** Undefined is answered where it does not hold. */
  readonly expected?: Expectation | undefined;
  /** What must hold after: without the key, which may change with a pair's other side. */
  readonly after: Condition;
  readonly values: FieldValues;
  /** The body that they were parsed from, where that is known. */
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
  /** What is wrong with the other fields. The adapter adds what only the rows can tell, and refuses with all of it. */
  readonly errors: FieldErrors;
  readonly keys: readonly KeyCheck[];
  /** Of these, what differs from what is stored is written. */
  readonly twice?: readonly NamedTwice[];
  readonly hooks: TransactionHooks;
}

export interface DeletePlan {
  readonly kind: 'delete';
  readonly resource: Resource;
  readonly requester?: Requester | undefined;
  readonly where: Condition;
  /** Whether the caller may view a model, and so be told that objects of it refer to the row. */
  readonly mayView: (resource: Resource) => Promise<boolean>;
  /** As of an `UpdatePlan`. */
  readonly expected?: Expectation | undefined;
  readonly hooks: TransactionHooks;
}

/** A row that is changed where it is there, and else made. */
export interface UpsertPlan {
  readonly kind: 'upsert';
  /** Its `where` finds the row. */
  readonly update: UpdatePlan;
  readonly create: CreatePlan;
}

/** A write that is refused already, so that it is told with the others. */
export interface RefusedPlan {
  readonly kind: 'refused';
  readonly errors: FieldErrors;
}

/** Several writes, all or none. */
export interface BatchPlan {
  readonly kind: 'batch';
  readonly steps: readonly (CreatePlan | UpdatePlan | DeletePlan | UpsertPlan | RefusedPlan)[];
  /** What is not there when its turn comes is left out; else the whole batch is refused. */
  readonly skipsMissing: boolean;
  readonly completed?: CompletedRows | undefined;
}

/** A finished order for the database. Its `where` is always grants of every hop of the URL, request filter, and key. */
export type Plan =
  ListPlan | PagePlan | RelatedPlan | RetrievePlan | CreatePlan | UpdatePlan | DeletePlan | BatchPlan;
