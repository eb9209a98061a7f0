import type { FieldErrors } from '../../../core/errors/rest-exception.js';
import type { CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { Tables } from '../table-metadata.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { IndexColumns } from '../metadata/index-columns.js';
import type { KeyLookup, KeyLookups } from './foreign-key-lookup.js';
import type { RowReader } from '../read/row-reader.js';
import type { PreparableWrite } from './write-step.js';

/** Writes rows of one resource. The promises are those of `DataAdapter`. */
export interface RowWriter {
  create(plan: CreatePlan): MaybePromise<Row>;
  update(plan: UpdatePlan): MaybePromise<Row | undefined>;
  delete(plan: DeletePlan): Promise<boolean>;
  /** The same, for a transaction that others share. Nothing is asked of the database behind this but in that transaction. `known`: what became of its keys, where somebody has looked. */
  creation(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>>;
  change(plan: UpdatePlan): PreparableWrite<Row | undefined> | Promise<PreparableWrite<Row | undefined>>;
  deletion(plan: DeletePlan): PreparableWrite<boolean>;
}

/** Runs an application's own validators over an entity that is about to be written. Empty where all is well. */
export type ValidateEntity = (
  entity: object,
  resource: Resource,
  written: Pick<CreatePlan, 'values' | 'sent'>,
) => Promise<FieldErrors>;

export interface WriterTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager;
  readonly lookups: KeyLookups;
  readonly indexes: IndexColumns;
  readonly reader: RowReader;
  /** Of another view of the same rows. */
  readerOf(view: Resource): RowReader;
  readonly validate?: ValidateEntity;
  /** Every resource that the adapter was prepared for, for the look at who still refers to a row. */
  readonly resources: ReadonlySet<Resource>;
}
