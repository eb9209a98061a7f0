import type { ValueType } from './value-type.js';

/** One column of a table, as the adapter described it. `id` is the column's name in the database, unique in its table. */
export interface Column {
  readonly id: string;
  /** The property's path in the entity, `address.city` in an embedded one; of a join column, its relation's. */
  readonly path: string;
  readonly type: ValueType;
  readonly nullable: boolean;
}
