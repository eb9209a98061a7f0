import type { Json } from '../errors/rest-exception.js';
import type { Outcome } from './parse-result.js';
import type { DataType } from './data-type.js';

/** One column of a table, as the adapter described it. `id` is the column's name in the database, unique in its table. */
export interface Column {
  readonly id: string;
  /** The property's path in the entity, `address.city` in an embedded one; of a join column, its relation's. */
  readonly path: string;
  readonly type: DataType;
  readonly nullable: boolean;
  /** Of a column whose values a transformer of the application's converts. */
  readonly transform?: Transform;
}

/** What a transformer makes of a column's values on their way to the database and back. */
export interface Transform {
  /** Of the values in bodies and answers, where they are of another kind than those that are stored. */
  readonly outward?: DataType;
  /** The canonical form of what is stored for a value of a body, or errors where the transformer throws or the column cannot hold it. */
  stored(value: Json): Outcome<Json>;
}

/** What bodies and answers hold of a column. */
export function outwardType({ type, transform }: Column): DataType {
  return transform?.outward ?? type;
}
