import type { FieldErrors, Json } from '../errors/rest-error.js';
import type { Column } from './column.js';
import type { Condition } from './condition.js';
import type { ToOneField } from './field.js';
import type { ColumnPair } from './relation.js';
import type { OrderTerm, Resource } from './resource.js';

/** Whether a row is there at all. */
export interface ExistsPlan {
  readonly resource: Resource;
  readonly where: Condition;
  /** A write follows, or was asked for: a row that was made a moment ago must be found. */
  readonly forWriting: boolean;
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
  readonly parent?: ExistsPlan;
  /** Whether nobody waits for the rows any more. */
  readonly gone?: () => boolean;
}

export interface RetrievePlan {
  readonly kind: 'retrieve';
  readonly resource: Resource;
  readonly where: Condition;
}

/** Values by field name, canonical. They were checked against the model, and not yet against the database. */
export type FieldValues = ReadonlyMap<string, unknown>;

/** A key in a body: a row of the target that must exist and be seen by the caller. */
export interface KeyCheck {
  readonly field: ToOneField;
  /** Where it stands in the body: names of fields, of embedded objects first. */
  readonly path: readonly string[];
  readonly key: readonly Json[];
  readonly where: Condition;
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

export interface CreatePlan {
  readonly kind: 'create';
  readonly resource: Resource;
  readonly values: FieldValues;
  /** What is wrong with the other fields. The adapter adds what only the rows can tell, and refuses with all of it. */
  readonly errors: FieldErrors;
  readonly keys: readonly KeyCheck[];
  /** Columns that the URL fills. */
  readonly fixed: readonly ColumnValue[];
  /** Columns that the application fills. */
  readonly added: readonly ColumnValue[];
  /** The row must satisfy it when it is written. */
  readonly where: Condition;
  readonly hooks: TransactionHooks;
}

export interface UpdatePlan {
  readonly kind: 'update';
  readonly resource: Resource;
  /** The row that the URL names, before. */
  readonly where: Condition;
  /** What must hold after: without the key, which may change with a pair's other side. */
  readonly after: Condition;
  readonly values: FieldValues;
  /** What is wrong with the other fields. The adapter adds what only the rows can tell, and refuses with all of it. */
  readonly errors: FieldErrors;
  readonly keys: readonly KeyCheck[];
  readonly hooks: TransactionHooks;
}

export interface DeletePlan {
  readonly kind: 'delete';
  readonly resource: Resource;
  readonly where: Condition;
  readonly hooks: TransactionHooks;
}

/** A finished order for the database. Its `where` is always grants of every hop of the URL, request filter, and key. */
export type Plan = ListPlan | RetrievePlan | CreatePlan | UpdatePlan | DeletePlan;
