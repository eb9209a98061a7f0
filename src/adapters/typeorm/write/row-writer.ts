import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { Tables } from '../table-metadata.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { IndexColumns } from '../metadata/index-columns.js';
import type { KeyLookup, KeyLookups } from './foreign-key-lookup.js';
import type { RowReader } from '../read/row-reader.js';
import type { PreparableWrite } from './write-step.js';

/** Writes rows of one resource, with the guarantees of `DataAdapter`. */
export interface RowWriter {
  create(plan: CreatePlan): MaybePromise<Row>;
  update(plan: UpdatePlan): MaybePromise<Row | undefined>;
  delete(plan: DeletePlan): Promise<boolean>;
  /**
   * The following prepare writes for a shared transaction, in which all later queries run. `known` is the result of an
   * earlier key lookup.
   */
  prepareCreate(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>>;
  prepareUpdate(
    plan: UpdatePlan,
  ): PreparableWrite<Row | undefined> | Promise<PreparableWrite<Row | undefined>>;
  prepareDelete(plan: DeletePlan): PreparableWrite<boolean>;
}

/** Runs the application's validators on an entity before it is written. Empty if it is valid. */
export type ValidateEntity = (
  entity: object,
  resource: ResourceSchema,
  written: Pick<CreatePlan, 'values' | 'sent'>,
) => Promise<FieldErrors>;

export interface WriterTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager;
  readonly lookups: KeyLookups;
  readonly indexes: IndexColumns;
  readonly reader: RowReader;
  /** The reader of another view of the same rows. */
  readerOf(view: ResourceSchema): RowReader;
  readonly validate?: ValidateEntity;
  /** Every resource of the adapter, for finding the models that still refer to a row. */
  readonly resources: ReadonlySet<ResourceSchema>;
}
