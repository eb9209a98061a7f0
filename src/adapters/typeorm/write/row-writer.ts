import type { QueryRunner } from 'typeorm';
import type { Condition } from '../../../core/query/condition.js';
import type { BatchPlan, CreatePlan, DeletePlan, KeyCheck, UpdatePlan } from '../../../core/query/plan.js';
import type { StoredValues } from '../../../core/contracts/hooks.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { DataAdapter } from '../../../core/data-adapter.js';
import { InvalidInput, ServerError } from '../../../core/errors/http-exceptions.js';
import { emptyFieldErrors, isRestException } from '../../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { WriteChoice } from '../../../execution/write-causes.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { isSystemCode } from '../../../sql/dialects/error-codes.js';
import type { ConnectionManager } from '../../../execution/connection/connection-manager.js';
import type { ViolatedConstraints } from '../metadata/violated-constraints.js';
import type { KeyLookup, KeyLookups } from '../../../execution/read/key-lookups.js';
import type { RowReader } from '../../../execution/read/row-reader.js';
import type { Tables } from '../table-metadata.js';
import type { NewRow } from './column-values.js';
import type { RowChanges } from './change-detection.js';

/** Writes rows of one resource, with the guarantees of `DataAdapter`. */
export interface RowWriter {
  create(plan: CreatePlan): MaybePromise<Row>;
  update(plan: UpdatePlan): MaybePromise<Row | undefined>;
  delete(plan: DeletePlan): Promise<boolean>;
  /**
   * The following prepare writes for a shared transaction, in which all later queries run. `known` is the result of an
   * earlier key lookup.
   */
  prepareCreate(plan: CreatePlan, known?: KeyLookup): MaybePromise<PreparableWrite<Row>>;
  prepareUpdate(plan: UpdatePlan): MaybePromise<PreparableWrite<Row | undefined>>;
  prepareDelete(plan: DeletePlan): MaybePromise<PreparableWrite<boolean>>;
  /**
   * The new row, if one statement may insert it with others, and nothing but the keys of the body is to be checked before. `below`: columns
   * whose values are not known yet.
   */
  insertable?(plan: CreatePlan, below: readonly Column[]): MaybePromise<InsertableRow | undefined>;
  /** Undefined if the rows have to be deleted one by one. */
  prepareDeletes(plans: readonly DeletePlan[]): Promise<DeleteTogether | undefined>;
}

/** Deletes the rows of several plans in a shared transaction. */
export type DeleteTogether = (runner: QueryRunner, plan: Pick<BatchPlan, 'skipsMissing'>) => Promise<void>;

/** Runs the application's validators on an entity before it is written. Empty if it is valid, or its class has none. */
export type ValidateEntity = (
  entity: object,
  resource: ResourceSchema,
  written: Pick<CreatePlan, 'values' | 'sent'>,
) => MaybePromise<FieldErrors>;

/** Chooses the lane of each write of one resource. */
export interface WriteChooser {
  choose(plan: CreatePlan | UpdatePlan): MaybePromise<WriteChoice>;
  chooseDeletion(plan: DeletePlan): MaybePromise<WriteChoice>;
  /** @param plans undefined if they are not a list of keys. */
  chooseDeletions(plans: readonly DeletePlan[] | undefined): Promise<WriteChoice>;
}

export interface WriterTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager<QueryRunner>;
  readonly lookups: KeyLookups<QueryRunner>;
  /** Writes rows of other resources in the same transaction. */
  readonly adapter: DataAdapter;
  readonly constraints: ViolatedConstraints;
  /** Whether callers receive the messages of errors that triggers raise. */
  readonly triggerMessages: boolean;
  readonly reader: RowReader<QueryRunner>;
  /** How the rows of the resource are written. */
  readonly choices: WriteChooser;
  /** The reader of another view of the same rows. */
  readerOf(view: ResourceSchema): RowReader<QueryRunner>;
  readonly validate?: ValidateEntity;
  /** The writer of another view. */
  writerOf(view: ResourceSchema): RowWriter;
  /** Every resource of the adapter, for finding the models that still refer to a row. */
  readonly resources: ReadonlySet<ResourceSchema>;
}

/** A write that is prepared for a transaction, its own or a shared one. */
export interface PreparableWrite<Result> {
  /** The errors that are known before the transaction. */
  readonly errors: FieldErrors;
  /**
   * Reads and locks the row in the transaction, without writing; for a new row it only makes the entity. May be called
   * again in another transaction.
   */
  prepare(runner: QueryRunner): MaybePromise<PreparedWrite<Result>>;
  /** Translates the error that has ended the transaction to the one that is thrown. */
  translateError(error: unknown): Promise<unknown>;
}

export interface PreparedWrite<Result> {
  /** The errors that are known once the row has been read. */
  readonly errors: FieldErrors;
  /** True if the row does not exist, and nothing is to be written. */
  readonly missing: boolean;
  /** What the locked row has stored, if hooks know it. */
  readonly stored?: StoredValues | undefined;
  /** Of an upsert: whether it changes a row that is there. */
  readonly isChange?: boolean;
  /** Of the row that a deletion has locked. */
  readonly identity?: readonly Json[];
  /**
   * The check of a write that reads the row only while writing it. If other steps have errors, only this check runs.
   */
  readonly check?: () => MaybePromise<Pick<PreparedWrite<Result>, 'errors' | 'missing'>>;
  /** Set if the write is an INSERT that one statement may do for several rows. */
  readonly insertable?: InsertableRow;
  /** Set if the write is an UPDATE that one statement may do for several rows. */
  readonly changeable?: ChangeableRow;
  /** @throws an error of its own, a `RestException`, or an error of the database, which ends the transaction. */
  readonly write: () => Promise<Result>;
}

/** A new row that one statement may insert beside others of its model. */
export interface InsertableRow {
  /** The same object for all rows of a model that may be inserted together. */
  readonly by: {
    /** Whether `insert` may write rows, as far as is known without the database. `below`: columns whose values follow. */
    mayInsert(rows: readonly NewRow[], below: readonly Column[]): boolean;
    insert(
      rows: readonly InsertableRow[],
      runner: QueryRunner,
      byContent?: boolean,
    ): Promise<readonly Row[] | undefined>;
  };
  readonly columns: NewRow;
  readonly keys: readonly KeyCheck[];
}

/** A row that one statement may change beside others of its model. */
export interface ChangeableRow {
  /** The same object for all rows of a model that may be changed together. */
  readonly by: {
    /** Undefined if the rows have to be changed one by one. The returned function changes them. */
    prepare(
      rows: readonly LockedChange[],
      runner: QueryRunner,
    ): Promise<(() => Promise<readonly Row[]>) | undefined>;
  };
  readonly changes: RowChanges;
  readonly keys: readonly KeyCheck[];
  /** What the changed row must satisfy. */
  readonly after: Condition;
}

/** The same with the key of the locked row, and the ids of the columns by which an upsert has found it. */
export interface LockedChange {
  readonly row: ChangeableRow;
  readonly identity: readonly Json[];
  readonly identifying: ReadonlySet<string>;
}

export const NO_ERRORS: FieldErrors = Object.freeze(emptyFieldErrors());

/** A write without a row. */
export function notFound<Result>(result: Result): PreparedWrite<Result> {
  return { errors: NO_ERRORS, missing: true, write: () => Promise.resolve(result) };
}

export function prepared<Result>(write: () => Promise<Result>, errors = NO_ERRORS): PreparedWrite<Result> {
  return { errors, missing: false, write };
}

/** A write that reads and locks its row only if necessary. */
export function preparedWithoutLock<Result>(
  write: () => Promise<Result>,
  check: () => MaybePromise<PreparedWrite<Result>>,
): PreparedWrite<Result> {
  return { errors: NO_ERRORS, missing: false, write, check };
}

/** Executes a write in a running transaction. */
export async function inTransaction<Result>(
  step: PreparableWrite<Result>,
  runner: QueryRunner,
): Promise<Result> {
  throwStepError(step.errors);
  const { errors, write } = await step.prepare(runner);
  throwStepError(errors);
  return write();
}

export function throwStepError(errors: FieldErrors): void {
  if (hasErrors(errors)) throw new InvalidInput(errors);
}

export function hasErrors(errors: FieldErrors): boolean {
  for (const _ in errors) return true;
  return false;
}

/** The connection and the dialect of a hook's transaction. */
interface Running {
  readonly runner: QueryRunner;
  readonly dialect: Dialect;
}

/**
 * Runs a hook of the application. A constraint violation in its own statements is not an error of the body. Other
 * database errors are rethrown unchanged, so that they are retried, or reported as an unavailable database.
 */
export async function runHook<Given>(
  hook: ((given: Given, transaction: object) => Promise<void>) | undefined,
  given: Given,
  { runner, dialect }: Running,
): Promise<void> {
  try {
    await hook?.(given, runner.manager);
  } catch (error) {
    if (isRestException(error)) throw error;
    const rejection = dialect.errorFor(error);
    if (!rejection) throw await connectionErrorOr(error, { runner, dialect });
    throw isTemporary(rejection) ? error : new ServerError({ cause: error });
  }
}

/**
 * An operating system error may come from this database, which the hook has queried over another connection, or from
 * any other server. If the transaction's own connection is lost too, its error is returned.
 */
async function connectionErrorOr(error: unknown, { runner, dialect }: Running): Promise<unknown> {
  if (!isSystemCode((error as { code?: unknown } | null | undefined)?.code)) return error;
  try {
    await runner.query('SELECT 1');
    return error;
  } catch (found) {
    return dialect.errorFor(found)?.kind === 'away' ? found : error;
  }
}
